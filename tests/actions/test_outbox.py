"""oml/jobs/outbox.py: work is done once, is never dropped, and no row can hold up another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, connection, transaction

from oml.core.clock import now
from oml.jobs import outbox
from oml.jobs.models import OutboxTask, WorkerHeartbeat

Batch = list[dict[str, Any]]


class Killed(BaseException):
    """Stands for a process that ends in the middle: no handler of exceptions runs for it."""


@pytest.fixture
def does(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[outbox.Handler], None]]:
    """Says what the task ``test.work`` does."""
    monkeypatch.setattr(outbox, "_handlers", dict(outbox._handlers))

    def install(function: outbox.Handler) -> None:
        outbox._handlers["test.work"] = function

    yield install


def enqueued(*subjects: str) -> None:
    for subject in subjects:
        outbox.enqueue("test.work", subject=subject)


def left() -> list[str]:
    return [row.args["subject"] for row in OutboxTask.objects.order_by("id")]


@contextmanager
def another_connection() -> Iterator[Any]:
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            yield cursor
    finally:
        other.rollback()
        other.close()


def come_due() -> None:
    """Time passes until every postponed row is due."""
    OutboxTask.objects.update(available_at=now() - timedelta(seconds=1))


@pytest.mark.django_db
def test_drain__several_due__one_batch_and_the_rows_are_gone(does: Callable[[outbox.Handler], None]) -> None:
    batches: list[Batch] = []
    does(batches.append)
    enqueued("a", "b", "c")
    assert outbox.drain() == 3
    assert batches == [[{"subject": "a"}, {"subject": "b"}, {"subject": "c"}]]
    assert (left(), outbox.drain()) == ([], 0)


@pytest.mark.django_db
def test_drain__one_bad_row_in_a_batch__the_others_are_done_and_it_waits_longer_each_time(
    does: Callable[[outbox.Handler], None], caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def work(batch: Batch) -> None:
        for task in batch:
            if task["subject"] == "bad":
                raise DataError("the text it choked on")
            done.append(task["subject"])

    does(work)
    enqueued("a", "bad", "b")
    outbox.drain()
    assert {"a", "b"} <= set(done)
    (row,) = OutboxTask.objects.all()
    assert (row.args, row.attempts, row.last_error) == ({"subject": "bad"}, 1, "DataError")
    waits = []
    for _ in range(10):
        come_due()
        outbox.drain()
        row.refresh_from_db()
        waits.append(round((row.available_at - now()).total_seconds()))
    assert waits == [4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert "choked" not in caplog.text


@pytest.mark.django_db
def test_drain__handler_fails_after_writing__nothing_of_it_stays(does: Callable[[outbox.Handler], None]) -> None:
    def work(batch: Batch) -> None:
        WorkerHeartbeat.objects.create(name=batch[0]["subject"], at=now())
        raise ValueError

    does(work)
    enqueued("a")
    outbox.drain()
    assert not WorkerHeartbeat.objects.exists()
    assert left() == ["a"]


@pytest.mark.django_db
def test_drain__a_row_that_kills_its_process__is_alone_from_then_on_and_the_others_are_done(
    does: Callable[[outbox.Handler], None],
) -> None:
    done: list[str] = []

    def work(batch: Batch) -> None:
        subjects = [task["subject"] for task in batch]
        if "deadly" in subjects:
            raise Killed
        done.extend(subjects)

    does(work)
    enqueued("a", "deadly", "b")
    killed = 0
    for _ in range(8):
        come_due()
        for _ in range(3):
            try:
                outbox.drain()
            except Killed:
                killed += 1
    assert (sorted(done), left()) == (["a", "b"], ["deadly"])
    assert killed > 1
    assert OutboxTask.objects.get().attempts == killed


@pytest.mark.django_db(transaction=True)
def test_drain__six_workers_at_once__every_row_is_done_exactly_once(does: Callable[[outbox.Handler], None]) -> None:
    done: list[str] = []
    does(lambda batch: done.extend(task["subject"] for task in batch))
    enqueued(*[str(number) for number in range(150)])

    def worker() -> None:
        try:
            while outbox.drain(limit=7):
                pass
        finally:
            connection.close()

    workers = [threading.Thread(target=worker) for _ in range(6)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join(60)
    assert sorted(done, key=int) == [str(number) for number in range(150)]
    assert left() == []


@pytest.mark.django_db(transaction=True)
def test_enqueue__transaction_rolled_back__no_row_and_no_nudge(monkeypatch: pytest.MonkeyPatch) -> None:
    nudged: list[bool] = []
    monkeypatch.setattr(outbox, "_nudge", lambda: nudged.append(True))
    with pytest.raises(ValueError, match="undo"), transaction.atomic():
        enqueued("a")
        raise ValueError("undo")
    assert (left(), nudged) == ([], [])
    enqueued("b")
    assert (left(), nudged) == (["b"], [True])


@pytest.fixture
def slow_work(does: Callable[[outbox.Handler], None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes ``test.slow`` slow work beside ``test.work``; the list says what was done, in order."""
    done: list[str] = []
    monkeypatch.setattr(outbox, "_slow", {"test.slow"})
    outbox._handlers["test.slow"] = lambda batch: done.append("slow")
    does(lambda batch: done.append("quick"))
    return done


@pytest.mark.django_db
def test_drain__slow_work_due_first__waits_for_everything_else(slow_work: list[str]) -> None:
    outbox.enqueue("test.slow", subject="big")
    enqueued("a")
    enqueued("b")
    assert outbox.drain_all() == 3
    assert slow_work == ["quick", "slow"]


@pytest.mark.django_db(transaction=True)
def test_drain__slow_work_while_another_does_some__is_left_and_counted_as_never_tried(slow_work: list[str]) -> None:
    outbox.enqueue("test.slow", subject="big")
    with another_connection() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [outbox._ONE_AT_A_TIME])
        outbox.drain()
        assert slow_work == []
        assert OutboxTask.objects.get().attempts == 0
        enqueued("a")
        outbox.drain()
        assert slow_work == ["quick"]
    come_due()
    outbox.drain()
    assert slow_work == ["quick", "slow"]


@pytest.mark.django_db
def test_drain__a_batch_that_failed_after_long__is_not_tried_again_at_once(
    does: Callable[[outbox.Handler], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def fails(batch: Batch) -> None:
        tries.append(len(batch))
        raise RuntimeError

    monkeypatch.setattr(outbox, "_PATIENCE", 0.0)
    does(fails)
    enqueued("a", "b")
    outbox.drain()
    assert tries == [2]
    assert left() == ["a", "b"]

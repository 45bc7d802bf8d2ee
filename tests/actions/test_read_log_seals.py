"""The read log's seals: each minute of reads once, none that is still in flight, every change seen afterwards."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from threading import Event

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, transaction

from memory.recall import readlog
from memory.recall.models import ReadLog
from memory.recall.sealing import check_seals, leaf_of, seal_read_logs, settled_boundary
from oml.celery import app
from oml.journal.merkle import root_of
from oml.journal.verify import verify_tenant
from tests.support.journal import journalled, length
from tests.support.world import World

pytestmark = pytest.mark.django_db


def reads(world: World, count: int, *, query: str | None = None) -> None:
    for number in range(count):
        readlog.record(
            world.reader, surface="recall", workarea_id="wa_1", query=query, returned=[f"art_{number}", "art_x"]
        )


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def as_owner() -> None:
    sql("ALTER TABLE memory_readlog DISABLE TRIGGER USER")


def test_seal_read_logs__reads_since_the_last_seal__are_sealed_once_per_tenant(world: World) -> None:
    other = World.build("besra")
    reads(world, 5)
    reads(other, 2)
    reads(world, 1)
    assert seal_read_logs() == 2
    mine = list(ReadLog.objects.filter(tenant_id=world.admin.tenant_id).order_by("id"))
    (record,) = journalled("readlog.sealed", tenant_id=world.admin.tenant_id)
    assert record["subject"] == {"log": "read_log"}
    assert record["payload"] == {
        "from": mine[0].pk,
        "to": mine[-1].pk,
        "count": 6,
        "merkle_root": root_of(leaf_of(row) for row in mine).hex(),
    }
    assert seal_read_logs() == 0
    reads(world, 1)
    assert seal_read_logs() == 1
    assert [row["payload"]["count"] for row in journalled("readlog.sealed", tenant_id=world.admin.tenant_id)] == [6, 1]
    assert verify_tenant(world.admin.tenant_id).broken is None


def test_seal_read_logs__nobody_read__journals_nothing(world: World) -> None:
    before = length(world.admin.tenant_id)
    assert seal_read_logs() == 0
    assert length(world.admin.tenant_id) == before


def test_seal__query__is_in_it_as_a_digest_only(world: World) -> None:
    reads(world, 1, query="copper price in Kumasi")
    seal_read_logs()
    assert "copper" not in str(journalled("readlog.sealed"))


@pytest.mark.parametrize(
    "tamper, found",
    [
        ("UPDATE memory_readlog SET key_id = 'key_forged' WHERE id = {second}", 3),
        ("UPDATE memory_readlog SET returned = '{{}}' WHERE id = {second}", 3),
        ("UPDATE memory_readlog SET at = at + interval '1 second' WHERE id = {second}", 3),
        ("DELETE FROM memory_readlog WHERE id = {second}", 2),
        ("DELETE FROM memory_readlog WHERE id = {last}", 2),
        ("UPDATE memory_readlog SET id = -id WHERE id = {second}", 2),
    ],
)
def test_check_seals__sealed_reads_changed__names_the_seal(world: World, tamper: str, found: int) -> None:
    reads(world, 3)
    seal_read_logs()
    reads(world, 2)
    seal_read_logs()
    reads(world, 1)
    tenant = world.admin.tenant_id
    honest = check_seals(tenant)
    assert (honest.seals, honest.reads, honest.unsealed, honest.broken) == (2, 5, 1, [])
    first, second, last = list(ReadLog.objects.order_by("id").values_list("id", flat=True))[:3]
    as_owner()
    sql(tamper.format(second=second, last=last))
    (only,) = check_seals(tenant).broken
    seal = journalled("readlog.sealed")[0]
    assert (only.seq, only.first, only.last, only.sealed, only.found) == (seal["seq"], first, last, 3, found)


def test_check_seals__a_read_slipped_in_between_two_seals__is_seen_by_the_later_one(world: World) -> None:
    reads(world, 1)
    seal_read_logs()
    reads(world, 3)
    as_owner()
    second = ReadLog.objects.order_by("id")[1].pk
    sql("DELETE FROM memory_readlog WHERE id = %s", second)  # a free number between what the two seals cover
    seal_read_logs()
    assert check_seals(world.admin.tenant_id).broken == []
    forged = ReadLog.objects.order_by("id")[0]
    forged.pk = second
    forged.save(force_insert=True)
    (only,) = check_seals(world.admin.tenant_id).broken
    assert (only.seq, only.sealed, only.found) == (journalled("readlog.sealed")[1]["seq"], 2, 3)


def test_verify_read_log__changed__exits_1_and_names_seal_and_rows(world: World) -> None:
    reads(world, 3)
    seal_read_logs()
    out = StringIO()
    call_command("verify_read_log", stdout=out)
    assert "3 reads in 1 seals intact, 0 not sealed yet" in out.getvalue()
    as_owner()
    sql("UPDATE memory_readlog SET surface = 'tail'")
    out = StringIO()
    with pytest.raises(CommandError, match="1 of 1 read logs broken"):
        call_command("verify_read_log", "--tenant", world.admin.tenant_id, stdout=out)
    seq = journalled("readlog.sealed", once=True)[0]["seq"]
    assert f"seal at seq {seq}: reads" in out.getvalue() and "not the same" in out.getvalue()
    with pytest.raises(CommandError, match="there is no tenant ten_nobody"):
        call_command("verify_read_log", "--tenant", "ten_nobody")


@pytest.mark.parametrize("statement", ["UPDATE memory_readlog SET surface = 'x'", "DELETE FROM memory_readlog"])
def test_read_log__changed_by_the_application__is_refused_by_the_database(world: World, statement: str) -> None:
    reads(world, 1)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        sql(statement)


def test_seal_read_log__is_a_task_of_the_beat__once_a_minute() -> None:
    app.loader.import_default_modules()
    assert "memory.seal_read_log" in app.tasks
    assert settings.CELERY_BEAT_SCHEDULE["memory.seal_read_log"]["schedule"] == 60.0


@pytest.mark.django_db(transaction=True)
def test_settled_boundary__an_older_id_still_uncommitted__waits_for_the_next_minute() -> None:
    world = World.build("acme")
    written, go_on = Event(), Event()

    def slow_reader() -> None:
        with transaction.atomic():
            reads(world, 1)
            written.set()
            go_on.wait(10)

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(closing(slow_reader))
        assert written.wait(10)
        # The slow reader has the smaller id and has not committed. A reader after it commits at once.
        reads(world, 1)
        assert settled_boundary() is None
        assert seal_read_logs() == 0
        go_on.set()
        slow.result()
    assert seal_read_logs() == 1
    (record,) = journalled("readlog.sealed", once=True)
    assert record["payload"]["count"] == 2
    assert check_seals(world.admin.tenant_id).broken == []


@pytest.mark.django_db(transaction=True)
def test_seal_read_logs__while_six_readers_read__every_read_is_in_exactly_one_seal() -> None:
    world = World.build("acme")

    def reader() -> None:
        for _ in range(25):
            reads(world, 1)

    with ThreadPoolExecutor(7) as pool:
        readers = [pool.submit(closing(reader)) for _ in range(6)]
        while not all(one.done() for one in readers):
            seal_read_logs()
        for one in readers:
            one.result()
    seal_read_logs()
    checked = check_seals(world.admin.tenant_id)
    assert (checked.reads, checked.unsealed, checked.broken) == (150, 0, [])
    assert checked.seals > 1


def closing(work: Callable[[], None]) -> Callable[[], None]:
    """Run in a thread of its own with its own connection, and give the connection back."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    return run

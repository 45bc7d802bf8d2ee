"""kill -9 of web and worker: what was acknowledged is there, what was not may be asked for again, once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.chaos import evidence
from tests.chaos.caller import LOST, Answer
from tests.chaos.installation import Installation
from tests.chaos.load import Load, claim

pytestmark = pytest.mark.chaos

SUBMITTED = 300
WAITING = 200


def test_worker__killed_while_two_hundred_wait__all_are_scanned_once_after_its_restart(
    installation: Installation,
) -> None:
    (tenant,) = installation.provision("north")
    load = Load(installation.port, [tenant], seed=2, label="killed-worker")
    installation.stop("worker")
    submit_in_parallel(load, tenant, SUBMITTED)
    assert evidence.waiting(installation.database) >= SUBMITTED

    installation.start("worker")
    # In the middle of a batch: the first rows are done, two hundred and more still wait.
    installation.until(lambda: evidence.waiting(installation.database) < SUBMITTED, 60, "the worker does not begin")
    installation.kill("worker")
    assert WAITING <= evidence.waiting(installation.database) < SUBMITTED
    installation.start("worker")
    installation.until(lambda: evidence.waiting(installation.database) == 0, 90, "the outbox is not empty")

    evidence.assert_scanned_once(installation.database)
    evidence.assert_journal_whole(installation, tenant, load.history)
    evidence.assert_nothing_lost_or_doubled(installation.database, tenant, load.history)


def test_web__killed_in_the_middle_of_requests__acknowledged_is_kept_and_retries_double_nothing(
    installation: Installation,
) -> None:
    (tenant,) = installation.provision("south")
    load = Load(installation.port, [tenant], seed=3, label="killed-web")
    flowing = threading.Event()

    def write(thread: int) -> list[str]:
        """Submit until the server is gone; returns the names that got no answer."""
        caller = load.caller(tenant, "writer")
        for count in range(10_000):
            name = f"killed-web-{thread}-{count}"
            try:
                answer = caller.call("POST", "memories", claim(tenant, name))
            except LOST:
                return [name]
            assert answer.status == 201, answer
            load.history.acknowledge(tenant["id"], name, answer)
            if count == 10:
                flowing.set()
        return []

    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, thread) for thread in range(8)]
        assert flowing.wait(60)
        installation.kill("web")
        unanswered = [name for one in writing for name in one.result(30)]
    acknowledged = load.history.of(tenant["id"])
    assert len(unanswered) == 8
    kept = evidence.artifacts(installation.database, tenant)
    assert acknowledged.items() <= kept.items()

    installation.start("web")
    installation.until_ready()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda name: again(load, tenant, name), [*acknowledged, *unanswered]))
    # A replay wherever the first attempt was committed, whether its answer arrived or not.
    assert [answer.body["idempotent_replay"] for answer in answers] == [
        name in kept for name in [*acknowledged, *unanswered]
    ]
    assert load.history.server_errors() == []
    evidence.assert_nothing_lost_or_doubled(installation.database, tenant, load.history)
    evidence.assert_journal_whole(installation, tenant, load.history)


def again(load: Load, tenant: dict[str, Any], name: str) -> Answer:
    caller = load.caller(tenant, "writer")
    answer = load.submit(tenant, caller, name)
    caller.close()
    return answer


def submit_in_parallel(load: Load, tenant: dict[str, Any], count: int) -> None:
    """``count`` claims by four clients."""

    def some(thread: int) -> None:
        caller = load.caller(tenant, "writer")
        for number in range(thread, count, 4):
            load.submit(tenant, caller, f"{load.label}-{number}")
        caller.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(some, range(4)))

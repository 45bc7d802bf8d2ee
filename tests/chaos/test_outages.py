"""Broker and database go away: nothing acknowledged is lost, nobody waits for the broker, the database heals alone."""

from __future__ import annotations

import threading
import time

import pytest

from tests.chaos import evidence
from tests.chaos.caller import LOST
from tests.chaos.installation import Installation
from tests.chaos.load import Load, claim, meanwhile
from tests.chaos.test_kills import submit_in_parallel

pytestmark = pytest.mark.chaos

HEALED_SECONDS = 10.0


def test_broker__its_messages_are_lost__the_sweep_finds_the_work(installation: Installation) -> None:
    (tenant,) = installation.provision("lost-messages")
    load = Load(installation.port, [tenant], seed=4, label="lost")
    installation.stop("worker")
    submit_in_parallel(load, tenant, 20)
    time.sleep(1)  # the web's last nudge has been sent by now
    evidence.rows(installation.database, "SELECT pgmq.purge_queue('oml')")
    assert evidence.number(installation.database, "SELECT count(*) FROM pgmq.q_oml") == 0
    assert evidence.waiting(installation.database) >= 20
    installation.start("worker")
    installation.until(lambda: evidence.waiting(installation.database) == 0, 60, "the sweep found nothing")
    evidence.assert_scanned_once(installation.database)
    assert load.history.server_errors() == []


def test_broker__unreachable_from_the_web__submissions_go_on_and_the_sweep_finds_the_work(
    installation: Installation,
) -> None:
    (tenant,) = installation.provision("no-broker")
    load = Load(installation.port, [tenant], seed=5, label="no-broker")
    installation.stop("web")
    installation.start("web", CELERY_BROKER_URL="pgmq://nobody@127.0.0.1:9/nowhere")
    installation.until_ready()
    try:
        submit_in_parallel(load, tenant, 20)
    finally:
        installation.stop("web")
        installation.start("web")
        installation.until_ready()
    assert load.history.server_errors() == []
    assert (len(load.history.acknowledged), load.history.lost) == (20, 0)
    installation.until(lambda: evidence.waiting(installation.database) == 0, 60, "the sweep found nothing")
    evidence.assert_scanned_once(installation.database)


def test_postgres__stopped_at_once_under_load__writes_again_within_ten_seconds_and_nothing_is_torn(
    installation: Installation,
) -> None:
    (tenant,) = installation.provision("outage")
    load = Load(installation.port, [tenant], seed=6, label="outage")
    writes: list[float] = []  # when a first attempt was acknowledged

    def write(over: threading.Event) -> None:
        caller = load.caller(tenant, "writer")
        me = threading.get_ident()
        for count in range(10_000):
            if over.is_set():
                break
            name = f"outage-{me}-{count}"
            try:
                answer = caller.call("POST", "memories", claim(tenant, name))
                if answer.status == 201:
                    writes.append(time.monotonic())
            except LOST:
                answer = None
            if answer is None or answer.status == 503:
                time.sleep(0.05)
            load.submit(tenant, caller, name)
        caller.close()

    with meanwhile(write, write, write, write):
        installation.until(lambda: len(writes) > 40, 60, "the load does not flow")
        stopped = time.monotonic()
        installation.stop_postgres_at_once()
        installation.until(
            lambda: any(moment > stopped + 1 for moment in writes), 60, "nothing is written after the outage"
        )
        enough = len(writes) + 40
        installation.until(lambda: len(writes) > enough, 60, "the load does not flow again")

    healed = min(moment for moment in writes if moment > stopped + 1) - stopped
    assert healed <= HEALED_SECONDS
    assert load.history.untyped() == []
    assert (503, "internal.unavailable") in load.history.server_errors()
    evidence.assert_nothing_lost_or_doubled(installation.database, tenant, load.history)
    evidence.assert_journal_whole(installation, tenant, load.history)
    installation.until_ready()
    installation.until(lambda: evidence.waiting(installation.database) == 0, 90, "the worker did not come back")
    evidence.assert_scanned_once(installation.database)

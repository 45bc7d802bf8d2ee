"""Web and worker under load: nothing lost, nothing doubled, everything in its place and its order."""

from __future__ import annotations

import time

import pytest

from tests.chaos import evidence
from tests.chaos.installation import Installation
from tests.chaos.load import Load, Promoter, Tail, meanwhile

pytestmark = pytest.mark.chaos

EACH = 200
PROMOTED = 40


def test_submit__eight_threads_in_two_tenants_with_retries_and_dropped_connections__all_once_and_in_place(
    installation: Installation,
) -> None:
    tenants = installation.provision("east", "west")
    load = Load(installation.port, tenants, seed=1)
    tails = [Tail(load, tenant) for tenant in tenants]
    promoters = [Promoter(load, tenant, goal=PROMOTED) for tenant in tenants]

    with meanwhile(*tails, *promoters):
        load.submit_everything(EACH)
        installation.until(
            lambda: all(len(one.promoted) == PROMOTED for one in promoters), 60, "the promotions are not done"
        )

    assert len(load.history.acknowledged) == 8 * EACH
    assert load.history.server_errors() == []
    for tenant, tail, promoter in zip(tenants, tails, promoters, strict=True):
        tail.catch_up()
        evidence.assert_nothing_lost_or_doubled(installation.database, tenant, load.history)
        evidence.assert_journal_whole(installation, tenant, load.history)
        assert sorted(tail.promoted()) == sorted(promoter.promoted)
        assert [seq for seq, _, _ in tail.seen] == sorted({seq for seq, _, _ in tail.seen})

    installation.until(lambda: evidence.waiting(installation.database) == 0, 90, "the outbox is not empty")
    evidence.assert_scanned_once(installation.database)


def test_connection__idle_for_longer_than_clients_pool_it__still_answers(installation: Installation) -> None:
    (tenant,) = installation.provision("idle")
    load = Load(installation.port, [tenant], seed=0)
    caller = load.caller(tenant, "reader")
    assert caller.call("GET", "my-work").status == 200
    time.sleep(6)  # pools of clients in use keep a connection for four or five seconds
    assert caller.call("GET", "my-work").status == 200
    assert load.history.lost == 0
    caller.close()

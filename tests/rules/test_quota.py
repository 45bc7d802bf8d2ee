"""Quotas: token buckets in this process at limit / replicas; a refusal says in whole seconds when to come back."""

from __future__ import annotations

from typing import Any

import pytest

from oml.core.actor import Actor, Channel, Role
from oml.core.errors import QuotaExceeded
from workareas import quota
from workareas.quota import Quota

ACTOR = Actor("ten_a", "pri_a", "key_a", Role.WRITER, Channel.HTTP)
NEIGHBOUR = Actor("ten_b", "pri_b", "key_b", Role.WRITER, Channel.HTTP)


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(quota.time, "monotonic", clock)
    return clock


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """``limited(writes=…, reads=…, replicas=…)`` sets what every tenant may."""
    settings.OML_REPLICAS = 1

    def set_limits(*, writes: int | None = None, reads: int | None = None, replicas: int = 1) -> None:
        settings.OML_REPLICAS = replicas
        limits = {Quota.WRITE: writes, Quota.READ: reads}
        monkeypatch.setattr(quota, "_limit", lambda tenant, kind: limits[kind])

    return set_limits


def taken(actor: Actor = ACTOR, kind: Quota = Quota.WRITE, *, tries: int = 100) -> int:
    for count in range(tries):
        try:
            quota.take(actor, kind)
        except QuotaExceeded:
            return count
    return tries


def wait() -> int:
    with pytest.raises(QuotaExceeded) as caught:
        quota.take(ACTOR, Quota.WRITE)
    assert caught.value.headers() == {"Retry-After": str(caught.value.retry_after_seconds)}
    assert caught.value.retry_after_seconds is not None
    return caught.value.retry_after_seconds


def test_take__no_limit__never_refuses(clock: Clock, limited: Any) -> None:
    limited()
    assert taken() == 100


def test_take__a_minute_s_worth_at_once__then_refuses(clock: Clock, limited: Any) -> None:
    limited(writes=10)
    assert taken() == 10
    assert wait() == 6
    clock.at += 6
    assert taken() == 1


def test_take__after_the_wait_that_was_named__succeeds(clock: Clock, limited: Any) -> None:
    for limit in (1, 3, 7, 59, 61):
        limited(writes=limit)
        taken()
        clock.at += wait()
        assert taken(tries=1) == 1


def test_take__idle_for_long__holds_one_minute_s_worth_and_no_more(clock: Clock, limited: Any) -> None:
    limited(writes=10)
    clock.at += 86_400
    assert taken() == 10


def test_take__four_replicas__give_a_quarter_each(clock: Clock, limited: Any) -> None:
    limited(writes=40, replicas=4)
    assert taken() == 10


def test_take__zero__refuses_the_very_first(clock: Clock, limited: Any) -> None:
    limited(writes=0)
    assert taken() == 0
    assert wait() > 0
    clock.at += 3600
    assert taken() == 0


def test_take__reads_and_writes_and_neighbours__are_counted_apart(clock: Clock, limited: Any) -> None:
    limited(writes=2, reads=3)
    assert taken() == 2
    assert taken(kind=Quota.READ) == 3
    assert taken(NEIGHBOUR) == 2


def test_take__clock_that_stands_still__gives_nothing_away(clock: Clock, limited: Any) -> None:
    limited(writes=5)
    taken()
    assert [taken() for _ in range(50)] == [0] * 50

"""Expiry fails closed: what nobody reviewed in time is rejected, by the beat or by the first who looks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.claims.actions.end import expire_held
from memory.claims.commands import MyWorkQuery
from memory.claims.models import Artifact
from memory.claims.selectors.own_work import my_work
from memory.tasks import expire
from oml.core.clock import now
from oml.core.errors import OmlError
from review.selectors.queue import QueueQuery, review_queue
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.actions.nodes import set_policy

pytestmark = pytest.mark.django_db


def overdue(artifact: str) -> None:
    Artifact.objects.filter(pk=artifact).update(held_expires_at=now() - timedelta(milliseconds=1))


def test_submission__held_expiry_of_the_policy__is_frozen_into_it(world: World) -> None:
    set_policy(world.admin, workarea="universe.a", settings={"held_expiry_s": 60})
    row = world.row(world.submit())
    assert row.held_expires_at - row.submitted_at == timedelta(seconds=60)
    set_policy(world.admin, workarea="universe.a", settings={"held_expiry_s": 6000})
    assert world.row(row.pk).held_expires_at == row.held_expires_at


def test_expire_held__by_the_beat__rejects_what_is_overdue_and_nothing_else(world: World) -> None:
    late, in_time, promoted = world.submit(), world.submit(), world.promoted()
    overdue(late)
    overdue(promoted)
    expire()
    assert [world.row(one).state for one in (late, in_time, promoted)] == ["rejected", "held", "promoted"]
    assert world.row(late).cause == "expired"
    (record,) = journalled("lifecycle.expire", once=True)
    assert record["subject"]["artifact_id"] == late
    assert record["channel"] == "system"


def test_expire_held__twice__ends_an_item_once(world: World) -> None:
    overdue(world.submit())
    assert expire_held() == 1
    before = length(world.writer.tenant_id)
    assert expire_held() == 0
    assert length(world.writer.tenant_id) == before


def test_serve__overdue_item__ends_it_even_though_the_serve_is_refused(world: World) -> None:
    artifact = world.submit()
    world.scan()
    overdue(artifact)
    with pytest.raises(OmlError) as caught:
        world.serve(artifact)
    assert caught.value.code == "review.stale"
    assert (world.row(artifact).state, world.row(artifact).cause) == ("rejected", "expired")
    journalled("lifecycle.expire", once=True)


def test_verdict__item_became_overdue_after_the_serve__never_promotes(world: World) -> None:
    artifact = world.submit()
    world.scan()
    serve = world.serve(artifact)
    overdue(artifact)
    with pytest.raises(OmlError) as caught:
        world.judge(serve)
    assert caught.value.code == "review.stale"
    assert world.row(artifact).state == "rejected"


def test_queue__overdue_item_that_nobody_swept__is_not_offered(world: World) -> None:
    artifact = world.submit()
    world.scan()
    overdue(artifact)
    assert review_queue(world.reviewer, query=QueueQuery())["items"] == []


def test_my_work__expired__says_so_and_names_nobody(world: World) -> None:
    artifact = world.submit()
    overdue(artifact)
    expire_held()
    (item,) = my_work(world.writer, query=MyWorkQuery())["items"]
    assert (item["state"], item["cause"]) == ("rejected", "expired")
    assert set(item) == {"artifact_id", "claim_key", "version", "kind", "state", "submitted_at", "cause"}

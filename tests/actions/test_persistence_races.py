"""Deleting what is shared, on real second connections: it ends once, and what is ratified meanwhile stands."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from memory.claims.models import Artifact
from memory.runs.rules import Scope
from tests.support.chain import verified
from tests.support.inspecting import STATE, Inspector, inspector, share
from tests.support.journal import journalled
from tests.support.runs import begin, register
from tests.support.threads import at_once, code_of, stopped
from tests.support.world import World
from workareas.actions.space_roles import set_space_role
from workareas.space_roles import SpaceRole

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    world = World.build("acme", paths=("a",))
    register(world)
    return world


@pytest.fixture
def vera(world: World) -> Inspector:
    return inspector(world, SpaceRole.BUILDER)


def test_ten_deletions_of_one_shared_slot_at_once__demote_it_once(world: World, vera: Inspector) -> None:
    row = share(world, "quirks", "shared")
    answers = at_once([partial(vera.call, "DELETE", f"{STATE}/pinned/{row}")] * 10)
    assert sorted(answer.status_code for answer in answers) == [204] + [404] * 9
    journalled("lifecycle.demote", once=True)
    journalled("state.deleted", once=True)
    verified(world.admin.tenant_id)


def test_bulk_deletions_at_once__count_every_memory_once(world: World, vera: Inspector) -> None:
    run = begin(world)
    for number in range(20):
        run.note(str(number))
    share(world, None, "shared")
    answers = at_once([partial(vera.call, "DELETE")] * 4)
    assert {answer.status_code for answer in answers} == {200}
    assert sum(answer.json()["memories_deleted"] for answer in answers) == 21
    journalled("lifecycle.demote", once=True)


@pytest.mark.parametrize("round_", range(3))
def test_deletion_against_a_verdict_on_a_newer_write__what_was_ratified_is_there_or_was_demoted(
    world: World, vera: Inspector, round_: int
) -> None:
    row = share(world, "quirks", "old")
    newer = begin(world, world.writer2).pin("quirks", "new", scope=Scope.SHARED)["artifact_id"]
    world.scan()
    serve = world.serve(newer)
    calls: list[Any] = [partial(vera.call, "DELETE", f"{STATE}/pinned/{row}"), partial(world.judge, serve)]
    deleted, judged = at_once(calls[:: 1 if round_ % 2 else -1])[:: 1 if round_ % 2 else -1]
    assert code_of(judged) == "ok"
    assert deleted.status_code in (204, 404)
    states = dict(Artifact.objects.values_list("text", "state"))
    assert states["old"] == "demoted"
    assert states["new"] in ("promoted", "demoted")
    assert begin(world).sees() == ({"quirks": "new"} if states["new"] == "promoted" else {})
    verified(world.admin.tenant_id)


def test_deletion_under_a_role_that_is_taken_away_meanwhile__deletes_nothing(
    world: World, vera: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = share(world, "quirks", "stays")
    call = partial(vera.call, "DELETE", f"{STATE}/pinned/{row}")
    with stopped(monkeypatch, "memory.runs.actions.persistence.append", call, before=True) as late:
        set_space_role(world.admin, principal=vera.principal, workarea="universe.a", role=SpaceRole.VIEWER)
    assert late.result().status_code == 403
    assert begin(world).sees() == {"quirks": "stays"}

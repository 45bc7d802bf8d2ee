"""Removal against writes, on real second connections: afterwards no private row is left, and none is shared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from memory.claims.models import Artifact
from memory.runs.models import AgentMemory, Run
from memory.runs.rules import Scope
from oml.core.errors import OmlError
from tests.support.chain import verified
from tests.support.inspecting import SpaceRole, inspector
from tests.support.runs import AgentRun, begin, register
from tests.support.threads import Running, at_once, code_of, stopped
from tests.support.world import World
from workareas.actions.removal import remove_principal
from workareas.models import Principal

pytestmark = pytest.mark.django_db(transaction=True)

REFUSED = {"access.forbidden", "access.not_found", "auth.invalid_key", "internal.unavailable"}


@pytest.fixture
def world(transactional_db: None) -> World:
    world = World.build("acme", paths=("a",))
    register(world)
    return world


def nothing_is_left(world: World) -> None:
    assert not AgentMemory.objects.exists()
    assert not Artifact.objects.exists()
    assert not Run.objects.exclude(checkpoint=None, result=None).exists()
    assert not Run.objects.filter(status="running").exists()
    verified(world.admin.tenant_id)


WRITES: dict[str, Callable[[AgentRun], Any]] = {
    "note": lambda run: run.note("late"),
    "slot": lambda run: run.pin("persona", "late"),
    "checkpoint": lambda run: run.pin("checkpoint", "late"),
    "overwrite": lambda run: run.pin("before", "late"),
    "finish": lambda run: run.finish(result="late"),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("where", ["memory.runs.actions.write.append", "memory.runs.actions.write.running"])
def test_write__under_way_when_its_actor_is_removed__leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, write: str, where: str
) -> None:
    if write == "finish":
        where = "memory.runs.actions.runs." + ("append" if where.endswith("append") else "own_run")
    run = begin(world)
    run.pin("before", "there")
    # The write holds its run, so the removal waits for it, whichever of the two began first.
    with stopped(monkeypatch, where, partial(WRITES[write], run), before=True) as late:
        removal = Running(partial(remove_principal, world.admin, principal=world.writer.principal_id, reason="left"))
        removal.is_waiting()
    assert code_of(late.result()) in {"ok", *REFUSED}
    assert code_of(removal.result()) == "ok"
    nothing_is_left(world)


def test_write__that_comes_while_the_removal_is_under_way__waits_and_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(world)
    run.pin("before", "there")
    remove = partial(remove_principal, world.admin, principal=world.writer.principal_id, reason="left")
    with stopped(monkeypatch, "workareas.actions.removal.append", remove, before=True) as removal:
        late = [Running(partial(write, run)) for write in WRITES.values()]
        starting = Running(partial(begin, world))
        assert all(one.is_waiting(0.1) for one in [*late, starting])
    assert code_of(removal.result()) == "ok"
    assert {code_of(one.result()) for one in [*late, starting]} <= REFUSED
    nothing_is_left(world)


def test_run__being_started_when_its_actor_is_removed__leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stopped(monkeypatch, "memory.runs.actions.runs.append", partial(begin, world), before=True) as starting:
        removal = Running(partial(remove_principal, world.admin, principal=world.writer.principal_id, reason="left"))
        assert removal.is_waiting()
    started = starting.result()
    assert code_of(removal.result()) == "ok"
    if isinstance(started, AgentRun):
        with pytest.raises(OmlError):
            started.note("late")
    nothing_is_left(world)


@pytest.mark.parametrize("round_", range(4))
def test_storm__of_notes_pins_and_starts_while_the_actor_is_removed__leaves_nothing(world: World, round_: int) -> None:
    runs = [begin(world) for _ in range(2)]

    def storm(run: AgentRun, number: int) -> list[str]:
        codes = []
        for step in range(10):
            for call in (
                partial(run.note, f"{number} {step}"),
                partial(run.pin, "persona", step),
                partial(run.pin, "checkpoint", step),
            ):
                codes.append(tried(call))
            codes.append(tried(lambda: begin(world).note("of a new run")))
        return codes

    def remove() -> str:
        while AgentMemory.objects.count() < 3 * (round_ + 1):
            pass
        return tried(partial(remove_principal, world.admin, principal=world.writer.principal_id, reason="left"))

    *codes, removed = at_once([*[partial(storm, run, number) for number, run in enumerate(runs)], remove])
    assert removed in ("ok", "internal.unavailable")
    if removed != "ok":
        remove_principal(world.admin, principal=world.writer.principal_id, reason="left")
    assert {code for one in codes for code in one} <= {"ok", *REFUSED}
    nothing_is_left(world)


def test_two_administrators__removing_each_other_at_once__one_stays(world: World) -> None:
    other = world.key("admin")
    calls = [
        partial(remove_principal, world.admin, principal=other.principal_id, reason="left"),
        partial(remove_principal, other, principal=world.admin.principal_id, reason="left"),
    ]
    codes = sorted(code_of(one) for one in at_once(list(calls)))
    assert codes[1] == "ok" and codes[0] in REFUSED
    active = Principal.objects.filter(pk__in=[world.admin.principal_id, other.principal_id], is_active=True)
    assert active.count() == 1


@pytest.mark.parametrize("round_", range(3))
def test_delete__in_bulk_while_a_run_writes__neither_waits_for_ever(world: World, round_: int) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    run = begin(world)

    def write() -> list[str]:
        return [tried(partial(run.pin, "checkpoint", step)) for step in range(20)]

    def delete() -> list[int]:
        query = {"actor_type": "actor", "actor_id": world.writer.principal_id}
        return [vera.call("DELETE", **query).status_code for _ in range(10)]

    written, deleted = at_once([write, delete])
    assert set(written) == {"ok"}
    assert set(deleted) == {200}
    assert AgentMemory.objects.filter(scope=Scope.SHARED).count() == 0
    verified(world.admin.tenant_id)


def tried(call: Callable[[], Any]) -> str:
    try:
        call()
    except OmlError as error:
        return error.code
    return "ok"

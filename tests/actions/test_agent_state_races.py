"""Agent state under real second connections: the cap is exact, slots have one row, a finished run takes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection

from memory.runs.models import AgentMemory, Run
from memory.runs.rules import Scope
from tests.support.runs import AgentRun, begin, register
from tests.support.threads import Running, at_once, code_of, stopped
from tests.support.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> World:
    world = World.build("racing", paths=("a",))
    register(world)
    return world


def noted(run: AgentRun, number: int, scope: Scope) -> str:
    """``ok`` or the code of the refusal, on a connection that is closed afterwards."""
    try:
        run.note(f"parallel {number}", scope=scope)
        return "ok"
    except Exception as error:
        return code_of(error)
    finally:
        connection.close()


@pytest.mark.parametrize("scope", list(Scope))
def test_notes__a_hundred_at_once_when_95_are_kept__stop_at_one_hundred(world: World, scope: Scope) -> None:
    runs = [begin(world) for _ in range(5)]
    for number in range(95):
        runs[0].note(str(number), scope=scope)
    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(lambda number: noted(runs[number % 5], number, scope), range(100)))
    assert outcomes.count("ok") == 5
    assert outcomes.count("memory.cap") == 95
    assert AgentMemory.objects.count() == 100


def test_pins__of_one_key_at_once__are_one_row_with_one_of_the_values(world: World) -> None:
    runs = [begin(world) for _ in range(8)]
    outcomes = at_once([partial(run.pin, "state", number) for number, run in enumerate(runs)])
    assert {code_of(outcome) for outcome in outcomes} == {"ok"}
    assert AgentMemory.objects.count() == 1
    assert runs[0].sees()["state"] in range(8)


def test_shared_pins__of_one_new_key_at_once__are_one_row_and_a_version_each(world: World) -> None:
    runs = [begin(world, by) for by in (world.writer, world.writer2)]
    answers = at_once([partial(run.pin, "goals", number, scope=Scope.SHARED) for number, run in enumerate(runs)])
    assert {code_of(answer) for answer in answers} == {"ok"}
    assert AgentMemory.objects.count() == 1
    world.scan()
    for answer in answers:
        world.ratify(answer["artifact_id"])
    assert begin(world).sees() == {"goals": 1} or begin(world).sees() == {"goals": 0}


def test_finish__while_a_note_is_being_written__comes_after_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin(world)
    with stopped(monkeypatch, "memory.runs.actions.write.append", partial(run.note, "in time"), before=True) as writing:
        finishing = Running(run.finish)
        assert finishing.is_waiting()
    assert code_of(writing.result()) == code_of(finishing.result()) == "ok"
    assert Run.objects.get(pk=run.id).status == "success"
    assert AgentMemory.objects.count() == 1

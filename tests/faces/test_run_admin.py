"""The console knows that agents ran and keep something, and not one word of it."""

from __future__ import annotations

import pytest

from memory.runs.models import Agent, AgentMemory
from memory.runs.rules import Scope
from tests.support.people import human, said
from tests.support.runs import begin, register
from tests.support.world import World

pytestmark = pytest.mark.django_db


def test_admin__of_agent_state__shows_that_it_is_and_nothing_it_says(world: World) -> None:
    register(world)
    run, admin = begin(world), human(world, "admin", name="ada", staff=True)
    run.pin("kumquat_key", "kumquat slot")
    run.pin("checkpoint", "kumquat checkpoint")
    run.note("kumquat note")
    run.note("kumquat shared", scope=Scope.SHARED)
    run.finish(result="kumquat result")
    agent, row = Agent.objects.get(), AgentMemory.objects.get(key="kumquat_key")
    places = {
        "agent/": "@acme/support-triage",
        f"agent/{agent.pk}/change/": "note, pin",
        "run/": run.id,
        f"run/{run.id}/change/": "success",
        "agentmemory/": "checkpoint",
        f"agentmemory/{row.pk}/change/": run.id,
    }
    for place, expected in places.items():
        page = admin.get(f"/admin/memory/{place}")
        assert page.status_code == 200, place
        assert expected in said(page), place
        assert "kumquat" not in page.content.decode(), place
    assert admin.post(f"/admin/memory/agentmemory/{row.pk}/change/", scope="shared").status_code == 403
    for lookup in ("content__startswith", "key__startswith", "key"):
        filtered = admin.get("/admin/memory/agentmemory/", **{lookup: "kumquat_key"})
        assert filtered.status_code != 200 or str(row.pk) not in said(filtered)


def test_admin__of_another_tenant__has_none_of_it(world: World) -> None:
    other = World.build("globex")
    register(other, agent="@globex/theirs")
    run = begin(other, agent="@globex/theirs")
    run.note("theirs")
    admin = human(world, "admin", name="ada", staff=True)
    for place in ("agent/", "run/", "agentmemory/"):
        page = said(admin.get(f"/admin/memory/{place}"))
        assert "theirs" not in page and run.id not in page
    assert admin.get(f"/admin/memory/run/{run.id}/change/").status_code != 200

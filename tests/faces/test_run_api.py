"""``/v1/agents`` and ``/v1/runs``: register, start, look, finish; answers as declared, refusals typed and alike."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from memory.api import run_operations as operations
from memory.runs.models import Agent, Run
from oml.http.operations import Operation
from oml.journal.models import JournalEntry
from tests.support.api import Api, refused
from tests.support.world import World

pytestmark = pytest.mark.django_db
AGENT = {"scope": "@acme", "name": "support-triage", "manifest": {"runtime_tools": ["output", "note", "pin"]}}


class Caller:
    def __init__(self, world: World, client: Client) -> None:
        self.world, self.api = world, Api(client)

    def __call__(
        self, operation: Operation, method: str, path: str, body: Any = None, *, by: str | Any, status: int = 200
    ) -> dict[str, Any]:
        secret = by if isinstance(by, str) else self.world.secret[by]
        response = self.api.get(path, key=secret) if method == "GET" else self.api.post(path, body or {}, key=secret)
        answer: dict[str, Any] = response.json()
        assert response.status_code == status, answer
        Draft202012Validator(dict(operation.answer)).validate(answer)
        return answer

    def register(self, status: int = 201, **fields: Any) -> dict[str, Any]:
        return self(operations.register, "POST", "agents", {**AGENT, **fields}, by=self.world.admin, status=status)

    def start(self, by: Any, *, on: str = "a", agent: str = "@acme/support-triage") -> dict[str, Any]:
        body = {"agent": agent, "space": self.world.nodes[on].pk}
        return self(operations.start, "POST", "runs", body, by=by, status=201)


@pytest.fixture
def call(world: World, client: Client) -> Caller:
    return Caller(world, client)


def test_agent__registered_again__changes_its_manifest_or_nothing(call: Caller) -> None:
    first = call.register()
    assert first["created"] is True
    before = JournalEntry.objects.count()
    assert call.register(status=200)["created"] is False
    assert JournalEntry.objects.count() == before
    changed = call.register(status=200, scope="acme", manifest={"runtime_tools": ["note"]})
    assert (changed["agent_id"], changed["agent"]) == (first["agent_id"], "@acme/support-triage")
    assert changed["manifest"] == {"runtime_tools": ["note"]}
    assert JournalEntry.objects.count() == before + 1
    told = list(JournalEntry.objects.order_by("seq").values_list("event_type", flat=True))
    assert told.count("agent.registered") == told.count("agent.changed") == 1


@pytest.mark.parametrize("scope", ["acme", "@acme"])
def test_agent__with_or_without_the_at__is_the_same(call: Caller, scope: str) -> None:
    call.register()
    body = call(operations.agent_info, "GET", f"agents/{scope}/support-triage", by=call.world.reader)
    assert (body["scope"], body["name"]) == ("@acme", "support-triage")
    listed = call(operations.list_agents, "GET", "agents", by=call.world.reader)
    assert [agent["agent"] for agent in listed["items"]] == ["@acme/support-triage"]
    assert "run_token" in call.start(call.world.writer, agent=f"{scope}/support-triage")


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"scope": "Acme"}, "scope"),
        ({"name": "-x"}, "name"),
        ({"name": "a/b"}, "name"),
        ({"manifest": []}, "manifest"),
        ({"manifest": {"runtime_tools": "note"}}, "manifest.runtime_tools"),
        ({"manifest": {"runtime_tools": [1]}}, "manifest.runtime_tools"),
        ({"manifest": {"x": "\x00"}}, "manifest"),
        ({"extra": 1}, "extra"),
    ],
)
def test_agent__malformed__is_refused_and_nothing_written(call: Caller, wrong: dict[str, Any], param: str) -> None:
    error = refused(
        call.api.post("agents", {**AGENT, **wrong}, key=call.world.secret[call.world.admin]), "request.validation"
    )
    assert error["param"] == param
    assert not Agent.objects.exists()


def test_agent__by_anybody_but_an_admin_of_the_root__is_refused(call: Caller) -> None:
    for actor in (call.world.writer, call.world.reviewer):
        refused(call.api.post("agents", AGENT, key=call.world.secret[actor]), "access.verb_ceiling", 403)
    below = call.world.key("admin", on="a")
    refused(call.api.post("agents", AGENT, key=call.world.secret[below]), "access.forbidden", 403)


def test_run__from_start_to_finish__is_its_identitys_alone(call: Caller) -> None:
    call.register()
    world = call.world
    started = call.start(world.writer)
    path = f"runs/{started['run_id']}"
    assert call(operations.run_info, "GET", path, by=world.writer)["status"] == "running"
    assert call(operations.context, "GET", f"{path}/context", by=started["run_token"])["context"] == ""
    for stranger in (world.writer2, world.admin, world.reviewer):
        for method, place in (("GET", path), ("GET", f"{path}/context"), ("POST", f"{path}/finish")):
            response = (
                call.api.get(place, key=world.secret[stranger])
                if method == "GET"
                else call.api.post(place, {}, key=world.secret[stranger])
            )
            refused(response, "access.not_found", 404)
    done = call(operations.finish, "POST", f"{path}/finish", {"result": {"n": [1]}}, by=world.writer)
    assert (done["status"], done["result"]) == ("success", {"n": [1]})
    assert "finished_at" in done
    again = call(operations.finish, "POST", f"{path}/finish", {}, by=world.writer)
    assert again == done
    refused(
        call.api.post(f"{path}/finish", {"status": "failed"}, key=world.secret[world.writer]), "access.forbidden", 403
    )
    refused(call.api.get(path, key=started["run_token"]), "access.forbidden", 403)


def test_run__finished_by_its_own_token__ends(call: Caller) -> None:
    call.register()
    started = call.start(call.world.writer)
    path = f"runs/{started['run_id']}/finish"
    assert (
        call(operations.finish, "POST", path, {"status": "cancelled"}, by=started["run_token"])["status"] == "cancelled"
    )


def test_run_token__of_one_run__opens_no_other(call: Caller) -> None:
    call.register()
    one, two = call.start(call.world.writer), call.start(call.world.writer)
    refused(call.api.get(f"runs/{two['run_id']}", key=one["run_token"]), "access.not_found", 404)


def test_run_token__anywhere_else__is_no_key(call: Caller) -> None:
    call.register()
    token = call.start(call.world.writer)["run_token"]
    for path in ("my-work", "agents", "runs", "keys"):
        refused(call.api.get(path, key=token), "auth.invalid_key", 401)


def test_run__in_an_unknown_or_unreadable_space_or_of_an_unknown_agent__is_one_answer(call: Caller) -> None:
    call.register()
    world = call.world
    narrow = world.key("writer", on="b")
    foreign = World.build("foreign")
    for space in ("nowhere", world.nodes["a"].pk, foreign.nodes["a"].pk, "universe.a"):
        response = call.api.post("runs", {"agent": "@acme/support-triage", "space": space}, key=world.secret[narrow])
        error = refused(response, "access.not_found", 404)
        assert error["message"].replace(space, "…") == "no readable workarea … for this key"
    for agent in ("@acme/other", "support-triage", "@acme/support-triage/x", "@ACME/support-triage"):
        body = {"agent": agent, "space": world.nodes["a"].pk}
        refused(call.api.post("runs", body, key=world.secret[world.writer]), "access.not_found", 404)
    assert not Run.objects.exists()


def test_runs__of_an_identity__are_listed_in_pages_newest_first(call: Caller) -> None:
    call.register()
    world = call.world
    mine = [call.start(world.writer)["run_id"] for _ in range(3)]
    call.start(world.writer2)
    page = call(operations.list_runs, "GET", "runs?limit=2&agent=@acme/support-triage", by=world.writer)
    rest = call(
        operations.list_runs,
        "GET",
        f"runs?limit=2&agent=@acme/support-triage&cursor={page['next_cursor']}",
        by=world.writer,
    )
    assert sorted(run["run_id"] for run in page["items"] + rest["items"]) == sorted(mine)
    assert rest["next_cursor"] is None
    empty = call(operations.list_runs, "GET", f"runs?space={world.nodes['b'].pk}", by=world.writer)
    assert empty == {"items": [], "next_cursor": None}


def test_agents__many__are_listed_in_pages(call: Caller) -> None:
    for name in ("one", "two", "three"):
        call.register(name=name)
    page = call(operations.list_agents, "GET", "agents?limit=2", by=call.world.reader)
    rest = call(operations.list_agents, "GET", f"agents?limit=2&cursor={page['next_cursor']}", by=call.world.reader)
    assert sorted(agent["name"] for agent in page["items"] + rest["items"]) == ["one", "three", "two"]
    assert rest["next_cursor"] is None
    for path in ("agents", "runs"):
        refused(call.api.get(f"{path}?limit=101", key=call.world.secret[call.world.reader]), "limit.ceiling", 400)


def test_operator__is_refused_everywhere(call: Caller) -> None:
    call.register()
    key = call.world.secret[call.world.operator]
    for path in ("agents", "agents/acme/support-triage", "runs", "runs/run_x"):
        refused(call.api.get(path, key=key), "access.verb_ceiling", 403)
    body = {"agent": "@acme/support-triage", "space": "universe.a"}
    refused(call.api.post("runs", body, key=key), "access.verb_ceiling", 403)

"""``/mcp/run``: a run's own tools, by its own token (seed: agent-memory; design: agent-state, Run surface)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from memory.runs.models import AgentMemory
from oml.mcp.run_catalog import CATALOG
from tests.faces.test_mcp_fuzz import fire
from tests.support.mcp_fuzz import Fuzzer
from tests.support.mcp_lab import Caller
from tests.support.runs import AgentRun, begin, register
from tests.support.world import World
from workareas.actions.keys import remove_grant, revoke_key
from workareas.models import Grant

pytestmark = pytest.mark.django_db
EACH = pytest.mark.parametrize("tool", CATALOG, ids=[tool.name for tool in CATALOG])


@pytest.fixture
def run(world: World) -> AgentRun:
    register(world)
    return begin(world)


def caller(token: str | None) -> Caller:
    return Caller(Client().generic, key=token, path="/mcp/run")


def names(run: AgentRun, era: str = "legacy") -> list[str]:
    exchange = getattr(caller(run.token), era)("tools/list")
    return [tool["name"] for tool in exchange.result["tools"]]


def call(run: AgentRun, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a success."""
    result = caller(run.token).call(tool, arguments).result
    assert result["isError"] is False, result
    return dict(result["structuredContent"])


def refusal(run: AgentRun, tool: str, **arguments: Any) -> dict[str, Any]:
    result = caller(run.token).call(tool, arguments).result
    assert result["isError"] is True, result
    return dict(result["structuredContent"]["error"])


@pytest.mark.parametrize(
    ("tools", "listed"),
    [
        (("output", "note", "pin"), ["note", "pin", "recall_memory", "run_history"]),
        (("note",), ["note", "recall_memory", "run_history"]),
        (("pin",), ["pin", "recall_memory", "run_history"]),
        (("recall",), ["recall_memory", "run_history"]),
        ((), ["recall_memory", "run_history"]),
    ],
)
def test_catalog__is_what_the_manifest_names_and_the_two_readers(
    world: World, tools: tuple[str, ...], listed: list[str]
) -> None:
    register(world, tools=tools)
    run = begin(world)
    assert names(run) == names(run, "modern") == listed
    for absent in {"note", "pin"} - set(listed):
        assert caller(run.token).call(absent, {"key": "a", "content": "b"}).error["code"] == -32602
    assert not AgentMemory.objects.exists()


def test_catalog__of_a_run_under_way__is_not_changed_by_a_new_manifest(run: AgentRun) -> None:
    register(run.world, tools=())
    assert names(run) == ["note", "pin", "recall_memory", "run_history"]


def test_catalogs__of_the_three_mounts__share_no_tool(run: AgentRun) -> None:
    key = run.world.secret[run.world.writer]
    for path in ("/mcp", "/mcp/records"):
        listed = Caller(Client().generic, key=key, path=path).legacy("tools/list").result["tools"]
        assert not {tool["name"] for tool in listed} & {tool.name for tool in CATALOG}


@EACH
def test_tool__its_schema__is_flat_open_and_names_the_fields_of_its_operation(tool: Any) -> None:
    schema = tool.input_schema
    Draft202012Validator.check_schema(schema)
    assert not {"oneOf", "anyOf", "allOf", "$ref", "additionalProperties"} & set(schema)
    fields = tool.operation.shape().fields
    assert set(schema["properties"]) == set(fields)
    assert set(schema.get("required", [])) == {name for name, field in fields.items() if field.required}


def test_token__missing_or_unknown_or_a_key__is_401(run: AgentRun) -> None:
    for token in (None, "oml_r_" + "0" * 26, run.world.secret[run.world.writer], "x"):
        exchange = caller(token).legacy("tools/list")
        assert exchange.status == 401
        assert exchange.error["data"]["error"]["code"] == "auth.invalid_key"


def test_token__of_a_run_that_is_over_or_whose_actor_is_gone__is_403(run: AgentRun) -> None:
    gone = begin(run.world, run.world.writer2)
    revoke_key(run.world.admin, key=run.world.writer2.key_id)
    run.finish()
    for token in (run.token, gone.token):
        exchange = caller(token).legacy("tools/call", {"name": "note", "arguments": {"content": "late"}})
        assert exchange.status == 403
        assert exchange.error["data"]["error"]["code"] == "access.forbidden"
    assert not AgentMemory.objects.exists()


def test_tools__in_one_run__note_then_recall_and_pin_then_history(run: AgentRun) -> None:
    noted = call(run, "note", content="The API pages by 50")
    assert {"scope": "actor", "state": "stored"}.items() <= noted.items()
    found = call(run, "recall_memory", query="api PAGES")["memories"]
    assert [(one["id"], one["content"], one["scope"], one["run_id"]) for one in found] == [
        (noted["id"], "The API pages by 50", "actor", run.id)
    ]
    pinned = call(run, "pin", key="checkpoint", content=None)
    assert (pinned["key"], pinned["message"]) == ("checkpoint", 'Pinned slot "checkpoint" updated')
    call(run, "pin", key="checkpoint", content={"cursor": 7})
    run.finish(result="done")
    following = begin(run.world)
    assert call(following, "run_history")["runs"][0]["checkpoint"] == {"cursor": 7}
    assert "result" not in call(following, "run_history")["runs"][0]
    assert call(following, "run_history", fields=["result"])["runs"][0]["result"] == "done"


def test_note__the_hundred_and_first__is_an_error_that_says_it_is_not_kept(run: AgentRun) -> None:
    for number in range(100):
        run.note(str(number))
    error = refusal(run, "note", content="one too many")
    assert error["code"] == "memory.cap"
    assert "not kept" in error["message"]


def test_note__of_2001_characters__is_too_large_and_never_cut(run: AgentRun) -> None:
    assert refusal(run, "note", content="é" * 2001)["code"] == "memory.too_large"
    assert call(run, "note", content="\U0001f600" * 2000)["state"] == "stored"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("pin", {"key": "", "content": 1}, "request.validation"),
        ("pin", {"key": "A", "content": 1}, "request.validation"),
        ("pin", {"key": "a-b", "content": 1}, "request.validation"),
        ("pin", {"key": "a" * 65, "content": 1}, "request.validation"),
        ("pin", {"key": "a\n", "content": 1}, "request.validation"),
        ("pin", {"key": "a"}, "request.validation"),
        ("pin", {"key": "a", "content": 1, "scope": "everyone"}, "request.validation"),
        ("pin", {"key": "a", "content": "x" * 65_536}, "memory.too_large"),
        ("note", {"content": ""}, "request.validation"),
        ("note", {"content": 5}, "request.validation"),
        ("note", {}, "request.validation"),
        ("recall_memory", {"limit": 0}, "request.validation"),
        ("recall_memory", {"limit": 51}, "limit.ceiling"),
        ("recall_memory", {"limit": True}, "request.validation"),
        ("recall_memory", {"query": 5}, "request.validation"),
        ("recall_memory", {"query": "x" * 8_193}, "limit.size"),
        ("note", {"content": "a\x00b"}, "request.validation"),
        ("pin", {"key": "a", "content": "a\x00b"}, "request.validation"),
        ("run_history", {"fields": ["token"]}, "request.validation"),
        ("run_history", {"limit": 51}, "limit.ceiling"),
    ],
)
def test_tool__with_bad_arguments__is_refused_with_its_code_and_writes_nothing(
    run: AgentRun, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert refusal(run, tool, **arguments)["code"] == code
    assert not AgentMemory.objects.exists()


def test_pin__with_a_key_of_64_and_deep_json__is_kept_and_deeper_is_refused(run: AgentRun) -> None:
    value: Any = 0
    for _ in range(64):
        value = [value]
    assert call(run, "pin", key="a" * 64, content=value)["state"] == "stored"
    assert refusal(run, "pin", key="a", content=[value])["code"] == "request.validation"


def test_tool__after_read_access_was_taken_away__reads_nothing_more(run: AgentRun) -> None:
    run.note("kept")
    for grant in Grant.objects.filter(key=run.world.writer.key_id):
        remove_grant(run.world.admin, grant=grant.pk)
    assert refusal(run, "recall_memory")["code"] == "access.not_found"
    assert refusal(run, "note", content="x", scope="shared")["code"] == "access.not_found"


def test_endpoint__random_requests_at_the_mount_of_runs__are_all_answered_in_the_protocol(run: AgentRun) -> None:
    tools = {tool.name: tuple(tool.input_schema["properties"]) for tool in CATALOG}
    seen = fire(caller(run.token), Fuzzer(7, tools), 600)
    assert seen[200] > 40  # the shots are near enough to hit

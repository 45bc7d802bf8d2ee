"""``/mcp/records``: its own tools and no other's, each the same answer, refusal and journal as its route (D13)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client
from jsonschema import Draft202012Validator

from memory.api import record_operations
from memory.recall.models import ReadLog
from oml.jobs import outbox
from oml.journal.models import JournalEntry
from oml.mcp.catalog import CATALOG as AGENT_TOOLS
from oml.mcp.record_catalog import CATALOG
from tests.support.mcp_lab import Caller
from tests.support.records import HARD, Records, body_of
from tests.support.world import World

pytestmark = pytest.mark.django_db

TOOLS = [
    "e_ingest",
    "e_read",
    "e_update",
    "e_property",
    "e_connect",
    "e_correct",
    "e_adjust",
    "e_tombstone",
    "e_group",
    "e_gather",
    "e_timeline",
    "e_audit",
]
EACH = pytest.mark.parametrize("tool", CATALOG, ids=[tool.name for tool in CATALOG])
FRESH = re.compile(r'sr_[0-9a-f]{32}|(?<="group":")\d+|ev_\w{26}|[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z')


def route_of(tool: str, arguments: dict[str, Any]) -> tuple[str, str, Any]:
    rest = dict(arguments)
    place = f"/v1/records/{rest.pop('sr_id', '')}"
    match tool:
        case "e_ingest":
            return "POST", "/v1/records", rest
        case "e_read":
            query = "&".join(f"{name}={value}" for name, value in rest.items())
            return "GET", f"{place}?{query}", None
        case "e_update":
            return "PATCH", place, rest
        case "e_property":
            if rest.pop("action") == "add":
                return "POST", f"{place}/properties", rest
            return "DELETE", f"{place}/properties?property={rest['property']}", None
        case "e_connect":
            if rest.pop("action", "add") == "add":
                return "POST", f"{place}/connections", rest
            return "DELETE", f"{place}/connections?to={rest['to']}&label={rest['label']}", None
        case "e_correct":
            return "POST", f"{place}/corrections", rest
        case "e_adjust":
            return "POST", f"{place}/adjustments", rest
        case "e_tombstone":
            return "DELETE", place + (f"?note={rest['note']}" if rest else ""), None
        case "e_group":
            return "POST", "/v1/record-groups", rest
        case "e_gather":
            return "POST", "/v1/records/gather", rest
        case "e_timeline":
            return "GET", f"/v1/records/timeline?{urlencode(rest, doseq=True)}", None
        case "e_audit":
            return "GET", f"{place}/history", None
    raise AssertionError(f"{tool} has no twin in this test")


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def traced(ask: Callable[[], Any]) -> tuple[Any, tuple[list[str], int]]:
    last = JournalEntry.objects.order_by("-id").values_list("id", flat=True).first() or 0
    reads = ReadLog.objects.count()
    answer = ask()
    events = JournalEntry.objects.filter(id__gt=last).order_by("id").values_list("canonical", flat=True)
    bare = [FRESH.sub("…", re.sub(r'"channel":"[a-z]+",?', "", one)) for one in events]
    return answer, (bare, ReadLog.objects.count() - reads)


def same(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: same(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [same(inner) for inner in value]
    return FRESH.sub("…", value) if isinstance(value, str) else value


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


def ask_both(records: Records, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Assert that route and tool answer alike in both eras and leave the same traces; return the route's body."""
    with undone():
        http, traces = traced(lambda: records.call(*route_of(tool, arguments)))
    body = body_of(http)
    for era in ("legacy", "modern"):
        with undone():
            exchange, mine = traced(lambda era=era: caller(records).call(tool, arguments, era=era))
        assert exchange.status == 200
        assert exchange.result["isError"] is (http.status_code >= 400)
        assert same(exchange.result["structuredContent"]) == same(body)
        assert mine == traces
    return body


def caller(records: Records) -> Caller:
    return Caller(Client().generic, key=records.world.secret[records.by], path="/mcp/records")


def test_catalog__of_records__is_the_designs_names_in_its_order(records: Records) -> None:
    assert [tool.name for tool in CATALOG] == TOOLS
    for actor in (records.by, records.world.reader, records.world.operator):
        listed = Caller(Client().generic, key=records.world.secret[actor], path="/mcp/records").legacy("tools/list")
        assert [tool["name"] for tool in listed.result["tools"]] == TOOLS


def test_catalog__of_agents__has_no_record_tool(records: Records) -> None:
    listed = Caller(Client().generic, key=records.world.secret[records.by]).legacy("tools/list").result["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in AGENT_TOOLS]
    assert not any(tool["name"].startswith("e_") for tool in listed)
    unknown = Caller(Client().generic, key=records.world.secret[records.by]).call("e_read", {"sr_id": "x"})
    assert unknown.error["code"] == -32602


@EACH
def test_tool__its_schema__is_flat_open_and_names_the_fields_of_its_operation(tool) -> None:
    schema = tool.input_schema
    Draft202012Validator.check_schema(schema)
    assert not {"oneOf", "anyOf", "allOf", "$ref", "additionalProperties"} & set(schema)
    fields = tool.operation.shape().fields
    assert set(schema["properties"]) == set(fields)
    assert set(schema.get("required", [])) == {name for name, field in fields.items() if field.required}


def test_parity__of_every_tool__is_the_routes_answer_and_journal(records: Records) -> None:
    one, two = records.ingest("one", properties=["a:1"]), records.ingest(HARD)
    records.call("POST", f"/v1/records/{one}/connections", {"to": two, "label": "cites"})
    said: dict[str, Any] = {"content": HARD, "properties": ["b:2"], "source_system": "lab"}
    cases: list[tuple[str, dict[str, Any]]] = [
        ("e_ingest", {**said, "source_type": "observed"}),
        ("e_read", {"sr_id": one}),
        ("e_read", {"sr_id": two, "version": 0}),
        ("e_read", {"sr_id": two, "as_of": "2100-01-01T00:00:00Z"}),
        ("e_update", {"sr_id": one, "content": "new", "properties": ["a:2"], "note": "why", "expected_version": 1}),
        ("e_update", {"sr_id": one, "properties": ["a:1"]}),
        ("e_property", {"sr_id": one, "action": "add", "property": "c:3"}),
        ("e_property", {"sr_id": one, "action": "remove", "property": "a:1"}),
        ("e_connect", {"sr_id": two, "to": one, "label": "cites"}),
        ("e_connect", {"sr_id": one, "to": two, "label": "cites", "action": "remove"}),
        ("e_correct", {"sr_id": one, **said, "note": "wrong"}),
        ("e_adjust", {"sr_id": one, **said}),
        ("e_tombstone", {"sr_id": one, "note": "gone"}),
        ("e_group", {"name": "g", "add": [one, two]}),
        ("e_gather", {"query": "one", "properties": ["a:1"], "k": 5, "min_authority": 1}),
        ("e_gather", {}),
        ("e_timeline", {"limit": 1, "order": "desc", "properties": ["a:1"], "since": "2000-01-01T00:00:00Z"}),
        ("e_audit", {"sr_id": one}),
    ]
    outbox.drain_all()
    assert {tool for tool, _ in cases} == set(TOOLS)
    for tool, arguments in cases:
        assert "error" not in ask_both(records, tool, arguments), tool


def test_parity__of_refusals__is_the_routes_typed_error(records: Records) -> None:
    gone, stranger = records.ingest("gone"), records.ingest("theirs", by=records.world.writer2)
    records.call("DELETE", f"/v1/records/{gone}")
    cases = [
        ("e_ingest", {"content": "a", "source_type": "gossip"}, "record.unknown_source_type"),
        ("e_ingest", {"content": "a", "properties": ["x"]}, "request.validation"),
        ("e_ingest", {"content": "a", "assign_lane": "nowhere"}, "access.not_found"),
        ("e_read", {"sr_id": stranger}, "access.not_found"),
        ("e_read", {"sr_id": gone}, "record.tombstoned"),
        ("e_read", {"sr_id": gone, "as_of": "2026-01-01T00:00:00"}, "request.validation"),
        ("e_update", {"sr_id": stranger, "content": "a"}, "access.not_found"),
        ("e_property", {"sr_id": gone, "action": "add", "property": "a:1"}, "record.tombstoned"),
        ("e_connect", {"sr_id": stranger, "to": gone, "label": "a"}, "access.not_found"),
        ("e_correct", {"sr_id": gone, "content": "a"}, "record.tombstoned"),
        ("e_adjust", {"sr_id": stranger, "content": "a"}, "access.not_found"),
        ("e_tombstone", {"sr_id": stranger}, "access.not_found"),
        ("e_group", {"name": "g", "add": [stranger]}, "access.not_found"),
        ("e_gather", {"lanes": ["nowhere"]}, "access.not_found"),
        ("e_gather", {"k": 51}, "limit.ceiling"),
        ("e_timeline", {"lanes": ["nowhere"]}, "access.not_found"),
        ("e_timeline", {"limit": 101}, "limit.ceiling"),
        ("e_audit", {"sr_id": stranger}, "access.not_found"),
    ]
    for tool, arguments, code in cases:
        assert ask_both(records, tool, arguments)["error"]["code"] == code, tool


def test_e_ingest__with_client_info__has_its_name_as_source_system(records: Records) -> None:
    made = caller(records).call("e_ingest", {"content": "a"}, era="modern").result["structuredContent"]
    assert records.read(made["sr_id"])["source_system"] == "lab"


def test_e_ingest__three_megabytes__comes_back_and_the_agents_mount_still_refuses_them(records: Records) -> None:
    content = HARD * (3 * 2**20 // len(HARD.encode()))
    made = caller(records).call("e_ingest", {"content": content}).result["structuredContent"]
    assert caller(records).call("e_read", {"sr_id": made["sr_id"]}).result["structuredContent"]["content"] == content
    refused = Caller(Client().generic, key=records.world.secret[records.by]).call("oml_remember", {"text": content})
    assert refused.status == 413


def test_message__long_and_not_utf8__is_a_parse_error(records: Records) -> None:
    exchange = caller(records).send(b'{"jsonrpc": "2.0", "x": "' + b"a" * 9000 + b'\xff"}')
    assert (exchange.status, exchange.error["code"]) == (400, -32700)


def test_e_read__of_ten_megabytes__is_byte_for_byte_what_e_ingest_took(records: Records) -> None:
    content = (HARD + 'quote " backslash \\ é 中 ') * 190_000
    assert len(content.encode()) > 10 * 2**20
    sent = caller(records).call("e_ingest", {"content": content}).result["structuredContent"]
    read = caller(records).call("e_read", {"sr_id": sent["sr_id"]}).result["structuredContent"]
    assert read["content"] == content


def test_e_read__of_what_no_tool_result_holds__says_where_it_is_streamed(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_operations, "MAX_WHOLE", 2 * 2**20)
    sr_id = records.ingest("first")
    large = "é" * 1_200_000
    records.update(sr_id, content=large)
    refused = caller(records).call("e_read", {"sr_id": sr_id}).result
    assert refused["isError"] is True
    error = refused["structuredContent"]["error"]
    assert error["code"] == "limit.size"
    assert error["message"].endswith(f"GET /v1/records/{sr_id}?version=1 streams it")
    assert records.read(sr_id, version=1)["content"] == large
    assert caller(records).call("e_read", {"sr_id": sr_id, "version": 0}).result["structuredContent"]["version"] == 0

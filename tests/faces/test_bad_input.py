"""Bad input over /v1: a typed refusal, nothing written, never a 5xx, whatever is sent."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.claims.models import Artifact
from oml.jobs.models import OutboxTask
from tests.support.api import Api, refused
from tests.support.journal import length
from tests.support.world import World
from workareas.models import IdempotencyRecord

pytestmark = pytest.mark.django_db

GOOD = {"workarea": "universe.a", "claim_key": "quote", "text": "A fact."}


def rows(world: World) -> tuple[int, ...]:
    return (
        Artifact.objects.count(),
        length(world.writer.tenant_id),
        OutboxTask.objects.count(),
        IdempotencyRecord.objects.count(),
    )


def raw(**fields: str) -> str:
    """The good body with some fields replaced by raw JSON."""
    parts = {name: json.dumps(value) for name, value in GOOD.items()} | fields
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in parts.items()) + "}"


BODIES: dict[str, tuple[str | bytes, str, str | None]] = {
    "empty body": ("", "request.validation", "workarea"),
    "empty object": ("{}", "request.validation", "workarea"),
    "array": ("[]", "request.validation", None),
    "array of one": (f"[{json.dumps(GOOD)}]", "request.validation", None),
    "null": ("null", "request.validation", None),
    "string": ('"text"', "request.validation", None),
    "number": ("7", "request.validation", None),
    "not JSON": ("{workarea: 1}", "request.validation", None),
    "cut off": (json.dumps(GOOD)[:-1], "request.validation", None),
    "two objects": (json.dumps(GOOD) * 2, "request.validation", None),
    "trailing comma": (json.dumps(GOOD)[:-1] + ",}", "request.validation", None),
    "comment": ("// hello\n" + json.dumps(GOOD), "request.validation", None),
    "byte order mark": (b"\xef\xbb\xbf" + json.dumps(GOOD).encode(), "request.validation", None),
    "invalid UTF-8": (raw(text='"\u00e9"').encode("latin-1"), "request.validation", None),
    "overlong UTF-8": (raw().encode().replace(b"A fact", b"\xc0\xaf"), "request.validation", None),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), "request.validation", None),
    "NaN": (raw(text="NaN"), "request.validation", None),
    "Infinity": (raw(text="-Infinity"), "request.validation", None),
    "deep array": ("[" * 100_000, "request.validation", None),
    "deep array closed": (raw(text="[" * 100_000 + "]" * 100_000), "request.validation", None),
    "deep object": (raw(text='{"a":' * 100_000 + "1" + "}" * 100_000), "request.validation", None),
    "nested 500 deep": (raw(text="[" * 500 + "]" * 500), "request.validation", "text"),
    "endless integer": (raw(text="9" * 10_000), "request.validation", None),
    "huge integer": (raw(text=str(2**70)), "request.validation", "text"),
    "huge exponent": (raw(text="1e999999"), "request.validation", "text"),
    "same field twice": ('{"text": "one", ' + raw()[1:], "request.validation", None),
    "NUL in text": (raw(text='"a\\u0000b"'), "request.validation", "text"),
    "raw NUL in text": (raw().replace("A fact", "A\x00fact"), "request.validation", None),
    "lone surrogate": (raw(text='"\\ud800"'), "request.validation", "text"),
    "surrogates the wrong way round": (raw(text='"\\udc00\\ud800"'), "request.validation", "text"),
    "text of 32,769 characters": (raw(text=json.dumps("x" * 32_769)), "limit.size", "text"),
    "text of 32,769 emoji": (raw(text=json.dumps("👩" * 32_769)), "limit.size", "text"),
    "empty text": (raw(text='""'), "request.validation", "text"),
    "null text": (raw(text="null"), "request.validation", "text"),
    "text true": (raw(text="true"), "request.validation", "text"),
    "text list": (raw(text='["A fact."]'), "request.validation", "text"),
    "unknown field": (raw(promote="true"), "request.validation", "promote"),
    "unknown field of odd name": (raw(**{"\ud800": "1"}), "request.validation", "?"),
    "state": (raw(state='"promoted"'), "request.validation", "state"),
    "kind out of the set": (raw(kind='"Memory"'), "request.validation", "kind"),
    "verb out of the set": (raw(verb='"promote"'), "request.validation", "verb"),
    "65 sources": (raw(derives_from=json.dumps([f"art_{n}" for n in range(65)])), "request.validation", "derives_from"),
    "source twice": (raw(derives_from='["art_1", "art_1"]'), "request.validation", "derives_from[1]"),
    "source number": (raw(derives_from='["art_1", 2]'), "request.validation", "derives_from[1]"),
    "17 attachments": (
        raw(attachments=json.dumps([{"upload_session": f"ups_{n}"} for n in range(17)])),
        "request.validation",
        "attachments",
    ),
    "attachment without session": (raw(attachments="[{}]"), "request.validation", "attachments[0].upload_session"),
    "claim key of a space": (raw(claim_key='"a b"'), "request.validation", "claim_key"),
    "claim key of 129": (raw(claim_key=json.dumps("a" * 129)), "request.validation", "claim_key"),
    "idempotency key of a space": (raw(idempotency_key='"a b"'), "request.validation", "idempotency_key"),
    "naive time": (raw(occurred_at='"2026-10-27T14:11:08"'), "request.validation", "occurred_at"),
    "year zero": (raw(occurred_at='"0000-01-01T00:00:00Z"'), "request.validation", "occurred_at"),
    "validity backwards": (
        raw(valid_from='"2026-10-28T00:00:00Z"', valid_to='"2026-10-27T00:00:00Z"'),
        "request.validation",
        "valid_to",
    ),
    "thread of 257": (raw(thread=json.dumps("t" * 257)), "request.validation", "thread"),
    "workarea of 5,000": (raw(workarea=json.dumps("w" * 5000)), "request.validation", "workarea"),
    "body of 3 MB": (raw(text=json.dumps("x" * 3_000_000)), "limit.size", None),
}


@pytest.mark.parametrize("name", BODIES)
def test_submit__bad_body__is_a_typed_refusal_and_writes_nothing(
    world: World, api: Api, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    body, code, param = BODIES[name]
    before = rows(world)
    with caplog.at_level(logging.ERROR):
        error = refused(api.post("memories", body, key=world.secret[world.writer]), code)
    assert error.get("param") == param, error
    assert rows(world) == before
    assert not caplog.records
    assert len(json.dumps(error)) < 6000


def test_submit__tenant_sent__is_ignored(world: World, api: Api) -> None:
    other = World.build("other", paths=("a",))
    body = {**GOOD, "tenant": other.writer.tenant_id, "tenant_id": other.writer.tenant_id}
    answer = api.post("memories", body, key=world.secret[world.writer])
    assert answer.status_code == 201
    assert Artifact.objects.get().tenant_id == world.writer.tenant_id


@pytest.mark.parametrize(
    ("content_type", "code"),
    [
        ("text/plain", "request.media_type"),
        ("application/x-www-form-urlencoded", "request.media_type"),
        ("multipart/form-data; boundary=x", "request.media_type"),
        ("application/jsonp", "request.media_type"),
        ("application/json-patch+json", "request.media_type"),
        ("nonsense", "request.media_type"),
        ("", "request.media_type"),
    ],
)
def test_submit__another_content_type__is_415(world: World, api: Api, content_type: str, code: str) -> None:
    before = rows(world)
    answer = api.post("memories", GOOD, key=world.secret[world.writer], content_type=content_type)
    refused(answer, code, 415)
    assert rows(world) == before


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;v=1"]
)
def test_submit__json_with_parameters__is_json(world: World, api: Api, content_type: str) -> None:
    assert api.post("memories", GOOD, key=world.secret[world.writer], content_type=content_type).status_code == 201


RECALL = {"query": "x", "scope": "universe"}


@pytest.mark.parametrize(
    ("change", "code", "param"),
    [
        ({"query": "q" * 51_200}, "limit.size", "query"),
        ({"query": ""}, "request.validation", "query"),
        ({"query": "\x00"}, "request.validation", "query"),
        ({"query": "\ud800"}, "request.validation", "query"),
        ({"k": 51}, "limit.ceiling", "k"),
        ({"k": 0}, "request.validation", "k"),
        ({"k": -1}, "request.validation", "k"),
        ({"k": 1.0}, "request.validation", "k"),
        ({"k": "8"}, "request.validation", "k"),
        ({"k": True}, "request.validation", "k"),
        ({"k": 10**30}, "request.validation", "k"),
        ({"filters": []}, "request.validation", "filters"),
        ({"filters": {"kind": "steering"}}, "request.validation", "filters.kind"),
        ({"filters": {"promoted_from": "yesterday"}}, "request.validation", "filters.promoted_from"),
        ({"max_chars": -1}, "request.validation", "max_chars"),
        ({"explain": 1}, "request.validation", "explain"),
        ({"scope": None}, "request.validation", "scope"),
        ({"state": "held"}, "request.validation", "state"),
    ],
)
def test_recall__bad_body__is_a_typed_refusal(
    world: World, api: Api, change: dict[str, Any], code: str, param: str
) -> None:
    error = refused(api.post("recall", {**RECALL, **change}, key=world.secret[world.reader]), code)
    assert error["param"] == param


@pytest.mark.parametrize(
    "query", ["C++", "GB/s", 'foo(bar"', "a:b -c", "%_\\", "' OR 1=1 --", "&|!()<->", "\u202e", "…", "\\", "*", ":*"]
)
def test_recall__query_full_of_operators__is_a_query(world: World, api: Api, query: str) -> None:
    assert api.post("recall", {**RECALL, "query": query}, key=world.secret[world.reader]).status_code == 200


@pytest.mark.parametrize(
    ("path", "query", "param"),
    [
        ("my-work", "limit=1.0", "limit"),
        ("my-work", "limit=", "limit"),
        ("my-work", "limit=%00", "limit"),
        ("my-work", "limit=1&limit=2", "limit"),
        ("my-work", "limit=99999999999999999999999", "limit"),
        ("my-work", "limit=%D9%A1", "limit"),
        ("my-work", "state=held&state=held", "state"),
        ("my-work", "cursor=%FF%FE", "cursor"),
        ("my-work", "workarea=%00", "workarea"),
        ("my-work", "nonsense=1", "nonsense"),
        ("events", "", "scope"),
        ("events", "scope=universe&after_seq=-1", "after_seq"),
        ("events", "scope=universe&after_seq=1.5", "after_seq"),
        ("events", "scope=universe&after_seq=true", "after_seq"),
        ("events", "scope=universe&after_seq=999999999", "after_seq"),
        ("events", "scope=universe&after_seq=", "after_seq"),
        ("events", "scope=universe&after_seq=0x10", "after_seq"),
        ("events", "scope=universe&after_seq=%201", "after_seq"),
        ("events", "scope=universe&scope=universe", "scope"),
        ("workareas/universe.a", "workarea=universe.b", "workarea"),
        ("workareas/universe.a", "x=1", "x"),
        ("memories/art_1", "artifact=art_2", "artifact"),
    ],
)
def test_query_string__wrong__is_validation_and_names_the_parameter(
    world: World, api: Api, path: str, query: str, param: str
) -> None:
    answer = api.client.get(f"/v1/{path}?{query}", headers={"Authorization": f"Bearer {world.secret[world.writer]}"})
    assert refused(answer, "request.validation", 400)["param"] == param


@pytest.mark.parametrize(
    "path", ["workareas/%00", "workareas/%FF", "memories/%ED%A0%80", "workareas/%20", "workareas/."]
)
def test_path__odd_bytes__is_a_typed_refusal(world: World, api: Api, path: str) -> None:
    answer = api.client.get(f"/v1/{path}", headers={"Authorization": f"Bearer {world.secret[world.reader]}"})
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]["code"] in {"request.validation", "access.not_found", "request.route"}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"verdict": "escalate"}, "verdict"),
        ({"verdict": True}, "verdict"),
        ({"serve_id": 5}, "serve_id"),
        ({"content_digest": None}, "content_digest"),
        ({"reason_code": "because"}, "reason_code"),
        ({"reason": "x" * 4001}, "reason"),
        ({"reason": "\x00"}, "reason"),
        ({"reviewer": "key_x"}, "reviewer"),
    ],
)
def test_verdict__bad_body__is_a_typed_refusal(world: World, api: Api, change: dict[str, Any], param: str) -> None:
    body = {"serve_id": "srv_x", "content_digest": "0" * 64, "verdict": "ratify", **change}
    error = refused(api.post("review/verdicts", body, key=world.secret[world.reviewer]), "request.validation", 400)
    assert error["param"] == param


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "workarea",
    "claim_key",
    "text",
    "kind",
    "verb",
    "derives_from",
    "attachments",
    "evidence",
    "valid_to",
    "thread",
]


@hypothesis_settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from([*FIELDS, "simulation_id", "idempotency_key", "tenant"]), anything))
def test_submit__anything_at_all_in_any_field__never_breaks(world: World, client: Client, body: dict[str, Any]) -> None:
    answer = Api(client).post("memories", {**GOOD, **body}, key=world.secret[world.writer])
    assert answer.status_code < 500, answer.content
    assert answer.status_code < 300 or set(answer.json()) == {"error"}


@hypothesis_settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from(["query", "scope", "k", "filters", "max_chars", "explain"]), anything))
def test_recall__anything_at_all_in_any_field__never_breaks(world: World, client: Client, body: dict[str, Any]) -> None:
    answer = Api(client).post("recall", {**RECALL, **body}, key=world.secret[world.reader])
    assert answer.status_code < 500, answer.content


def test_mcp__same_member_twice__is_a_parse_error(world: World, client: Client) -> None:
    body = '{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}'
    headers = {"Authorization": f"Bearer {world.secret[world.reader]}"}
    answer = client.post("/mcp", body, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)

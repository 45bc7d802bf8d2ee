"""Whatever two principals do, nothing of one is there for the other: every route answers as for what never was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.records import derive
from memory.records.models import RecordEntry
from tests.support.mcp_lab import Caller
from tests.support.records import Records
from tests.support.world import World

UNKNOWN = "sr_" + "0" * 32
#: Every route that names a record: method, path, body.
NAMING: list[tuple[str, str, Any]] = [
    ("GET", "/v1/records/{}", None),
    ("GET", "/v1/records/{}?version=0", None),
    ("GET", "/v1/records/{}?as_of=2100-01-01T00:00:00Z", None),
    ("PATCH", "/v1/records/{}", {"content": "stolen"}),
    ("PATCH", "/v1/records/{}", {"content": "stolen", "expected_version": 7}),
    ("DELETE", "/v1/records/{}", None),
    ("GET", "/v1/records/{}/history", None),
    ("POST", "/v1/records/{}/properties", {"property": "a:b"}),
    ("DELETE", "/v1/records/{}/properties?property=a:b", None),
    ("POST", "/v1/records/{}/connections", {"to": UNKNOWN, "label": "cites"}),
    ("DELETE", "/v1/records/{}/connections?to=x&label=cites", None),
    ("POST", "/v1/records/{}/corrections", {"content": "stolen"}),
    ("POST", "/v1/records/{}/adjustments", {"content": "stolen"}),
    ("POST", "/v1/records/{}/erase", {"reason": "x"}),
    ("POST", "/v1/records/{}/erase", {"reason": "x", "preview": True}),
    ("POST", "/v1/records/MINE/connections", {"to": "{}", "label": "cites"}),
    ("DELETE", "/v1/records/MINE/connections?to={}&label=cites", None),
    ("POST", "/v1/memories", {"workarea": "universe.a", "claim_key": "k", "text": "t", "evidence": [{"sr_id": "{}"}]}),
    (
        "POST",
        "/v1/memories",
        {"workarea": "universe.a", "claim_key": "k", "text": "t", "evidence": [{"sr_id": "{}", "version": 0}]},
    ),
    ("POST", "/v1/record-groups", {"name": "g", "add": ["{}"]}),
    ("POST", "/v1/record-groups", {"name": "g", "remove": ["{}"]}),
]

#: Every tool that names a record, and its arguments beside the id.
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("e_read", {}),
    ("e_read", {"version": 0}),
    ("e_update", {"content": "stolen"}),
    ("e_property", {"action": "add", "property": "a:b"}),
    ("e_property", {"action": "remove", "property": "plum:0"}),
    ("e_connect", {"to": UNKNOWN, "label": "cites"}),
    ("e_correct", {"content": "stolen"}),
    ("e_adjust", {"content": "stolen"}),
    ("e_tombstone", {}),
    ("e_audit", {}),
]

ACTS = st.lists(
    st.sampled_from(["ingest", "lane", "update", "property", "connect", "correct", "group", "tombstone"]),
    min_size=1,
    max_size=5,
)


def act(records: Records, word: str, made: list[str], number: int) -> None:
    last = made[-1] if made else None
    if word == "ingest" or last is None:
        made.append(records.ingest(f"plum {number}", properties=[f"plum:{number}"]))
    elif word == "lane":
        records.call("POST", "/v1/lanes", {"label": f"plum {number}"})
        made.append(records.ingest("plum", assign_lane=f"plum {number}"))
    elif word == "update":
        records.call("PATCH", f"/v1/records/{last}", {"content": f"plum {number} again"})
    elif word == "property":
        records.call("POST", f"/v1/records/{last}/properties", {"property": f"plum:{number}"})
    elif word == "connect":
        records.call("POST", f"/v1/records/{made[0]}/connections", {"to": last, "label": "plum"})
    elif word == "correct":
        answer = records.call("POST", f"/v1/records/{last}/corrections", {"content": "plum"})
        if answer.status_code == 201:
            made.append(answer.json()["sr_id"])
    elif word == "group":
        records.call("POST", "/v1/record-groups", {"name": "g", "add": [last]})
    else:
        records.call("DELETE", f"/v1/records/{last}")


def lanes_of(owner: Records) -> list[tuple[str, str]]:
    """Each lane of a principal, by UUID and by label, beside one of the same form that never was."""
    items = owner.call("GET", "/v1/lanes").json()["items"]
    unknown = "00000000-0000-4000-8000-000000000000"
    return [pair for one in items for pair in ((one["lane_uuid"], unknown), (one["lane"], "home/key_0"))]


@pytest.mark.django_db
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, which=st.integers(0, 10))
def test_records__of_one_principal__are_for_another_what_never_was(world: World, acts: list[str], which: int) -> None:
    owner, stranger = Records(world, world.writer), Records(world, world.writer2)
    made: list[str] = []
    for number, word in enumerate(acts):
        act(owner, word, made, number)
    sr_id = made[which % len(made)]
    mine = stranger.ingest("of my own")
    removed = stranger.call("DELETE", f"/v1/records/{mine}/connections?to={UNKNOWN}&label=cites").json()
    before = RecordEntry.objects.count()
    for method, path, body in NAMING:
        answers = []
        for name in (sr_id, UNKNOWN):
            sent = None if body is None else json.loads(json.dumps(body).replace("{}", name))
            answer = stranger.call(method, path.replace("{}", name).replace("MINE", mine), sent)
            answers.append((answer.status_code, answer.content.replace(name.encode(), b"<id>")))
        assert answers[0] == answers[1], (method, path)
    secret = world.secret[stranger.by]
    mcp = Caller(stranger.client.generic, key=secret, path="/mcp/records")
    for tool, arguments in TOOLS:
        told = [
            json.dumps(mcp.call(tool, {"sr_id": name, **arguments}).result).replace(name, "<id>")
            for name in (sr_id, UNKNOWN)
        ]
        assert told[0] == told[1], tool
    grouped = [mcp.call("e_group", {"name": "g", "add": [name]}).result for name in (sr_id, UNKNOWN)]
    assert grouped[0]["isError"] is grouped[1]["isError"] is True
    linked = [mcp.call("e_connect", {"sr_id": mine, "to": name, "label": "a"}).result for name in (sr_id, UNKNOWN)]
    assert json.dumps(linked[0]).replace(sr_id, "<id>") == json.dumps(linked[1]).replace(UNKNOWN, "<id>")
    for lane, never in lanes_of(owner):
        for path, sent in (
            ("/v1/records", {"content": "x", "assign_lane": "{}"}),
            ("/v1/records/gather", {"lanes": ["{}"]}),
            ("/v1/records/gather", {"lanes": ["{}"], "query": "plum"}),
        ):
            told = [
                stranger.call("POST", path, json.loads(json.dumps(sent).replace("{}", name))) for name in (lane, never)
            ]
            bodies = [one.content.replace(n.encode(), b"<id>") for one, n in zip(told, (lane, never), strict=True)]
            assert (told[0].status_code, bodies[0]) == (told[1].status_code, bodies[1]), path
    assert removed["changed"] == []
    assert RecordEntry.objects.count() == before
    assert stranger.call("DELETE", f"/v1/records/{mine}").status_code == 200
    derive.derive(made)
    for search in ({"query": "plum"}, {}, {"properties": ["plum:0"]}):
        assert stranger.call("POST", "/v1/records/gather", search).json()["records"] == []
        assert mcp.call("e_gather", search).result["structuredContent"]["records"] == []
    assert stranger.call("GET", "/v1/records/timeline").json() == {"records": [], "next_cursor": None}
    assert mcp.call("e_timeline", {}).result["structuredContent"]["records"] == []
    for path in ("/v1/lanes",):
        assert b"plum" not in stranger.call("GET", path).content
    assert stranger.call("POST", "/v1/record-groups", {"name": "g"}).json()["records"] == []
    assert stranger.call("POST", "/v1/records", {"content": "x", "assign_lane": "plum 1"}).status_code == 404


@pytest.mark.django_db
def test_records__of_one_principal__are_open_to_all_its_keys(world: World) -> None:
    second = world.key("writer", principal=world.writer.principal_id)
    sr_id = Records(world).ingest("ours")
    assert Records(world, second).read(sr_id)["content"] == "ours"
    assert Records(world, second).update(sr_id, content="ours again")["version"] == 1


@pytest.mark.django_db
def test_records__of_another_tenant__do_not_exist(world: World) -> None:
    other = World.build("globex")
    sr_id = Records(other).ingest("theirs")
    assert Records(world).refused_read(sr_id) == (404, "access.not_found")

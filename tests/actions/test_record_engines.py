"""Two engines write one version apart; whatever arrives first, every engine settles on the same head."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from memory.records import exchange, lanes
from memory.records.models import Record, RecordEntry, RecordProperty
from oml.core.errors import OmlError
from tests.support.records import HARD, Records
from tests.support.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


def forked(records: Records, *, engine: str, event: str = "ev_0", content: str = "theirs") -> tuple[str, list[str]]:
    """A record at version 1 here, and the line of another engine that wrote version 1 apart."""
    sr_id = records.ingest("first", properties=["a:1"])
    records.update(sr_id, content="ours", properties=["a:2"])
    last = json.loads(list(exchange.exported(records.by))[-1])
    theirs = copy.deepcopy(last)
    theirs |= {
        "engine_id": engine,
        "event_id": event,
        "content_sha256": hashlib.sha256(content.encode()).hexdigest(),
        "content": base64.b64encode(content.encode()).decode(),
        "size": len(content.encode()),
        "note": "written apart",
    }
    theirs["state"]["properties"] = [["a", "3"]]
    return sr_id, [json.dumps(theirs)]


def caches() -> list[Any]:
    return [
        list(Record.objects.order_by("sr_id").values()),
        list(RecordProperty.objects.order_by("record", "ordinal").values("record_id", "ordinal", "label", "value")),
    ]


@pytest.mark.parametrize(("engine", "wins"), [("a-engine", False), ("zz-engine", True), ("eng_zzzé", True)])
def test_head__of_one_version_by_two_engines__is_the_later_identity_bytewise(
    records: Records, engine: str, wins: bool
) -> None:
    sr_id, line = forked(records, engine=engine)
    assert exchange.import_entries(records.by, line) == {"records": 1, "entries": 1, "known": 0, "erased": 0}
    body = records.read(sr_id)
    assert (body["content"], body["version"]) == (("theirs", 1) if wins else ("ours", 1))
    assert body["properties"] == (["a:3"] if wins else ["a:2"])
    first, *twins = records.history(sr_id)
    assert not first["superseded"]
    assert [one["superseded"] for one in twins] == [True, False]
    assert twins[-1]["engine_id"] == (engine if wins else lanes.engine_id())


@pytest.mark.parametrize(("event", "wins"), [("ev_0", False), ("ev_zzz", True)])
def test_head__of_one_engine_twice__is_the_later_event(records: Records, event: str, wins: bool) -> None:
    sr_id, line = forked(records, engine=lanes.engine_id(), event=event)
    exchange.import_entries(records.by, line)
    assert records.read(sr_id)["content"] == ("theirs" if wins else "ours")


def test_import__in_both_orders__ends_in_the_same_rows(records: Records) -> None:
    sr_id, line = forked(records, engine="zz")
    ours = list(exchange.exported(records.by))
    exchange.import_entries(records.by, line)
    theirs_last = records.read(sr_id), records.history(sr_id)
    exchange.import_entries(records.by, ours)
    assert exchange.import_entries(records.by, line)["entries"] == 0
    assert (records.read(sr_id), records.history(sr_id)) == theirs_last


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_import__into_an_empty_engine__reaches_the_same_head_in_either_order(
    records: Records, world: World, order: tuple[int, int]
) -> None:
    """The fork's two versions arrive apart, each after the first version, at another principal's stand-in engine."""
    sr_id, line = forked(records, engine="zz")
    lines = list(exchange.exported(records.by))
    arrivals = [[lines[-1]], line]
    moved = [one.replace(sr_id, "sr_" + "f" * 32) for one in [*lines[:-1]]]
    exchange.import_entries(records.by, moved)
    for position in order:
        exchange.import_entries(records.by, [one.replace(sr_id, "sr_" + "f" * 32) for one in arrivals[position]])
    assert records.read("sr_" + "f" * 32)["content"] == "theirs"


def test_update__after_a_fork__continues_from_the_winner(records: Records) -> None:
    sr_id, line = forked(records, engine="zz")
    exchange.import_entries(records.by, line)
    records.update(sr_id, properties=["b:1"])
    body = records.read(sr_id)
    assert (body["version"], body["content"], body["properties"]) == (2, "theirs", ["a:3", "b:1"])


@pytest.mark.parametrize("change", [{"content": "bm90IHRoYXQ="}, {"sr_id": "sr_1"}])
def test_import__of_what_is_not_what_it_says__takes_nothing(records: Records, change: dict[str, str]) -> None:
    _, (line,) = forked(records, engine="zz")
    before = RecordEntry.objects.count()
    with pytest.raises(OmlError) as caught:
        exchange.import_entries(records.by, [line, json.dumps(json.loads(line) | change)])
    assert caught.value.code == "request.validation"
    assert RecordEntry.objects.count() == before


def test_import__of_another_principals_record__does_not_know_it(records: Records, world: World) -> None:
    _, line = forked(records, engine="zz")
    with pytest.raises(OmlError) as caught:
        exchange.import_entries(world.writer2, line)
    assert caught.value.code == "access.not_found"


def test_rebuild_records__after_every_kind_of_change__writes_the_same_rows(records: Records, tmp_path: Path) -> None:
    sr_id, line = forked(records, engine="zz")
    other = records.ingest(HARD, properties=["x:1", "y:2", "x:3"])
    records.call("POST", f"/v1/records/{other}/connections", {"to": sr_id, "label": "cites"})
    records.call("POST", f"/v1/records/{other}/corrections", {"content": "right"})
    records.call("DELETE", f"/v1/records/{sr_id}")
    (tmp_path / "theirs.jsonl").write_text("\n".join(line))
    call_command("import_records", tmp_path / "theirs.jsonl", key=records.by.key_id)
    before = caches()
    RecordProperty.objects.all().delete()
    Record.objects.filter(pk=other).update(source_type="broken", version=99)
    call_command("rebuild_records")
    assert caches() == before


def test_export_records__of_a_principal__holds_no_other(records: Records, world: World, tmp_path: Path) -> None:
    records.ingest("mine")
    records.ingest("foreign", by=world.writer2)
    call_command("export_records", tmp_path / "mine.jsonl", key=records.by.key_id)
    rows = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    assert [row.get("content") for row in rows] == [None, "bWluZQ=="]


def elsewhere(lines: list[str]) -> list[str]:
    """The same ledger under other ids: another engine's, as it arrives here."""
    text = "\n".join(lines)
    for name in {row.get("sr_id") for row in map(json.loads, lines)} - {None}:
        text = text.replace(name, "sr_" + hashlib.sha256(name.encode()).hexdigest()[:32])
    return text.split("\n")


def test_export__of_a_large_content__is_in_pieces_and_comes_back_byte_for_byte(records: Records) -> None:
    content = (HARD + "é中😀 ") * 60_000
    assert len(content.encode()) > 2 * 2**20
    sr_id = records.ingest(content)
    records.update(sr_id, properties=["a:b"])
    lines = list(exchange.exported(records.by))
    assert max(map(len, lines)) < 2 * 2**20
    assert sum("piece" in json.loads(line) for line in lines) > 2
    told = exchange.import_entries(records.by, elsewhere(lines))
    assert (told["records"], told["entries"]) == (1, 2)
    (there,) = set(Record.objects.values_list("pk", flat=True)) - {sr_id}
    assert records.read(there, version=0)["content"] == records.read(there)["content"] == content


def test_export__of_a_correction__keeps_it_pinned_elsewhere(records: Records) -> None:
    sr_id = records.ingest("wrong")
    records.call("POST", f"/v1/records/{sr_id}/corrections", {"content": "right"})
    lines = elsewhere(list(exchange.exported(records.by)))
    exchange.import_entries(records.by, lines)
    assert exchange.import_entries(records.by, lines)["entries"] == 0
    there = next(one for one in Record.objects.exclude(pk=sr_id) if records.read(one.pk)["content"] == "wrong")
    (correction,) = records.read(there.pk)["corrections"]
    assert records.read(correction)["content"] == "right"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"label": "x"}',
        '{"label": "x", "lane": "nope", "source_types": {}, "default_source_type": "observed"}',
        '{"label": "' + "x" * 101 + '"}',
        '{"sr_id": 5}',
        '{"sr_id": "sr_1"}',
        '{"sr_id": "sr_00000000000000000000000000000000"}',
        '{"piece": 0, "sr_id": "sr_00000000000000000000000000000000", "content_sha256": "0"}',
        '{"link": "other", "from": "x", "to": "y"}',
        "[" * 100_000,
    ],
)
def test_import__of_a_line_that_is_nothing__is_refused_by_its_number(records: Records, line: str) -> None:
    before = RecordEntry.objects.count()
    with pytest.raises(OmlError) as caught:
        exchange.import_entries(records.by, [line])
    assert caught.value.code == "request.validation"
    assert "line 1" in caught.value.message
    assert RecordEntry.objects.count() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", -1),
        ("version", "0"),
        ("version", True),
        ("version", 2**40),
        ("engine_id", ""),
        ("engine_id", "a\0b"),
        ("event_id", "x" * 41),
        ("written_at", "2026-10-27T14:11:08"),
        ("written_at", None),
        ("deleted", "no"),
        ("change", "content"),
        ("note", "x" * 2001),
        ("note", "\ud800"),
        ("size", 10**30),
        ("content_sha256", "0"),
        ("content", "%%%"),
        ("content", "/w=="),
        ("state", {}),
        ("state.authority", 101),
        ("state.lane", "home"),
        ("state.properties", [["a", "1"], ["a", "1"]]),
        ("state.properties", [["A B", "1"]]),
        ("state.properties", [["a"]]),
        ("state.properties", "a:1"),
        ("state.connections", [["a", 1]]),
        ("state.ingested_at", "now"),
        ("state.more", 1),
    ],
)
def test_import__of_an_entry_with_a_field_that_cannot_be__takes_nothing(
    records: Records, field: str, value: Any
) -> None:
    _, (line,) = forked(records, engine="zz")
    row = json.loads(line)
    place, _, name = field.rpartition(".")
    (row[place] if place else row)[name] = value
    before = RecordEntry.objects.count(), caches()
    with pytest.raises(OmlError) as caught:
        exchange.import_entries(records.by, [json.dumps(row)])
    assert caught.value.code == "request.validation"
    assert (RecordEntry.objects.count(), caches()) == before

"""Source records through their routes: exact bytes, a ledger of whole states, and what writes an entry."""

from __future__ import annotations

import hashlib
import json
import socket
from datetime import timedelta, timezone
from importlib import import_module

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction

from memory.records import rules
from memory.records.actions.ingest import ingest_record
from memory.records.commands import IngestCommand
from memory.records.models import ContentBlob, Lane, Record, RecordEntry
from oml.core.actor import Role
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from tests.support.journal import journalled, length
from tests.support.records import HARD, Records, body_of, code_of
from tests.support.world import World
from workareas.actions.keys import enrol_human, revoke_key
from workareas.actions.nodes import advance_status

pytestmark = pytest.mark.django_db


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


# --- content ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [HARD, " ", "\0", '{"a" :  1.0, "a":2}\n', "x" * 5000 + HARD])
def test_ingest__any_text__comes_back_byte_for_byte(records: Records, content: str) -> None:
    answer = records.call("POST", "/v1/records", {"content": content})
    assert answer.status_code == 201
    assert answer.json()["content_hash"] == hashlib.sha256(content.encode()).hexdigest()
    assert set(answer.json()) == {"sr_id", "content_hash", "ingested_at"}
    assert records.read(answer.json()["sr_id"])["content"] == content


def test_ingest__ten_megabytes__comes_back_byte_for_byte(records: Records) -> None:
    unit = HARD + 'quote " backslash \\ é 中 '
    content = (unit * (10 * 2**20 // len(unit.encode()) + 1)) + "the end   "
    assert len(content.encode()) > 10 * 2**20
    sr_id = records.ingest(content)
    assert records.read(sr_id)["content"] == content
    assert ContentBlob.objects.get(sr_id=sr_id).sha256 == hashlib.sha256(content.encode()).hexdigest()


def test_ingest__same_content_twice__is_two_records(records: Records) -> None:
    assert records.ingest("same") != records.ingest("same")
    assert Record.objects.count() == 2


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content": 1}',
        b'{"content": {"a": 1}}',
        b'{"content": ["a"]}',
        b'{"content": true}',
        b'{"content": ""}',
        b"{}",
        b'{"content": null}',
        b'{"content": "\xff"}',
        b'{"content": "\\ud800"}',
        b'{"content": "' + b"a" * 9000 + b'\\udc00"}',
        b'{"content": "' + b"a" * 9000 + b'\xc3"}',
        b'{"content": "a", "properties": ["no colon"]}',
        b'{"content": "a", "properties": [":v"]}',
        b'{"content": "a", "properties": ["A B:v"]}',
        b'{"content": "a", "other": 1}',
    ],
)
def test_ingest__what_is_no_text__is_refused_and_writes_nothing(records: Records, raw: bytes) -> None:
    before = length(records.by.tenant_id)
    answer = records.call("POST", "/v1/records", raw)
    assert (answer.status_code, code_of(answer)) == (400, "request.validation")
    assert (RecordEntry.objects.count(), length(records.by.tenant_id)) == (0, before)


def test_ingest__bad_property__is_named_by_its_position(records: Records) -> None:
    answer = records.call("POST", "/v1/records", {"content": "a", "properties": ["a:b", "c"]})
    assert answer.json()["error"]["param"] == "properties[1]"


# --- what a record carries -------------------------------------------------------------------------


def test_e_read__of_a_record__has_the_seeds_fields(records: Records) -> None:
    sent = '{"account": "Acme", "renewal": "2027-03-01", "owner": "Sarah", "seats": 240}'
    sr_id = records.ingest(sent, source_type="documentary", properties=["org:Acme", "topic:renewal"])
    body = records.read(sr_id)
    assert body == {
        "sr_id": sr_id,
        "content": sent,
        "lane": f"home/{records.by.key_id}",
        "lane_uuid": body["lane_uuid"],
        "source_type": "documentary",
        "authority_level": 80,
        "source_system": socket.gethostname(),
        "ingested_at": body["ingested_at"],
        "version": 0,
        "properties": ["org:Acme", "topic:renewal"],
    }
    assert len(sr_id) == 35 and sr_id.startswith("sr_")


def test_e_read__without_properties__leaves_them_out(records: Records) -> None:
    assert "properties" not in records.read(records.ingest("plain"))


def test_source_system__stated_reported_or_neither__in_that_order(records: Records) -> None:
    body = {"content": "a"}
    agent = {"User-Agent": "crawler/2.1"}
    stated = records.call("POST", "/v1/records", {**body, "source_system": "crm"}, **agent).json()["sr_id"]
    reported = records.call("POST", "/v1/records", body, **agent).json()["sr_id"]
    neither = records.call("POST", "/v1/records", body).json()["sr_id"]
    found = [records.read(one)["source_system"] for one in (stated, reported, neither)]
    assert found == ["crm", "crawler/2.1", socket.gethostname()]


def test_source_type__unknown_in_the_lane__is_refused(records: Records) -> None:
    answer = records.call("POST", "/v1/records", {"content": "a", "source_type": "gossip"})
    assert (answer.status_code, code_of(answer)) == (400, "record.unknown_source_type")


def test_lane__opened_with_a_type_of_its_own__takes_records_by_label_and_uuid(records: Records) -> None:
    lane = records.call(
        "POST", "/v1/lanes", {"label": "crm", "source_types": [{"name": "ticket", "authority": 65}]}
    ).json()
    for reference in ("crm", lane["lane_uuid"]):
        body = records.read(records.ingest("a", assign_lane=reference, source_type="ticket"))
        assert (body["lane"], body["lane_uuid"], body["authority_level"]) == ("crm", lane["lane_uuid"], 65)
    listed = records.call("GET", "/v1/lanes").json()["items"]
    assert [one["lane"] for one in listed] == [f"home/{records.by.key_id}", "crm"]
    assert code_of(records.call("POST", "/v1/lanes", {"label": "crm"})) == "request.validation"


def test_home_lane__of_a_new_key__is_there_before_its_first_record(records: Records, world: World) -> None:
    for actor in (world.key("reader"), world.key("writer", principal=world.writer.principal_id), world.operator):
        lane = Lane.objects.get(home_of=actor.key_id)
        assert (lane.owner_id, lane.label, lane.workarea) == (actor.principal_id, f"home/{actor.key_id}", None)
        assert dict(lane.source_types.values_list("name", "authority")) == rules.SEEDED
    human = enrol_human(world.admin, username="ada", name="Ada", password="a long enough one", role=Role.WRITER)
    assert human.home_lane.label == f"home/{human.pk}"


def test_home_lane__of_a_key_older_than_lanes__is_made_by_the_migration_or_at_its_first_record(
    records: Records, world: World
) -> None:
    older, oldest = world.key("writer"), world.key("writer")
    Lane.objects.filter(home_of__in=[older.key_id, oldest.key_id]).delete()
    assert records.read(records.ingest("a", by=oldest), by=oldest)["lane"] == f"home/{oldest.key_id}"
    for _ in range(2):
        import_module("memory.migrations.0011_home_lanes").make_missing(apps, None)
    lane = Lane.objects.get(home_of=older.key_id)
    assert (lane.owner_id, lane.label) == (older.principal_id, f"home/{older.key_id}")
    assert dict(lane.source_types.values_list("name", "authority")) == rules.SEEDED


def test_lane__in_a_validated_workarea__takes_nothing_more(records: Records, world: World) -> None:
    records.call("POST", "/v1/lanes", {"label": "place", "workarea": "universe.b"})
    sr_id = records.ingest("a", assign_lane="place")
    advance_status(world.admin, workarea=world.nodes["b"].pk, status="validated")
    for answer in (
        records.call("POST", "/v1/records", {"content": "b", "assign_lane": "place"}),
        records.call("PATCH", f"/v1/records/{sr_id}", {"content": "b"}),
        records.call("DELETE", f"/v1/records/{sr_id}"),
    ):
        assert (answer.status_code, code_of(answer)) == (409, "workarea.frozen")
    assert records.read(sr_id)["content"] == "a"


def test_write__by_a_role_that_never_writes__meets_its_ceiling(records: Records, world: World) -> None:
    for actor in (world.reader, world.admin, world.operator, world.reviewer):
        answer = records.call("POST", "/v1/records", {"content": "a"}, by=actor)
        assert (answer.status_code, code_of(answer)) == (403, "access.verb_ceiling")
    assert records.call("POST", "/v1/records", {"content": "a"}, by=world.bare_key(Role.WRITER)).status_code == 201


def test_write__by_a_key_revoked_since_it_was_presented__is_refused(records: Records, world: World) -> None:
    actor = world.key("writer")
    ingest_record(actor, command=IngestCommand("before"))
    revoke_key(world.admin, key=actor.key_id)
    with pytest.raises(OmlError) as caught:
        ingest_record(actor, command=IngestCommand("after"))
    assert (caught.value.code, RecordEntry.objects.count()) == ("auth.invalid_key", 1)


# --- update ------------------------------------------------------------------------------------------


def test_update__content_and_properties__is_one_whole_new_version(records: Records) -> None:
    sr_id = records.ingest("one", properties=["a:1", "b:1", "a:2"])
    answer = records.update(sr_id, content="two", properties=["a:3", "c:1"], note="moved on", expected_version=0)
    assert (answer["version"], answer["changed"]) == (1, ["content", "properties"])
    body = records.read(sr_id)
    assert (body["content"], body["version"], body["properties"]) == ("two", 1, ["a:3", "b:1", "c:1"])
    assert records.read(sr_id, version=0)["properties"] == ["a:1", "b:1", "a:2"]
    assert [one["note"] for one in records.history(sr_id)] == [None, "moved on"]


@pytest.mark.parametrize(
    ("present", "named", "merged"),
    [
        (["a:1"], ["b:1", "b:1"], ["a:1", "b:1"]),
        (["a:1", "b:1"], ["a:2", "a:2", "a:3"], ["a:2", "a:3", "b:1"]),
        (["a:1", "b:1", "a:2"], ["a:2"], ["a:2", "b:1"]),
        ([], ["A: x", "a:x"], ["a:x"]),
    ],
)
def test_update__properties_named_twice__are_there_once(
    records: Records, present: list[str], named: list[str], merged: list[str]
) -> None:
    sr_id = records.ingest("one", properties=present)
    assert records.update(sr_id, properties=named)["version"] == 1
    assert records.read(sr_id)["properties"] == merged


def test_update__that_changes_nothing__writes_nothing(records: Records) -> None:
    sr_id = records.ingest("one", properties=["a:1"])
    before = length(records.by.tenant_id), RecordEntry.objects.count()
    for fields in ({"content": "one"}, {"properties": ["a:1"]}, {"content": "one", "note": "only a note"}):
        assert records.update(sr_id, **fields) == {
            "sr_id": sr_id,
            "version": 0,
            "content_hash": hashlib.sha256(b"one").hexdigest(),
            "changed": [],
        }
    assert (length(records.by.tenant_id), RecordEntry.objects.count()) == before


def test_update__refusals__write_nothing(records: Records) -> None:
    sr_id = records.ingest("one")
    records.update(sr_id, content="two")
    before = RecordEntry.objects.count()
    conflict = records.call("PATCH", f"/v1/records/{sr_id}", {"content": "three", "expected_version": 0})
    assert (conflict.status_code, code_of(conflict)) == (409, "record.version_conflict")
    assert code_of(records.call("PATCH", f"/v1/records/{sr_id}", {"note": "why"})) == "request.validation"
    assert code_of(records.call("PATCH", "/v1/records/sr_x", {"content": "a"})) == "access.not_found"
    assert RecordEntry.objects.count() == before


def test_update__connections_and_links__are_left_alone(records: Records) -> None:
    sr_id, other = records.ingest("one"), records.ingest("other")
    records.call("POST", f"/v1/records/{sr_id}/connections", {"to": other, "label": "part_of"})
    correction = records.call("POST", f"/v1/records/{sr_id}/corrections", {"content": "right"}).json()["sr_id"]
    records.update(sr_id, content="two")
    body = records.read(sr_id)
    assert body["connections"] == [{"label": "part_of", "to": other}]
    assert body["corrections"] == [correction]


# --- what appends, and what does not ------------------------------------------------------------------


def test_property__added_and_removed__appends_once_each_and_never_for_nothing(records: Records) -> None:
    sr_id = records.ingest("one")
    place = f"/v1/records/{sr_id}/properties"
    for _ in range(2):
        assert records.call("POST", place, {"property": "Org: Acme Corp: north"}).json()["version"] == 1
    assert records.read(sr_id)["properties"] == ["org:Acme Corp: north"]
    for _ in range(2):
        assert records.call("DELETE", f"{place}?property=org:Acme%20Corp:%20north").json()["version"] == 2
    assert "properties" not in records.read(sr_id)
    assert [one["changed"] for one in records.history(sr_id)] == [
        ["ingested"],
        ["property added"],
        ["property removed"],
    ]
    journalled("record.property_added", once=True)
    journalled("record.property_removed", once=True)


def test_connect__and_back__appends_to_the_from_record_alone(records: Records) -> None:
    sr_id, other = records.ingest("one"), records.ingest("other")
    place = f"/v1/records/{sr_id}/connections"
    for _ in range(2):
        assert records.call("POST", place, {"to": other, "label": "cites"}).json()["version"] == 1
    assert len(records.history(other)) == 1
    for _ in range(2):
        assert records.call("DELETE", f"{place}?to={other}&label=cites").json()["version"] == 2
    assert "connections" not in records.read(sr_id)
    assert code_of(records.call("POST", place, {"to": sr_id, "label": "cites"})) == "request.validation"
    unknown = records.call("POST", place, {"to": "sr_" + "0" * 32, "label": "cites"})
    assert (code_of(unknown), unknown.json()["error"]["param"]) == ("access.not_found", "to")


def test_correct_and_adjust__pin_a_new_record__and_append_nothing_to_the_target(records: Records) -> None:
    sr_id = records.ingest("wrong", source_type="observed")
    correction = records.call("POST", f"/v1/records/{sr_id}/corrections", {"content": "right", "note": "typo"}).json()
    adjustment = records.call("POST", f"/v1/records/{sr_id}/adjustments", {"content": "now"}).json()
    assert (correction["corrects"], adjustment["adjusts"]) == (sr_id, sr_id)
    body = records.read(sr_id)
    assert (body["corrections"], body["adjustments"]) == ([correction["sr_id"]], [adjustment["sr_id"]])
    assert len(records.history(sr_id)) == 1
    assert records.history(correction["sr_id"])[0]["note"] == "typo"
    assert records.read(correction["sr_id"])["source_type"] == "observed"


def test_group__changed_and_seen__is_not_in_the_ledger(records: Records) -> None:
    one, two = records.ingest("one"), records.ingest("two")
    before = RecordEntry.objects.count()
    assert records.call("POST", "/v1/record-groups", {"name": "quotes", "add": [one, two]}).json()["records"] == [
        one,
        two,
    ]
    assert records.call("POST", "/v1/record-groups", {"name": "quotes", "remove": [one]}).json()["records"] == [two]
    assert records.call("POST", "/v1/record-groups", {"name": "quotes"}).json() == {"group": "quotes", "records": [two]}
    bad = records.call("POST", "/v1/record-groups", {"name": "quotes", "add": [two, "sr_x"]})
    assert bad.json()["error"]["param"] == "add[1]"
    assert RecordEntry.objects.count() == before


def test_tombstone__removes_from_live_reads__and_a_second_one_writes_nothing(records: Records) -> None:
    sr_id = records.ingest("one")
    first = records.call("DELETE", f"/v1/records/{sr_id}?note=gone")
    assert (first.status_code, first.json()["version"]) == (200, 1)
    assert records.call("DELETE", f"/v1/records/{sr_id}").json() == first.json()
    assert records.refused_read(sr_id) == (410, "record.tombstoned")
    assert code_of(records.call("PATCH", f"/v1/records/{sr_id}", {"content": "x"})) == "record.tombstoned"
    for path, body in (("properties", {"property": "a:b"}), ("corrections", {"content": "x"})):
        assert code_of(records.call("POST", f"/v1/records/{sr_id}/{path}", body)) == "record.tombstoned"
    last = records.history(sr_id)[-1]
    assert (last["changed"], last["note"], last["deleted"]) == (["removed"], "gone", True)
    journalled("record.tombstoned", once=True)


# --- time ---------------------------------------------------------------------------------------------


def test_as_of__before_between_after_and_after_a_tombstone(records: Records) -> None:
    sr_id = records.ingest("one")
    records.update(sr_id, content="two")
    records.call("DELETE", f"/v1/records/{sr_id}")
    written = list(RecordEntry.objects.order_by("version").values_list("written_at", flat=True))
    step = timedelta(microseconds=1)
    assert records.refused_read(sr_id, as_of=(written[0] - step).isoformat()) == (404, "access.not_found")
    assert records.read(sr_id, as_of=written[0].isoformat())["content"] == "one"
    assert records.read(sr_id, as_of=(written[1] - step).isoformat())["content"] == "one"
    elsewhere = written[1].astimezone(timezone(timedelta(hours=-5, minutes=-30)))
    assert records.read(sr_id, as_of=elsewhere.isoformat())["version"] == 1
    assert records.read(sr_id, as_of=(written[2] - step).isoformat())["content"] == "two"
    assert records.refused_read(sr_id, as_of=written[2].isoformat()) == (410, "record.tombstoned")


@pytest.mark.parametrize("as_of", ["2026-10-27T14:11:08", "2026-10-27", "yesterday", "2026-10-27T14:11:08 01:00"])
def test_as_of__without_an_offset__is_refused(records: Records, as_of: str) -> None:
    assert records.refused_read(records.ingest("one"), as_of=as_of) == (400, "request.validation")


def test_as_of__between_a_correction_and_its_target__does_not_know_it_yet(records: Records) -> None:
    sr_id = records.ingest("one")
    then = RecordEntry.objects.get().written_at
    records.call("POST", f"/v1/records/{sr_id}/corrections", {"content": "right"})
    assert "corrections" not in records.read(sr_id, as_of=then.isoformat())


def test_version__that_never_was__does_not_exist(records: Records) -> None:
    sr_id = records.ingest("one")
    for version in (1, -1, 2**40):
        assert records.refused_read(sr_id, version=version) == (404, "access.not_found")
    assert records.refused_read(sr_id, version=0, as_of="2026-10-27T14:11:08Z") == (400, "request.validation")


# --- batch --------------------------------------------------------------------------------------------


def test_batch__of_two_hundred__is_one_transaction_in_order(records: Records) -> None:
    sent = [{"content": f"fact {number}", "properties": [f"n:{number}"]} for number in range(200)]
    answer = records.call("POST", "/api/v2/ingest/batch", {"records": sent})
    assert answer.status_code == 201
    made = [one["sr_id"] for one in answer.json()["records"]]
    assert len(set(made)) == 200
    assert records.read(made[137])["content"] == "fact 137"
    assert len(journalled("record.ingested")) == 200


@pytest.mark.parametrize("size", [0, 201])
def test_batch__of_none_or_more_than_two_hundred__is_refused(records: Records, size: int) -> None:
    answer = records.call("POST", "/api/v2/ingest/batch", {"records": [{"content": "a"}] * size})
    assert (answer.status_code, code_of(answer)) == (400, "limit.batch_size")
    assert RecordEntry.objects.count() == 0


@pytest.mark.parametrize(
    ("bad", "code", "param"),
    [
        ({"content": 7}, "request.validation", "records[2].content"),
        ({"content": "a", "properties": ["x"]}, "request.validation", "records[2].properties[0]"),
        ({"content": "a", "source_type": "gossip"}, "record.unknown_source_type", "records[2].source_type"),
        ({"content": "a", "assign_lane": "nowhere"}, "access.not_found", "records[2].assign_lane"),
    ],
)
def test_batch__with_one_bad_record__writes_nothing_and_names_it(
    records: Records, bad: object, code: str, param: str
) -> None:
    answer = records.call("POST", "/api/v2/ingest/batch", {"records": [{"content": "a"}, {"content": "b"}, bad]})
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == (code, param)
    assert (RecordEntry.objects.count(), ContentBlob.objects.count()) == (0, 0)


def test_batch__retried_with_its_key__answers_again_and_writes_once(records: Records) -> None:
    body = {"records": [{"content": "a"}, {"content": "a"}], "idempotency_key": "run-1"}
    first = records.call("POST", "/api/v2/ingest/batch", body)
    again = records.call("POST", "/api/v2/ingest/batch", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {**first.json(), "idempotent_replay": True}
    assert RecordEntry.objects.count() == 2
    other = records.call("POST", "/api/v2/ingest/batch", {**body, "records": [{"content": "b"}]})
    assert code_of(other) == "request.idempotency_mismatch"


# --- the ledger and the journal ------------------------------------------------------------------------


def test_ledger__changed_behind_the_application__is_refused_by_the_database(records: Records) -> None:
    records.ingest("one")
    for statement in ("UPDATE memory_recordentry SET note = 'x'", "DELETE FROM memory_recordentry"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_journal__of_records__holds_no_word_of_them(records: Records) -> None:
    sr_id = records.ingest("kumquat secret", properties=["kumquat:label"], source_system="kumquat")
    records.update(sr_id, content="kumquat again", note="kumquat note")
    records.call("POST", f"/v1/records/{sr_id}/properties", {"property": "kumquat:two"})
    records.call("POST", "/v1/record-groups", {"name": "kumquat", "add": [sr_id]})
    records.call("DELETE", f"/v1/records/{sr_id}?note=kumquat")
    rows = JournalEntry.objects.filter(event_type__startswith="record.").order_by("seq")
    lines = list(rows.values_list("canonical", flat=True))
    digest = hashlib.sha256(b"kumquat secret").hexdigest()
    assert len(lines) == 5
    assert not any("kumquat" in line or digest in line for line in lines)
    assert [json.loads(line)["subject"].get("version") for line in lines] == [0, 1, 2, None, 3]


def test_read__large__is_streamed_and_small_is_not(records: Records) -> None:
    small = records.call("GET", f"/v1/records/{records.ingest('a')}")
    large = records.call("GET", f"/v1/records/{records.ingest('é' * 700_000)}")
    assert (small.streaming, large.streaming) == (False, True)
    assert body_of(large)["content"] == "é" * 700_000
    assert large.headers["Content-Type"] == small.headers["Content-Type"] == "application/json"

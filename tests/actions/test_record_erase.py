"""A record is erased: no word of it is left in any column, and what cites it says so."""

from __future__ import annotations

import json
import logging
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client

from memory.claims.commands import EvidenceRef
from memory.records import exchange
from memory.records.actions.erase import erase_record
from memory.records.models import ContentBlob, Record, RecordChunk, RecordEntry, RecordErasure
from oml.core.errors import OmlError
from oml.jobs import outbox
from oml.journal.verify import verify_tenant
from tests.support.api import Api
from tests.support.canary import places_of
from tests.support.journal import journalled, length
from tests.support.people import human, said
from tests.support.records import Records, body_of, code_of
from tests.support.world import World

pytestmark = pytest.mark.django_db
CANARY = "zorblaxquill"
ROLE = "oml_app_of_records"


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


def full_of_it(records: Records) -> str:
    """A record with the canary in every place that a caller words, over six versions, one of them large."""
    batch = {
        "records": [
            {"content": f"{CANARY} one", "properties": [f"who:{CANARY}"], "source_system": f"{CANARY} crm"},
            {"content": "Its neighbour in the batch."},
        ],
        "idempotency_key": "batch-1",
    }
    sr_id = str(records.call("POST", "/api/v2/ingest/batch", batch).json()["records"][0]["sr_id"])
    records.update(sr_id, content=f"{CANARY} " + "é" * 700_000 + f" {CANARY}", note=f"{CANARY} grew")
    records.update(sr_id, content=f"See #{CANARY} and https://{CANARY}.example.org", properties=[f"b:{CANARY}"])
    other = records.ingest("Another record.")
    records.call("POST", f"/v1/records/{sr_id}/connections", {"to": other, "label": f"of_{CANARY}"})
    records.call("POST", f"/v1/records/{sr_id}/properties", {"property": f"c:{CANARY}"})
    records.call("DELETE", f"/v1/records/{sr_id}/properties?property=c:{CANARY}")
    records.call("POST", "/v1/record-groups", {"name": "set", "add": [sr_id, other]})
    outbox.drain_all()
    return sr_id


def erase(world: World, sr_id: str, **fields: Any) -> dict[str, Any]:
    return erase_record(world.admin, sr_id=sr_id, reason=f"{CANARY} asked for it", **fields)


def test_erase_record__a_canary_in_every_word_of_it__is_in_no_column_and_no_log_afterwards(
    world: World, records: Records, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sr_id = full_of_it(records)
    found = set(places_of(CANARY))
    assert {
        "memory_contentpiece.data",
        "memory_recordchunk.text",
        "memory_recordentry.note",
        "memory_recordentry.state",
        "memory_recordproperty.value",
        "memory_recordtag.tag",
        "memory_record.source_system",
    } <= found
    receipt = erase(world, sr_id)
    assert places_of(CANARY) == []
    assert CANARY not in caplog.text
    assert receipt["versions"] == 6
    assert receipt["destroyed"]["contents"] == 3
    assert receipt["destroyed"]["content_bytes"] > 1_400_000
    assert all(receipt["destroyed"].values())
    outbox.drain_all()
    assert places_of(CANARY) == []
    (event,) = journalled("record.erased", once=True)
    assert event["subject"] == {"sr_id": sr_id, "version": 6}
    assert verify_tenant(world.admin.tenant_id).broken is None


def test_erase_record__as_a_preview__changes_nothing_and_says_what_the_receipt_will(
    world: World, records: Records
) -> None:
    sr_id = full_of_it(records)
    before = length(world.admin.tenant_id), RecordEntry.objects.count(), records.read(sr_id), places_of(CANARY)
    preview = erase(world, sr_id, preview=True)
    assert (length(world.admin.tenant_id), RecordEntry.objects.count(), records.read(sr_id), places_of(CANARY)) == (
        before
    )
    receipt = erase(world, sr_id)
    assert receipt.pop("erased_at")
    assert preview == {**receipt, "preview": True}


def test_erase_record__seen_by_its_owner__is_removed_and_says_so_in_every_version(
    world: World, records: Records
) -> None:
    sr_id = full_of_it(records)
    then = records.history(sr_id)[0]["written_at"]
    erase(world, sr_id)
    assert records.refused_read(sr_id) == (410, "record.tombstoned")
    for query in ({"version": 1}, {"as_of": then}):
        body = records.read(sr_id, **query)
        assert (body["content"], body["source_system"]) == (None, "")
        assert body["erased_at"] and not {"properties", "connections"} & set(body)
    history = records.history(sr_id)
    assert [one["version"] for one in history] == list(range(7))
    assert (history[-1]["changed"], history[-1]["deleted"], history[-1]["author_key"]) == (
        ["erased"],
        True,
        world.admin.key_id,
    )
    assert {one["note"] for one in history} == {None}
    for method, path, sent in (
        ("PATCH", "", {"content": "back"}),
        ("POST", "/properties", {"property": "a:b"}),
        ("POST", "/corrections", {"content": "back"}),
    ):
        assert code_of(records.call(method, f"/v1/records/{sr_id}{path}", sent)) == "record.tombstoned"
    assert sr_id not in str(records.call("POST", "/v1/records/gather", {"query": "example"}).json())
    assert sr_id not in str(records.call("GET", "/v1/records/timeline").json())
    assert sr_id not in records.call("POST", "/v1/record-groups", {"name": "set"}).json()["records"]


def test_erase_record__of_one__leaves_the_same_words_of_others(world: World, records: Records) -> None:
    mine, theirs = records.ingest(CANARY, properties=[f"a:{CANARY}"]), records.ingest(CANARY, by=world.writer2)
    twin = records.ingest(CANARY)
    outbox.drain_all()
    erase(world, mine)
    assert records.read(twin)["content"] == records.read(theirs, by=world.writer2)["content"] == CANARY
    assert RecordChunk.objects.filter(record__in=[twin, theirs]).count() == 2


def test_erase_record__of_a_removed_one__takes_what_the_tombstone_left(world: World, records: Records) -> None:
    sr_id = records.ingest(f"{CANARY}")
    records.call("DELETE", f"/v1/records/{sr_id}?note={CANARY}")
    erase(world, sr_id)
    assert places_of(CANARY) == []


def test_erase_record__with_corrections__names_them_and_leaves_them(world: World, records: Records) -> None:
    sr_id = records.ingest("wrong")
    pinned = records.call("POST", f"/v1/records/{sr_id}/corrections", {"content": "right"}).json()["sr_id"]
    assert erase(world, sr_id)["pinned"] == [pinned]
    assert records.read(pinned)["content"] == "right"


# --- who may, and who learns what ---------------------------------------------------------------------


def test_erase__over_http__is_the_administrators_alone_and_tells_nobody_what_is_there(
    world: World, records: Records
) -> None:
    sr_id = records.ingest("one")
    other = World.build("globex")
    unknown = "sr_" + "0" * 32
    bodies: dict[str, list[Any]] = {}
    for name in (sr_id, unknown):
        for by in (world.writer, world.reader, world.reviewer, world.operator, world.key("admin", on="a")):
            answer = records.call("POST", f"/v1/records/{name}/erase", {"reason": "x"}, by=by)
            assert answer.status_code in (403, 404)
            bodies.setdefault(name, []).append(answer.content)
        answer = Records(other, other.admin).call("POST", f"/v1/records/{name}/erase", {"reason": "x"})
        assert (answer.status_code, code_of(answer)) == (404, "access.not_found")
        bodies[name].append(answer.content.replace(name.encode(), b"<id>"))
    for mine, never in zip(bodies[sr_id], bodies[unknown], strict=True):
        assert mine.replace(sr_id.encode(), b"<id>") == never.replace(unknown.encode(), b"<id>")
    assert records.read(sr_id)["content"] == "one"


def test_erase__over_http__previews_and_gives_a_receipt_once(world: World, records: Records) -> None:
    sr_id = records.ingest("one")
    path = f"/v1/records/{sr_id}/erase"
    assert records.call("POST", path, {"reason": "x", "preview": True}, by=world.admin).json()["preview"] is True
    receipt = records.call("POST", path, {"reason": "x"}, by=world.admin)
    assert (receipt.status_code, receipt.json()["destroyed"]["content_bytes"]) == (200, 3)
    again = records.call("POST", path, {"reason": "x"}, by=world.admin)
    assert (again.status_code, code_of(again)) == (410, "record.tombstoned")
    assert "erased already" in again.json()["error"]["message"]
    assert code_of(records.call("POST", path, {}, by=world.admin)) == "request.validation"
    for name in ("sr_x", "sr_" + "0" * 32):
        assert code_of(records.call("POST", f"/v1/records/{name}/erase", {"reason": "x"}, by=world.admin)) == (
            "access.not_found"
        )


def test_erase__is_in_its_owners_tail__and_in_no_other(world: World, records: Records) -> None:
    sr_id = records.ingest("one")
    erase(world, sr_id)
    for by, there in ((world.writer, True), (world.writer2, False), (world.admin, False)):
        events = Api(Client()).get("events?scope=universe", key=world.secret[by]).json()["events"]
        assert ("record.erased" in [one["event_type"] for one in events]) is there


def test_erase_record__as_a_command__is_the_same_act(world: World, records: Records) -> None:
    one, two = records.ingest(CANARY), records.ingest(CANARY)
    out = StringIO()
    call_command("erase_record", one, two, "--reason", "asked", "--preview", stdout=out)
    assert f"{two}, 1 version: would go" in out.getvalue()
    assert places_of(CANARY)
    call_command("erase_record", one, two, "--reason", "asked", stdout=out)
    assert f"{one}, 1 version: erased; gone are" in out.getvalue()
    assert places_of(CANARY) == []
    with pytest.raises(CommandError, match="erased already"):
        call_command("erase_record", one, "--reason", "asked")


# --- what cites it ------------------------------------------------------------------------------------


def test_claim__that_cites_an_erased_record__says_so_and_shows_the_version_without_content(
    world: World, records: Records
) -> None:
    sr_id = records.ingest(f"{CANARY} is evidence")
    artifact = world.submit(text="A fact that stands by itself.", evidence=(EvidenceRef(sr_id, None),))
    world.scan()
    serve = world.serve(artifact)
    body_of(Records(world, world.reviewer).call("GET", f"/v1/review/serves/{serve.pk}/parts/evidence-0"))
    world.judge(serve)
    held = world.submit(text="Not reviewed yet.", evidence=(EvidenceRef(sr_id, 0),))
    world.scan()
    assert erase(world, sr_id, preview=True)["citing_claims"] == 2
    erase(world, sr_id)
    assert places_of(CANARY) == []
    api, key = Api(Client()), world.secret[world.reader]
    cited = [{"sr_id": sr_id, "version": 0, "erased": True}]
    assert api.get(f"memories/{artifact}", key=key).json()["evidence"] == cited
    hit = api.post("recall", {"query": "stands by itself", "scope": "universe.a"}, key=key).json()["hits"][0]
    assert hit["evidence"] == cited
    body = records.read(sr_id, by=world.reader, version=0)
    assert (body["content"], body["version"]) == (None, 0) and body["erased_at"]
    again = world.serve(held)
    part = body_of(Records(world, world.reviewer).call("GET", f"/v1/review/serves/{again.pk}/parts/evidence-0"))
    assert part["content"] is None and part["erased_at"]
    for by in (world.writer, world.writer2):
        with pytest.raises(OmlError) as caught:
            world.submit(by, evidence=(EvidenceRef(sr_id, 0),))
        assert (caught.value.code, caught.value.param) == ("access.not_found", "evidence[0]")


def test_evidence_page__of_an_erased_record__says_that_nothing_is_left_to_read(world: World, records: Records) -> None:
    reviewer = human(world, name="rita")
    sr_id = records.ingest(f"{CANARY} is evidence", source_system=CANARY)
    artifact = world.submit(text="A fact.", evidence=(EvidenceRef(sr_id, None),))
    world.scan()
    erase(world, sr_id)
    page = reviewer.opens(artifact)
    serve = page.request["PATH_INFO"].rsplit("/", 1)[-1]
    part = said(reviewer.get(f"/review/serves/{serve}/parts/evidence-0"))
    assert "Nothing is left to read" in part
    assert "Content as sent" not in part and CANARY not in part
    assert "Not opened" not in said(reviewer.get(f"/review/serves/{serve}"))


# --- nothing comes back -------------------------------------------------------------------------------


def test_import__of_an_export_from_before__brings_nothing_back(world: World, records: Records) -> None:
    sr_id, other = full_of_it(records), records.ingest("kept")
    lines = list(exchange.exported(records.by))
    last = next(one for one in reversed(lines) if json.loads(one).get("sr_id") == sr_id)
    later = json.loads(last) | {"version": 9, "engine_id": "zz", "event_id": "ev_z", "sr_id": sr_id}
    erase(world, sr_id)
    ContentBlob.objects.filter(sr_id=other).delete()
    told = exchange.import_entries(records.by, [*lines, json.dumps(later)])
    assert (told["erased"], told["entries"]) == (9, 0)  # six entries, two pieces of the large one, the later one
    assert places_of(CANARY) == []
    assert records.refused_read(sr_id) == (410, "record.tombstoned")
    assert records.read(other)["content"] == "kept"


def test_batch__sent_again_after_the_erasure__writes_nothing(world: World, records: Records) -> None:
    body = {"records": [{"content": CANARY}], "idempotency_key": "once"}
    sr_id = records.call("POST", "/api/v2/ingest/batch", body).json()["records"][0]["sr_id"]
    erase(world, sr_id)
    answer = records.call("POST", "/api/v2/ingest/batch", body)
    assert (answer.status_code, code_of(answer)) == (422, "request.idempotency_mismatch")
    assert places_of(CANARY) == []


def test_rebuild_records__after_an_erasure__writes_the_same_rows(world: World, records: Records) -> None:
    sr_id = full_of_it(records)
    erase(world, sr_id)
    before = list(Record.objects.order_by("sr_id").values())
    call_command("rebuild_records")
    assert list(Record.objects.order_by("sr_id").values()) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory_recordentry SET note = NULL WHERE sr_id = '{live}'",
        "UPDATE memory_recordentry SET note = 'x' WHERE sr_id = '{erased}'",
        "UPDATE memory_recordentry SET deleted = true WHERE sr_id = '{erased}'",
        "UPDATE memory_recordentry SET content_sha256 = '0' WHERE sr_id = '{erased}'",
        "UPDATE memory_recordentry SET state = '{{}}' WHERE sr_id = '{erased}'",
        "DELETE FROM memory_recordentry WHERE sr_id = '{erased}'",
        "DELETE FROM memory_recorderasure",
        "UPDATE memory_recorderasure SET erased_at = now()",
    ],
)
def test_ledger__but_for_the_words_of_what_is_erased__still_refuses_every_change(
    world: World, records: Records, statement: str
) -> None:
    erased, live = full_of_it(records), records.ingest("live", properties=["a:b"])
    erase(world, erased)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(erased=erased, live=live))


def test_forgetting__of_a_record_that_is_not_erased__is_refused(world: World, records: Records) -> None:
    live = records.ingest("live", properties=["a:b"])
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT record_entries_forget(%s)", [live])


def test_erase_record__as_the_servers_own_database_role__goes_through(world: World, records: Records) -> None:
    sr_id = full_of_it(records)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE} NOSUPERUSER NOCREATEDB NOCREATEROLE")
        call_command("database_roles", "--grant", ROLE, stdout=StringIO())
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
        try:
            erase(world, sr_id)
            for table in ("memory_recordentry", "memory_recorderasure"):
                with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
                    cursor.execute(f"UPDATE {table} SET sr_id = sr_id")
        finally:
            cursor.execute("RESET ROLE")
    assert places_of(CANARY) == []
    assert RecordErasure.objects.filter(pk=sr_id).exists()

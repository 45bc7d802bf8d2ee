"""Claims cite record versions: the reviewer reads them first, readers of the promoted claim read exactly those."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from django.test import Client

from memory.claims.commands import EvidenceRef
from memory.records.models import RecordEntry
from oml.core.actor import Actor
from oml.core.errors import OmlError
from review.actions.part import serve_part
from review.api.parts import sent
from review.models import ServedPart
from tests.support.api import Api
from tests.support.mcp_lab import Caller
from tests.support.people import human, said
from tests.support.records import HARD, Records, body_of, code_of
from tests.support.world import World
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


def cite(world: World, sr_id: str, version: int | None = None, **fields: Any) -> str:
    """Submit a claim that cites a record, and have it scanned."""
    artifact = world.submit(evidence=(EvidenceRef(sr_id, version),), **fields)
    world.scan()
    return artifact


def fetch_parts(world: World, serve_id: str, parts: list[dict[str, Any]], *, by: Actor) -> list[dict[str, Any]]:
    return [
        body_of(Records(world, by).call("GET", f"/v1/review/serves/{serve_id}/parts/{part['part']}")) for part in parts
    ]


def promote(world: World, artifact: str) -> None:
    """The whole ceremony over HTTP: serve, every part, verdict."""
    call = Records(world, world.reviewer).call
    serve = call("POST", "/v1/review/serves", {"artifact_id": artifact}).json()
    fetch_parts(world, serve["serve_id"], serve["parts"], by=world.reviewer)
    verdict = {"serve_id": serve["serve_id"], "content_digest": serve["content_digest"], "verdict": "ratify"}
    answer = call("POST", "/v1/review/verdicts", verdict)
    assert answer.json()["state"] == "promoted", answer.content


def refusal(world: World, *refs: EvidenceRef, by: Actor | None = None) -> tuple[str, str | None]:
    with pytest.raises(OmlError) as caught:
        world.submit(by, evidence=refs)
    return caught.value.code, caught.value.param


# --- submission -----------------------------------------------------------------------------------------


def test_submit__citing_a_record__signs_version_and_digest(world: World, records: Records) -> None:
    sr_id = records.ingest("one")
    records.update(sr_id, content="two")
    for version, cited in ((None, 1), (0, 0)):
        row = world.row(cite(world, sr_id, version))
        payload = json.loads(base64.b64decode(json.loads(row.envelope)["payload"]))
        entry = RecordEntry.objects.get(sr_id=sr_id, version=cited)
        assert payload["evidence"] == [{"sr_id": sr_id, "version": cited, "sha256": entry.content_sha256}]
        assert row.evidence.get().entry == entry


def test_submit__citing_what_it_cannot_read__names_the_position(world: World, records: Records) -> None:
    mine, gone = records.ingest("mine"), records.ingest("gone")
    records.call("DELETE", f"/v1/records/{gone}")
    theirs = records.ingest("theirs", by=world.writer2)
    good = EvidenceRef(mine)
    unknown = EvidenceRef("sr_" + "0" * 32)
    for bad in (EvidenceRef(theirs), EvidenceRef(theirs, 0), unknown, EvidenceRef("x"), EvidenceRef(mine, 1)):
        assert refusal(world, good, bad) == ("access.not_found", "evidence[1]")
    assert refusal(world, EvidenceRef(gone)) == ("access.not_found", "evidence[0]")
    assert refusal(world, good, EvidenceRef(mine, 0)) == ("request.validation", "evidence[1]")


def test_submit__over_mcp__cites_as_over_http(world: World, records: Records, client: Client) -> None:
    sr_id = records.ingest("one")
    arguments = {
        "workarea": "universe.a",
        "claim_key": "k",
        "text": "A fact.",
        "evidence": [{"sr_id": sr_id}],
        "idempotency_key": "run-1",
    }
    secret = world.secret[world.writer]
    first = Caller(client.generic, key=secret).call("oml_remember", arguments).result["structuredContent"]
    again = Api(client).post("memories", arguments, key=secret).json()
    assert again == {**first, "idempotent_replay": True}


# --- review ---------------------------------------------------------------------------------------------


def test_verdict__before_every_part_was_sent__does_not_count_and_does_not_consume(
    world: World, records: Records
) -> None:
    first, second = records.ingest(HARD), records.ingest("é" * 700_000)
    artifact = world.submit(evidence=(EvidenceRef(first), EvidenceRef(second)))
    world.scan()
    call = Records(world, world.reviewer).call
    serve = call("POST", "/v1/review/serves", {"artifact_id": artifact}).json()
    assert [(part["kind"], part["served"]) for part in serve["parts"]] == [("evidence", False)] * 2
    assert [part["size_bytes"] for part in serve["parts"]] == [len(HARD.encode()), 1_400_000]
    verdict = {"serve_id": serve["serve_id"], "content_digest": serve["content_digest"], "verdict": "ratify"}
    for done in range(2):
        for word in ("ratify", "reject"):
            answer = call("POST", "/v1/review/verdicts", {**verdict, "verdict": word, "reason_code": "wrong"})
            assert (answer.status_code, code_of(answer)) == (409, "review.parts_unserved")
        body = body_of(call("GET", serve["parts"][done]["url"]))
        assert body["content"] == (HARD, "é" * 700_000)[done]
    assert call("POST", "/v1/review/verdicts", verdict).json()["state"] == "promoted"


def test_part__begun_and_broken_off__is_not_served(world: World, records: Records) -> None:
    artifact = cite(world, records.ingest("é" * 700_000))
    serve = world.serve(artifact)
    pieces = sent(serve_part(world.reviewer, serve_id=serve.pk, part="evidence-0"))
    assert len(next(pieces)) > 0
    pieces.close()
    assert not ServedPart.objects.exists()


def test_part__asked_for_with_head__was_shown_to_nobody(world: World, records: Records) -> None:
    artifact = cite(world, records.ingest("as cited"))
    serve = world.serve(artifact)
    api = Records(world, world.reviewer).call("HEAD", f"/v1/review/serves/{serve.pk}/parts/evidence-0")
    reviewer = human(world, name="rita")
    place = reviewer.opens(cite(world, records.ingest("another"))).request["PATH_INFO"].rsplit("/", 1)[-1]
    page = reviewer.client.head(f"/review/serves/{place}/parts/evidence-0")
    assert (api.status_code, page.status_code) == (200, 200)
    assert not ServedPart.objects.exists()


def test_part__of_another_reviewer_or_unknown__does_not_exist(world: World, records: Records) -> None:
    artifact = cite(world, records.ingest("one"))
    serve = world.serve(artifact)
    for by, place in (
        (world.reviewer2, f"{serve.pk}/parts/evidence-0"),
        (world.reviewer, f"{serve.pk}/parts/evidence-1"),
        (world.reviewer, "srv_x/parts/evidence-0"),
    ):
        answer = Records(world, by).call("GET", f"/v1/review/serves/{place}")
        assert (answer.status_code, code_of(answer)) == (404, "access.not_found")
    assert Records(world, world.writer).call("GET", f"/v1/review/serves/{serve.pk}/parts/evidence-0").status_code == 403


def test_part__changed_by_its_owner_after_the_serve__is_still_what_was_cited(world: World, records: Records) -> None:
    sr_id = records.ingest("as cited")
    artifact = cite(world, sr_id)
    serve = world.serve(artifact)
    records.update(sr_id, content="changed")
    records.call("DELETE", f"/v1/records/{sr_id}")
    (body,) = fetch_parts(world, serve.pk, [{"part": "evidence-0"}], by=world.reviewer)
    assert (body["content"], body["version"]) == ("as cited", 0)
    assert world.judge(serve)["state"] == "promoted"


def test_item_page__with_evidence__opens_it_in_the_browser_before_the_verdict(world: World, records: Records) -> None:
    reviewer = human(world, name="rita")
    artifact = cite(world, records.ingest("Evidence <b>as sent</b>."))
    page = reviewer.opens(artifact)
    assert "Not opened" in said(page)
    serve = page.request["PATH_INFO"].rsplit("/", 1)[-1]
    part = reviewer.get(f"/review/serves/{serve}/parts/evidence-0")
    assert "Evidence &lt;b&gt;as sent&lt;/b&gt;." in part.content.decode()
    assert "Not opened" not in said(reviewer.get(f"/review/serves/{serve}"))


# --- readers --------------------------------------------------------------------------------------------


def disclosure(world: World, sr_id: str, *, by: Actor, **query: Any) -> str:
    answer = Records(world, by).client.get(
        f"/v1/records/{sr_id}", query, headers={"Authorization": f"Bearer {world.secret[by]}"}
    )
    return str(body_of(answer)["content"]) if answer.status_code == 200 else code_of(answer)


def test_readers__of_a_promoted_claim__read_the_cited_version_and_nothing_else(world: World, records: Records) -> None:
    sr_id = records.ingest("zero", properties=["a:1"])
    records.update(sr_id, content="one")
    records.update(sr_id, content="two")
    records.call("POST", f"/v1/records/{sr_id}/corrections", {"content": "private correction"})
    artifact = cite(world, sr_id, 1)
    for by in (world.reader, world.reviewer, world.writer2):
        assert disclosure(world, sr_id, by=by, version=1) == "access.not_found"
    promote(world, artifact)
    for by in (world.reader, world.writer2):
        assert disclosure(world, sr_id, by=by, version=1) == "one"
        for query in ({}, {"version": 0}, {"version": 2}, {"as_of": "2100-01-01T00:00:00Z"}):
            assert disclosure(world, sr_id, by=by, **query) == "access.not_found"
        history = Records(world, by).call("GET", f"/v1/records/{sr_id}/history")
        assert code_of(history) == "access.not_found"
    body = Records(world, world.reader).read(sr_id, version=1)
    assert body["properties"] == ["a:1"]
    assert not {"corrections", "connections"} & set(body)
    claim = Api(Client()).get(f"memories/{artifact}", key=world.secret[world.reader]).json()
    assert claim["evidence"] == [{"sr_id": sr_id, "version": 1}]
    asked = {"query": "fact", "scope": "universe.a"}
    hit = Api(Client()).post("recall", asked, key=world.secret[world.reader]).json()["hits"][0]
    assert hit["evidence"] == [{"sr_id": sr_id, "version": 1}]


def test_readers__out_of_the_claims_reach__do_not_see_it(world: World, records: Records) -> None:
    sr_id = records.ingest("one")
    promote(world, cite(world, sr_id, on="a.team"))
    elsewhere, denied = world.key("reader", on="b"), world.key("reader")
    world.deny(denied, Capability.READER, on="a.team")
    for by in (elsewhere, denied):
        assert disclosure(world, sr_id, by=by, version=0) == "access.not_found"


def test_readers__after_tombstone_and_update_by_the_owner__still_read_it(world: World, records: Records) -> None:
    sr_id = records.ingest("as cited")
    promote(world, cite(world, sr_id))
    records.update(sr_id, content="changed")
    records.call("DELETE", f"/v1/records/{sr_id}")
    assert disclosure(world, sr_id, by=world.reader, version=0) == "as cited"
    assert records.refused_read(sr_id) == (410, "record.tombstoned")


@pytest.mark.parametrize("end", ["demote", "erase"])
def test_readers__after_demote_or_erase__no_longer_read_it(world: World, records: Records, end: str) -> None:
    sr_id = records.ingest("as cited")
    artifact = cite(world, sr_id)
    promote(world, artifact)
    answer = Api(Client()).post(f"memories/{artifact}/{end}", {"reason": "x"}, key=world.secret[world.admin])
    assert answer.status_code == 200
    assert disclosure(world, sr_id, by=world.reader, version=0) == "access.not_found"
    assert records.read(sr_id)["content"] == "as cited"


def test_readers__with_two_claims_citing_it__lose_it_with_the_last(world: World, records: Records) -> None:
    sr_id = records.ingest("as cited")
    artifacts = [cite(world, sr_id), cite(world, sr_id)]
    for artifact in artifacts:
        promote(world, artifact)
    for artifact, left in zip(artifacts, ("as cited", "access.not_found"), strict=True):
        Api(Client()).post(f"memories/{artifact}/demote", {"reason": "x"}, key=world.secret[world.admin])
        assert disclosure(world, sr_id, by=world.reader, version=0) == left


def test_submit__citing_what_a_promoted_claim_discloses__passes_it_on(world: World, records: Records) -> None:
    sr_id = records.ingest("as cited")
    promote(world, cite(world, sr_id))
    assert world.submit(world.writer2, evidence=(EvidenceRef(sr_id, 0),))
    assert refusal(world, EvidenceRef(sr_id), by=world.writer2) == ("access.not_found", "evidence[0]")


def test_new_version__with_its_own_evidence__replaces_what_is_disclosed(world: World, records: Records) -> None:
    old, new = records.ingest("old"), records.ingest("new")
    artifact = cite(world, old)
    promote(world, artifact)
    body = {"text": "Second version.", "evidence": [{"sr_id": new}]}
    made = Api(Client()).post(f"memories/{artifact}/versions", body, key=world.secret[world.writer]).json()
    world.scan()
    promote(world, made["artifact_id"])
    assert disclosure(world, new, by=world.reader, version=0) == "new"
    assert disclosure(world, old, by=world.reader, version=0) == "access.not_found"

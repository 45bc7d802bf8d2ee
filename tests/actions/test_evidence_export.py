"""Evidence export: who may, what is in it, what must not be, that it says the same twice and outlives an erasure."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.models import Artifact
from memory.claims.states import Kind
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from memory.recall import readlog
from memory.recall.sealing import seal_read_logs
from oml.core.actor import Actor
from oml.core.canonical import canonical_json
from oml.core.errors import OmlError
from oml.journal.checkpoint import between, latest, make_checkpoint
from oml.journal.hashing import GENESIS, chain_hash, leaf_hash
from oml.journal.models import Checkpoint, JournalEntry, JournalHead, JournalSubtree
from review.actions.edge_serve import serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.actions.verdict import VerdictCommand
from review.evidence.bundle import Scope, Signed, write_bundle
from review.evidence.export import export_evidence
from review.models import Serve, Verdict
from review.policy import ReasonCode, VerdictWord
from tests.support import verifier
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.actions.nodes import allow_relaxed_review, set_policy
from workareas.actions.simulations import change_audience, close_simulation, create_simulation
from workareas.ladder import Status
from workareas.models import Workarea
from workareas.policy import Policy, effective
from workareas.selectors.policies import effective_policy
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, settings: Any) -> Path:
    settings.OML_CHECKPOINT_DIR = tmp_path / "kept"
    return tmp_path / "kept"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return verifier.write_keys(tmp_path / "keys.json")


def export(actor: Actor, **options: Any) -> bytes:
    with export_evidence(actor, **options).file as file:
        return file.read()


def members(bundle: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(bundle)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rows(bundle: bytes, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in members(bundle)[name].splitlines()]


def manifest(bundle: bytes) -> dict[str, Any]:
    envelope = json.loads(members(bundle)["manifest.dsse.json"])
    return dict(json.loads(base64.b64decode(envelope["payload"])))


def findings(bundle: bytes, keys: Path, **options: Any) -> list[str]:
    from oml_verify.bundle import verify_bundle
    from oml_verify.keys import read_keys

    path = keys.with_name("bundle.zip")
    path.write_bytes(bundle)
    return [str(one) for one in verify_bundle(path, read_keys(keys), **options).findings]


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_export_evidence__by_an_admin__is_journalled_with_its_digest_and_verifies(world: World, keys: Path) -> None:
    world.promoted()
    head = length(world.admin.tenant_id)
    bundle = export(world.admin)
    (record,) = journalled("evidence.exported", once=True)
    assert record["subject"] == {"scope": world.nodes["universe"].pk}
    assert record["payload"] == {
        "from_seq": 1,
        "to_seq": head,
        "checkpoint_size": head,
        "bundle_sha256": hashlib.sha256(bundle).hexdigest(),
    }
    assert record["actor"]["key"] == world.admin.key_id
    newest = latest(world.admin.tenant_id)
    assert newest is not None and newest.size == head, "a checkpoint is made at every export"
    assert findings(bundle, keys) == []


def test_export_evidence__same_range_checkpoint_and_rows__is_the_same_byte_for_byte(world: World) -> None:
    world.promoted()
    world.reject(scanned(world))
    tenant = world.admin.tenant_id
    made = make_checkpoint(tenant)
    assert made is not None
    root = world.nodes["universe"]
    scope = Scope(root, tuple(Workarea.objects.filter(tenant_id=tenant)), whole=True)
    written = []
    for _ in range(2):
        target = BytesIO()
        checkpoint = Signed(made.size, bytes(made.root), made.note)
        digest = write_bundle(target, tenant, scope=scope, from_seq=3, to_seq=made.size - 2, checkpoint=checkpoint)
        assert digest == hashlib.sha256(target.getvalue()).hexdigest()
        written.append(target.getvalue())
    assert written[0] == written[1]


def scanned(world: World, **fields: Any) -> str:
    artifact = world.submit(**fields)
    world.scan()
    return artifact


def test_export_evidence__verdicts_with_reviewer_and_reason__and_no_memory_text(world: World) -> None:
    world.promoted(text="CANARY-TEXT in a promoted memory")
    world.reject(scanned(world, text="CANARY-TEXT in a rejected one"))
    world.submit(text="CANARY-TEXT in a held one")
    bundle = export(world.admin)
    assert b"CANARY-TEXT" not in bundle
    words = {(row["verdict"], row["reason"], row["reviewer"]["key"]) for row in rows(bundle, "verdicts.ndjson")}
    assert words == {
        ("ratify", None, world.reviewer.key_id),
        ("reject", "It is wrong.", world.reviewer.key_id),
    }
    assert {row["state"] for row in rows(bundle, "artifacts.ndjson")} == {"promoted", "rejected", "held"}


def test_export_evidence__after_an_erasure__still_verifies_and_holds_no_word_of_it(world: World, keys: Path) -> None:
    gone = world.promoted(text="CANARY-TEXT to be erased")
    stays = world.promoted(text="Another memory")
    rejected = scanned(world, text="CANARY-TEXT to be rejected and erased")
    serve = world.serve(rejected)
    world.judge(serve, word=VerdictWord.REJECT, reason_code=ReasonCode.WRONG, reason="CANARY-REASON of a verdict")
    demote_memory(world.admin, artifact=gone, reason="CANARY-REASON of a demotion")
    before = export(world.admin)
    assert b"CANARY-REASON of a verdict" in before and b"CANARY-REASON of a demotion" in before
    for artifact in (gone, rejected):
        erase_memory(world.admin, artifact=artifact, reason="CANARY-REASON of an erasure")
    after = export(world.admin)
    assert b"CANARY" not in after
    assert findings(after, keys) == []
    erased = {row["artifact_id"]: row for row in rows(after, "artifacts.ndjson") if row["erased"]}
    assert set(erased) == {gone, rejected}
    assert all(row["text_sha256"] and row["envelope"] for row in erased.values())
    assert not next(row for row in rows(after, "artifacts.ndjson") if row["artifact_id"] == stays)["erased"]


def test_export_evidence__of_a_subtree__shows_the_rest_as_hashes_alone(world: World, keys: Path) -> None:
    inside, outside = world.promoted(on="a.team"), world.promoted(on="ab")
    sibling = world.promoted(on="b")
    bundle = export(world.admin, scope="universe.a")
    assert findings(bundle, keys) == []
    assert inside.encode() in bundle
    for foreign in (outside, sibling, world.nodes["ab"].pk, world.nodes["b"].pk, world.writer2.key_id):
        assert foreign.encode() not in bundle
    assert [row["artifact_id"] for row in rows(bundle, "artifacts.ndjson")] == [inside]
    said = manifest(bundle)
    assert said["scope"] == {"workarea": world.nodes["a"].pk, "path": "universe.a", "whole": False}
    assert said["redacted"] == sum(b'"redacted"' in line for line in members(bundle)["entries.ndjson"].splitlines()) > 0
    (record,) = journalled("evidence.exported")
    assert record["workarea"] == world.nodes["a"].pk


def test_export_evidence__a_node_further_down_is_denied__stays_dark(world: World, keys: Path) -> None:
    hidden = world.promoted(on="a.team")
    world.deny(world.admin, Capability.ADMIN, on="a.team")
    bundle = export(world.admin)
    assert hidden.encode() not in bundle
    assert findings(bundle, keys) == []


def test_export_evidence__rows_of_a_simulation__are_hashes_outside_its_audience(world: World, keys: Path) -> None:
    inside = [actor.key_id for actor in (world.writer, world.reviewer)]
    drill = create_simulation(world.admin, name="drill", audience=inside).pk
    simulated = world.submit(text="In the drill.", simulation_id=drill)
    world.scan()
    world.ratify(simulated)
    demote_memory(world.admin, artifact=simulated, reason="the drill is over")
    real = world.promoted()
    dark = export(world.admin)
    assert {row["artifact_id"] for row in rows(dark, "artifacts.ndjson")} == {real}
    assert [row["item_id"] for row in rows(dark, "verdicts.ndjson")] == [real]
    assert rows(dark, "reasons.ndjson") == []
    assert simulated not in str(members(dark)["entries.ndjson"])
    assert manifest(dark)["redacted"] == 6
    assert findings(dark, keys) == []
    change_audience(world.admin, simulation=drill, add=[world.admin.key_id])
    told = export(world.admin)
    assert {row["artifact_id"] for row in rows(told, "artifacts.ndjson")} == {simulated, real}
    assert (manifest(told)["redacted"], findings(told, keys)) == (0, [])
    close_simulation(world.admin, simulation=drill)
    assert simulated not in str(members(export(world.admin))["entries.ndjson"])


@pytest.mark.parametrize("actor, code", [("writer", "access.verb_ceiling"), ("reviewer", "access.verb_ceiling"),
                                         ("operator", "access.verb_ceiling")])  # fmt: skip
def test_export_evidence__by_others__is_refused_and_not_journalled(world: World, actor: str, code: str) -> None:
    before = length(world.admin.tenant_id)
    with pytest.raises(OmlError) as refused:
        export(getattr(world, actor))
    assert refused.value.code == code
    assert length(world.admin.tenant_id) == before


def test_export_evidence__scope_or_range_that_is_none__is_refused(world: World) -> None:
    head = length(world.admin.tenant_id)
    admin = world.key("admin", on="a")
    assert_refused(lambda: export(admin, scope="universe.b"), "access.not_found")
    assert_refused(lambda: export(admin), "access.forbidden")
    assert_refused(lambda: export(world.admin, scope="universe.nowhere"), "access.not_found")
    for options in ({"from_seq": 0}, {"to_seq": head + 100}, {"from_seq": 9, "to_seq": 8}, {"from_seq": head + 100}):
        assert_refused(lambda options=options: export(world.admin, **options), "request.validation")
    assert findings_of_range(world, 5, 5)["from_seq"] == 5


def assert_refused(call: Callable[[], object], code: str) -> None:
    with pytest.raises(OmlError) as refused:
        call()
    assert refused.value.code == code


def findings_of_range(world: World, first: int, last: int) -> dict[str, Any]:
    return manifest(export(world.admin, from_seq=first, to_seq=last))


@pytest.mark.parametrize("first, last", [(1, 1), (2, 9), (8, 8), (17, 33), (32, None), (30, None)])
def test_export_evidence__any_slice__verifies_against_the_whole_journals_checkpoint(
    world: World, keys: Path, first: int, last: int | None
) -> None:
    world.promoted()
    bundle = export(world.admin, from_seq=first, to_seq=last)
    assert findings(bundle, keys) == []
    assert manifest(bundle)["checkpoint"]["size"] >= manifest(bundle)["to_seq"]


def test_export_evidence__up_to_the_quotation_of_the_last_checkpoint__makes_one_that_covers_it(
    world: World, keys: Path
) -> None:
    make_checkpoint(world.admin.tenant_id)
    head = length(world.admin.tenant_id)
    bundle = export(world.admin, to_seq=head)
    assert manifest(bundle)["to_seq"] == head
    assert findings(bundle, keys) == []


def test_export_evidence__self_signed_work__is_marked_in_every_place(world: World, keys: Path) -> None:
    relaxed = World.build("besra", committed=False)
    allow_relaxed_review(relaxed.admin, allowed=True)
    alone = relaxed.key("reviewer", principal=relaxed.writer.principal_id)
    artifact = relaxed.submit()
    relaxed.scan()
    relaxed.ratify(artifact, by=alone)
    bundle = export(relaxed.admin)
    assert [row["self_signed"] for row in rows(bundle, "artifacts.ndjson")] == [True]
    assert [row["self_signed"] for row in rows(bundle, "verdicts.ndjson")] == [True]
    assert findings(bundle, keys) == []
    code, printed = verifier.run("bundle", keys.with_name("bundle.zip"), "--keys", keys)
    assert code == 0 and "1 self-signed" in printed


def test_export_evidence__closure_reads_policies_and_reciprocity__are_there(world: World, keys: Path) -> None:
    source = world.promoted()
    derived = world.learn(sources=[source])
    world.scan()
    world.ratify(derived, by=world.reviewer2)
    for _ in range(3):
        readlog.record(world.reader, surface="recall", workarea_id=world.nodes["a"].pk, query="q", returned=[source])
    seal_read_logs()
    readlog.record(world.reader, surface="recall", workarea_id=world.nodes["a"].pk, query="q", returned=[source])
    bundle = export(world.admin)
    closures = {row["artifact_id"]: row["closure"] for row in rows(bundle, "closures.ndjson")}
    author = {"key": world.writer.key_id, "principal": world.writer.principal_id}
    assert closures == {source: [], derived: [{"artifact_id": source, "author": author}]}
    reads = json.loads(members(bundle)["reads.json"])
    assert [row["reads"] for row in reads["counts"]] == [3], "only sealed reads are counted"
    assert reads["seals"][0]["count"] == 3
    policies = {row["path"]: row for row in rows(bundle, "policies.ndjson")}
    assert policies["universe.a"]["effective"]["min_verdicts"] == 1
    pairs = json.loads(members(bundle)["reciprocity.json"])["pairs"]
    assert {pair["finding"] for pair in pairs} == {"insufficient data"}
    assert findings(bundle, keys) == []


def test_export_evidence__of_a_workarea__counts_the_sealed_reads_that_asked_about_it_and_below(
    world: World, keys: Path
) -> None:
    def reads(node: str, times: int) -> None:
        for _ in range(times):
            readlog.record(world.reader, surface="recall", workarea_id=world.nodes[node].pk, query="q", returned=[])

    before = length(world.admin.tenant_id)
    for node, times in (("a", 1), ("a.team", 2), ("b", 4), ("universe", 8)):
        reads(node, times)
    seal_read_logs()
    sealed = length(world.admin.tenant_id)
    reads("a", 16)
    world.promoted()
    local = world.key("admin", on="a")
    for actor, scope, counted in ((world.admin, "universe.a", [3]), (local, "universe.a", [3]), (local, "a.team", [2])):
        bundle = export(actor, scope=world.nodes[scope.removeprefix("universe.")].pk)
        found = json.loads(members(bundle)["reads.json"])
        assert [row["reads"] for row in found["counts"]] == counted
        assert {(row["key"], row["surface"]) for row in found["counts"]} == {(world.reader.key_id, "recall")}
        assert found["seals"] == [], "a seal is of the whole tenant's reads, and belongs to no node"
        assert findings(bundle, keys) == []
    earlier = json.loads(members(export(local, scope="universe.a", to_seq=before))["reads.json"])
    assert earlier["counts"] == [], "sealed later than the slice"
    later = json.loads(members(export(local, scope="universe.a", from_seq=sealed + 1))["reads.json"])
    assert later["counts"] == [], "sealed before the slice"


# What a dishonest deployment could put into a bundle that it signs itself: rows against the journal.


def test_export_evidence__entries_alone__tell_the_policy_that_stood_at_each_verdict(world: World) -> None:
    stood: list[Policy] = []

    def judged() -> None:
        artifact = scanned(world)
        stood.append(effective_policy(Workarea.objects.select_related("tenant").get(pk=world.nodes["a"].pk)))
        world.ratify(artifact)

    def set_to(node: str, **settings: Any) -> None:
        set_policy(world.admin, workarea=world.nodes[node].pk, settings=settings)

    judged()
    set_to("universe", min_verdicts=3, serve_ttl_s=60)
    judged()
    set_to("a", min_verdicts=1, reason_required=True)
    judged()
    allow_relaxed_review(world.admin, allowed=True)
    set_to("universe", serve_ttl_s=None)
    judged()
    set_to("a", min_verdicts=None)
    judged()
    root, node, tenant = world.nodes["universe"].pk, world.nodes["a"].pk, world.admin.tenant_id
    known: dict[str, dict[str, Any]] = {root: {}, node: {}, tenant: {"relaxed_review": False}}
    versions = {root: 0, node: 0}
    told = []
    for record in map(json.loads, members(export(world.admin))["entries.ndjson"].splitlines()):
        if record["event_type"] == "policy.changed":
            about, payload = record["subject"]["policy_of"], record["payload"]
            assert payload["before"] == {name: known[about].get(name) for name in payload["after"]}
            known[about] |= payload["after"]
            versions[about] = payload["version"]
        elif record["event_type"] == "review.verdict":
            relaxed, version = known[tenant]["relaxed_review"], versions[root] + versions[node]
            chain = [known[root], known[node]]
            told.append(effective(chain, tenant_relaxed=relaxed, status=Status.COMMITTED, version=version))
    assert told == stood


def retouched_verdict(world: World, artifact: str) -> None:
    Verdict.objects.filter(artifact_id=artifact).update(reviewer_key_id=world.reviewer2.key_id)


def lost_verdict(world: World, artifact: str) -> None:
    Verdict.objects.filter(artifact_id=artifact).delete()


def lost_serve(world: World, artifact: str) -> None:
    lost_verdict(world, artifact)
    Serve.objects.filter(artifact_id=artifact).delete()


def unmarked(world: World, artifact: str) -> None:
    Artifact.objects.filter(pk=artifact).update(self_signed=True)


def another_author(world: World, artifact: str) -> None:
    Artifact.objects.filter(pk=artifact).update(author_key_id=world.writer2.key_id)


def another_kind(world: World, artifact: str) -> None:
    Artifact.objects.filter(pk=artifact).update(kind=Kind.STEERING)


def another_envelope(world: World, artifact: str) -> None:
    other = world.promoted()
    Artifact.objects.filter(pk=artifact).update(envelope=Artifact.objects.get(pk=other).envelope)


def verdict_for_submission(world: World, artifact: str) -> None:
    """One signed document passed off as another: the payload type is part of what is signed."""
    verdict = Verdict.objects.get(artifact_id=artifact)
    Artifact.objects.filter(pk=artifact).update(envelope=verdict.envelope)


def smaller_closure(world: World, artifact: str) -> None:
    Artifact.objects.filter(pk=artifact).update(closure=[])


ROWS = [
    (retouched_verdict, "review.verdict"),
    (lost_verdict, "review.verdict"),
    (lost_serve, "review.served"),
    (unmarked, "lifecycle.promote"),
    (another_author, "submission.learn"),
    (another_kind, "submission.learn"),
    (another_envelope, "submission.learn"),
    (verdict_for_submission, "submission.learn"),
    (smaller_closure, "lifecycle.promote"),
]


@pytest.mark.parametrize("change, event", ROWS, ids=[change.__name__ for change, _ in ROWS])
def test_verify__rows_that_contradict_the_journal__are_named_by_their_entry(
    world: World, keys: Path, change: Callable[[World, str], None], event: str
) -> None:
    source = world.promoted()
    artifact = world.learn(sources=[source])
    world.scan()
    world.ratify(artifact)
    change(world, artifact)
    found = findings(export(world.admin), keys)
    entries = JournalEntry.objects.filter(subject_id=artifact, event_type=event)
    assert any(finding.startswith(f"seq {entries.get().seq}: ") for finding in found), found


def test_verify__ratified_by_its_author_behind_the_gates_back__is_named(world: World, keys: Path) -> None:
    """R2 in evidence: the rows agree with each other, and they show what must never be."""
    artifact = world.promoted()
    entry = JournalEntry.objects.get(subject_id=artifact, event_type="review.verdict")
    Artifact.objects.filter(pk=artifact).update(
        author_key_id=world.reviewer.key_id, author_principal_id=world.reviewer.principal_id
    )
    found = findings(export(world.admin), keys)
    assert any("(R2)" in finding and finding.startswith(f"seq {entry.seq + 1}") for finding in found), found


def ratified_edge(world: World) -> str:
    source, target = world.promoted(), world.promoted()
    command = ProposeCommand(EdgeKind.CLAIM, "supports", source, target)
    edge = str(propose_edge(world.key("proposer"), command=command)["edge_id"])
    serve = serve_edge(world.reviewer, edge=edge)
    word = VerdictCommand(serve_id=serve.pk, content_digest=serve.content_digest, verdict=VerdictWord.RATIFY)
    give_edge_verdict(world.reviewer, command=word)
    return edge


def test_export_evidence__an_edge_with_its_serve_and_verdict__verifies(world: World, keys: Path) -> None:
    edge = ratified_edge(world)
    bundle = export(world.admin)
    assert edge in {row["item_id"] for row in rows(bundle, "serves.ndjson")}
    assert edge in {row["item_id"] for row in rows(bundle, "verdicts.ndjson")}
    assert findings(bundle, keys) == []


def test_verify__an_edge_ratified_by_its_proposer__is_named(world: World, keys: Path) -> None:
    """The journal itself says so, whatever the gate should have done."""
    edge = ratified_edge(world)
    proposed, *_, ratified = JournalEntry.objects.filter(subject_id=edge).order_by("seq")
    sql("ALTER TABLE journal_journalentry DISABLE TRIGGER USER")
    actor = json.loads(ratified.canonical)["actor"]
    row = JournalEntry.objects.get(pk=proposed.pk)
    row.canonical = canonical_json(json.loads(row.canonical) | {"actor": actor}).decode()
    row.save()
    forge_the_past(world.admin.tenant_id)
    found = findings(export(world.admin), keys)
    assert f"seq {ratified.seq}: an edge ratified by its proposer (R2)" in found


def test_verify__owner_rewrites_everything_and_exports__passes_alone_and_fails_against_a_kept_checkpoint(
    world: World, keys: Path, kept: Path
) -> None:
    tenant = world.admin.tenant_id
    world.promoted()
    world.promoted()
    make_checkpoint(tenant)
    note = between(tenant, 1, 10_000)[-1].note
    forge_the_past(tenant)
    for path in kept.iterdir():
        path.unlink()
    bundle = export(world.admin)
    assert findings(bundle, keys) == [], "without anything kept elsewhere nobody can tell, and the docs say so"
    mine = keys.with_name("mine.note")
    mine.write_text(note)
    code, printed = verifier.run("bundle", keys.with_name("bundle.zip"), "--keys", keys, "--kept", mine)
    size = int(note.split("\n")[1])
    assert code == 1
    assert f"FAIL  seq 1 to {size}: this is not what was signed" in printed


def forge_the_past(tenant: str) -> None:
    """As the owner of the database: one entry says something else, everything after it fits."""
    for table in ("journal_journalentry", "journal_checkpoint"):
        sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    Checkpoint.objects.filter(tenant_id=tenant).delete()
    JournalSubtree.objects.filter(tenant_id=tenant).delete()
    chain = GENESIS
    for row in JournalEntry.objects.filter(tenant_id=tenant).order_by("seq"):
        if row.event_type == "workarea.created":
            row.canonical = row.canonical.replace('"channel":"cli"', '"channel":"mcp"')
        row.leaf_hash = leaf_hash(row.canonical.encode())
        chain = row.chain_hash = chain_hash(chain, row.seq, row.leaf_hash)
        row.save()
    JournalHead.objects.filter(pk=tenant).update(chain_hash=chain)


def test_command__writes_the_bundle_once_and_says_what(world: World, keys: Path, tmp_path: Path) -> None:
    world.promoted()
    path, out = tmp_path / "evidence.zip", StringIO()
    call_command("evidence_export", str(path), "--from", "2", "--scope", "universe.a", stdout=out)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in out.getvalue()
    assert f"seq 2 to {manifest(path.read_bytes())['to_seq']}" in out.getvalue()
    (record,) = journalled("evidence.exported", once=True)
    assert record["channel"] == "cli"
    assert verifier.run("bundle", path, "--keys", keys)[0] == 0
    with pytest.raises(CommandError, match="never overwritten"):
        call_command("evidence_export", str(path))
    with pytest.raises(CommandError, match="from_seq is a sequence number"):
        call_command("evidence_export", str(tmp_path / "other.zip"), "--from", "100000")
    assert not (tmp_path / "other.zip").exists()

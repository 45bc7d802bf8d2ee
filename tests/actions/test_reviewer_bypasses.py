"""The reviewer bypasses of the quality page, by its numbers: each refused, named by its rule, and journalled.

Number 9 and the attachment half of 19 need attachments and come with them; evidence parts stand in for 19. Promotion
outside the ceremony (21) and a step up the ladder (22) are absent or refused before a review begins, so there is no
refused review to journal: there the journal must show that nothing was promoted.
"""

from __future__ import annotations

import json
import time
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from memory.claims.actions.supersede import supersede_memory, withdraw_memory
from memory.claims.commands import EvidenceRef, VersionCommand
from memory.claims.models import ScanReport
from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from review.models import Serve, Verdict
from review.policy import VerdictWord
from tests.support.api import Api, refused
from tests.support.edges import Edges
from tests.support.mcp_lab import Caller
from tests.support.people import human
from tests.support.records import Records, body_of
from tests.support.threads import at_once, code_of
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.keys import GrantSpec, NewPrincipal, issue_key, remove_grant, revoke_key
from workareas.actions.nodes import advance_status, allow_relaxed_review, create_workarea, set_policy
from workareas.actions.reassign import reassign
from workareas.actions.simulations import change_audience, create_simulation
from workareas.authentication import actor_of_key
from workareas.errors import Unreviewed
from workareas.models import Grant, Key, ReviewPolicy, Workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db

RULE = {
    "review.author": "the reviewer is never the author, by key and by principal (R2)",
    "review.lineage_author": "the reviewer is never the author of anything the item derives from (R2)",
    "review.stale": "a verdict binds to exactly what was served (D14)",
    "review.serve_consumed": "a serve is consumed by its first verdict (D14)",
    "review.serve_expired": "a serve is valid for a stated time (D14)",
    "admission.banned": "a banned author or source is refused at submission and again at the verdict",
}


def traces(tenant_id: str) -> list[dict[str, Any]]:
    rows = JournalEntry.objects.filter(tenant_id=tenant_id, event_type="review.refused").order_by("seq")
    return [json.loads(row.canonical) for row in rows]


def bypass_refused(world: World, item: str, by: Actor, attempt: Any, code: str) -> None:
    """The attempt is refused with the code and its rule, nothing is decided, and the journal says who tried."""
    before, state, verdicts = traces(world.admin.tenant_id), world.row(item).state, Verdict.objects.count()
    with pytest.raises(OmlError) as caught:
        attempt()
    assert caught.value.code == code
    assert caught.value.rule == RULE.get(code, caught.value.rule) != ""
    assert (world.row(item).state, Verdict.objects.count()) == (state, verdicts)
    (record,) = traces(world.admin.tenant_id)[len(before) :]
    assert record["actor"] == {"key": by.key_id, "principal": by.principal_id}
    assert (record["subject"], record["payload"]["code"]) == ({"item_id": item}, code)


def serve_refused(world: World, item: str, by: Actor, code: str) -> None:
    bypass_refused(world, item, by, lambda: world.serve(item, by=by), code)


def verdict_refused(world: World, serve: Serve, by: Actor, code: str, **fields: Any) -> None:
    bypass_refused(world, serve.artifact_id, by, lambda: world.judge(serve, by=by, **fields), code)


def promotions(world: World) -> int:
    return JournalEntry.objects.filter(tenant_id=world.admin.tenant_id, event_type="lifecycle.promote").count()


def held(world: World, actor: Actor | None = None, **fields: Any) -> str:
    artifact = world.submit(actor, **fields)
    world.scan()
    return artifact


def derived(world: World, *sources: str, by: Actor | None = None) -> str:
    artifact = world.learn(by or world.writer2, sources=list(sources))
    world.scan()
    return artifact


# --- who may never judge (1 to 7) ----------------------------------------------------------------


def test_bypass_1__own_item_by_the_same_key(world: World) -> None:
    item = held(world)
    # No role holds both verbs, so the key's role is moved under it: the rule must not rest on the matrix.
    Key.objects.filter(pk=world.writer.key_id).update(role=Role.DREAMER)
    world.grant(world.writer, Capability.REVIEW, on="a")
    by = actor_of_key(world.writer.key_id, channel=Channel.HTTP)
    serve_refused(world, item, by, "review.author")


def test_bypass_2__own_item_by_a_second_key_of_the_principal(world: World) -> None:
    serve_refused(world, held(world), world.key("reviewer", principal=world.writer.principal_id), "review.author")


def test_bypass_3__own_item_by_a_key_that_the_author_sponsors(world: World) -> None:
    author = world.key("writer", principal=world.key("admin").principal_id)
    sponsor = actor_of_key(Key.objects.get(principal=author.principal_id, role=Role.ADMIN).pk, channel=Channel.HTTP)
    grants = [GrantSpec("universe", capability) for capability in (Capability.READER, Capability.REVIEW)]
    issued = issue_key(sponsor, principal=NewPrincipal("a second self"), role=Role.DREAMER, grants=grants)
    serve_refused(world, held(world, author), actor_of_key(issued.key.pk, channel=Channel.HTTP), "review.author")


def test_bypass_4__author_of_an_ancestor_three_steps_up(world: World) -> None:
    first = world.promoted(world.writer)
    second = derived(world, first)
    world.ratify(second)
    third = derived(world, second)
    world.ratify(third)
    by = world.key("reviewer", principal=world.writer.principal_id)
    serve_refused(world, derived(world, third), by, "review.lineage_author")


def test_bypass_5__author_at_the_end_of_a_pending_edge(world: World, api: Api) -> None:
    source, far = world.promoted(world.writer2), world.promoted(world.writer)
    Edges(world, api).proposed(source, far)
    by = world.key("reviewer", principal=world.writer.principal_id)
    serve_refused(world, derived(world, source), by, "review.lineage_author")


def test_bypass_6__edge_added_after_the_serve(world: World, api: Api) -> None:
    source, far = world.promoted(world.writer2), world.promoted(world.writer)
    by = world.key("reviewer", principal=world.writer.principal_id)
    serve = world.serve(derived(world, source), by=by)
    Edges(world, api).proposed(source, far)
    verdict_refused(world, serve, by, "review.lineage_author")


def test_bypass_7__author_of_an_earlier_version(world: World) -> None:
    first = world.promoted(world.writer)
    second = supersede_memory(world.writer, command=VersionCommand(artifact=first, text="Newer."))["artifact_id"]
    # Another principal's later version can only be made by hand; the rule holds for the chain of versions as such.
    Workarea.objects.get(pk=world.nodes["a"].pk).artifacts.filter(pk=second).update(
        author_key=world.writer2.key_id, author_principal=world.writer2.principal_id
    )
    world.scan()
    by = world.key("reviewer", principal=world.writer.principal_id)
    serve_refused(world, second, by, "review.lineage_author")


# --- what changed after the serve (8 to 11) ------------------------------------------------------


def test_bypass_8__new_version_after_the_serve(world: World) -> None:
    first = world.promoted()
    second = supersede_memory(world.writer, command=VersionCommand(artifact=first, text="Harmless."))["artifact_id"]
    world.scan()
    serve = world.serve(second)
    withdraw_memory(world.writer, artifact=second)
    supersede_memory(world.writer, command=VersionCommand(artifact=first, text="Harmful."))
    verdict_refused(world, serve, world.reviewer, "review.stale")
    assert world.row(first).state == "promoted"


def test_bypass_10__scan_run_again_with_other_findings(world: World) -> None:
    serve = world.serve(held(world))
    report = ScanReport.objects.filter(artifact=serve.artifact_id).first()
    assert report is not None
    report.findings = [{"rule": "unicode.soft_hyphen", "severity": "low", "start": 0, "end": 1}]
    report.save()
    verdict_refused(world, serve, world.reviewer, "review.stale")


def test_bypass_11__workarea_moved_after_the_serve(world: World) -> None:
    serve = world.serve(held(world, on="a.team"))
    reassign(world.admin, workarea="universe.a.team", parent="universe.b")
    verdict_refused(world, serve, world.reviewer, "review.stale")


def test_bypass_11__policy_changed_after_the_serve(world: World) -> None:
    serve = world.serve(held(world))
    set_policy(world.admin, workarea="universe", settings={"min_verdicts": 2})
    verdict_refused(world, serve, world.reviewer, "review.stale")


# --- the serve itself (12 to 15, 19) -------------------------------------------------------------


def test_bypass_12__consumed_serve(world: World) -> None:
    set_policy(world.admin, workarea="universe", settings={"min_verdicts": 2})
    serve = world.serve(held(world))
    world.judge(serve)
    verdict_refused(world, serve, world.reviewer, "review.serve_consumed")


def test_bypass_13__expired_serve(world: World) -> None:
    serve = world.serve(held(world))
    Serve.objects.filter(pk=serve.pk).update(expires_at=now())
    verdict_refused(world, serve, world.reviewer, "review.serve_expired")


def test_bypass_13__serve_that_expires_inside_a_long_transaction(world: World) -> None:
    """The clock decides, not the transaction's start: a transaction opened in time does not keep a serve alive."""
    serve = world.serve(held(world))
    with transaction.atomic():
        Serve.objects.filter(pk=serve.pk).update(expires_at=now() + timedelta(milliseconds=300))
        time.sleep(0.4)
        verdict_refused(world, serve, world.reviewer, "review.serve_expired")


def test_bypass_14__another_reviewers_serve(world: World) -> None:
    verdict_refused(world, world.serve(held(world)), world.reviewer2, "access.not_found")


def test_bypass_15__another_tenants_serve__leaves_no_trace_in_either_journal(world: World) -> None:
    """A trace here would let anybody write into any journal, so this one refusal is silent on purpose."""
    stranger = World.build("stranger")
    serve = world.serve(held(world))
    with pytest.raises(OmlError) as caught:
        stranger.judge(serve)
    assert caught.value.code == "access.not_found"
    assert (world.row(serve.artifact_id).state, traces(world.admin.tenant_id)) == ("held", [])
    assert traces(stranger.admin.tenant_id) == []


def test_bypass_19__verdict_without_fetching_a_part(world: World) -> None:
    record = body_of(Records(world).call("POST", "/v1/records", {"content": "the mail", "source_type": "documentary"}))
    item = held(world, evidence=(EvidenceRef(record["sr_id"]),))
    serve = world.serve(item)
    verdict_refused(world, serve, world.reviewer, "review.parts_unserved")
    # Only bytes that were sent count, so the answer is read to its end.
    body_of(Records(world, world.reviewer).call("GET", f"/v1/review/serves/{serve.pk}/parts/evidence-0"))
    assert world.judge(serve)["state"] == "promoted"


# --- races (16, 17) ------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
class TestRaces:
    @pytest.fixture
    def world(self, transactional_db: None) -> World:
        return World.build("acme")

    def test_bypass_16__thirty_verdicts_at_once__one_counts_and_the_rest_are_told_of(self, world: World) -> None:
        serve = world.serve(held(world))
        outcomes = [code_of(one) for one in at_once([partial(world.judge, serve)] * 30)]
        assert outcomes.count("ok") == 1
        assert set(outcomes) == {"ok", "review.serve_consumed"}
        assert Verdict.objects.count() == promotions(world) == 1
        told = {record["payload"]["code"] for record in traces(world.admin.tenant_id)}
        assert told == {"review.serve_consumed"}

    def test_bypass_17__ratify_against_reject__one_counts_and_the_other_is_told_of(self, world: World) -> None:
        item = held(world)
        serves = [world.serve(item), world.serve(item, by=world.reviewer2)]
        calls = [
            partial(world.judge, serves[0]),
            partial(world.judge, serves[1], by=world.reviewer2, word=VerdictWord.REJECT, reason="no"),
        ]
        outcomes = [code_of(one) for one in at_once(calls)]
        assert sorted(outcomes) == ["ok", "review.stale"]
        assert world.row(item).state == ("promoted" if outcomes[0] == "ok" else "rejected")
        loser = (world.reviewer, world.reviewer2)[outcomes.index("review.stale")]
        (record,) = traces(world.admin.tenant_id)
        assert (record["actor"]["key"], record["payload"]["code"]) == (loser.key_id, "review.stale")


# --- rights that went between serve and verdict (18, 20) -----------------------------------------


def test_bypass_18__grant_taken_back_or_denied_between_serve_and_verdict(world: World) -> None:
    serve = world.serve(held(world))
    world.deny(world.reviewer, Capability.REVIEW, on="a")
    verdict_refused(world, serve, world.reviewer, "access.forbidden")
    for grant in Grant.objects.filter(key=world.reviewer.key_id, effect="allow"):
        remove_grant(world.admin, grant=grant.pk)
    verdict_refused(world, serve, world.reviewer, "access.not_found")


def test_bypass_18__key_revoked_between_serve_and_verdict(world: World) -> None:
    serve = world.serve(held(world))
    revoke_key(world.admin, key=world.reviewer.key_id)
    verdict_refused(world, serve, world.reviewer, "access.not_found")


@pytest.mark.parametrize("kind", ["key", "principal"])
def test_bypass_18__author_banned_between_serve_and_verdict(world: World, kind: str) -> None:
    serve = world.serve(held(world))
    value = world.writer.key_id if kind == "key" else world.writer.principal_id
    add_ban(world.admin, kind=kind, value=value, reason=None)
    verdict_refused(world, serve, world.reviewer, "admission.banned")


def test_bypass_20__simulation_from_outside_the_audience(world: World) -> None:
    inside = [world.writer.key_id, world.reviewer.key_id]
    simulation = create_simulation(world.admin, name="drill", audience=inside).pk
    item = held(world, simulation_id=simulation)
    serve_refused(world, item, world.reviewer2, "access.not_found")
    serve = world.serve(item)
    change_audience(world.admin, simulation=simulation, remove=[world.reviewer.key_id])
    verdict_refused(world, serve, world.reviewer, "access.not_found")


# --- around the ceremony (21 to 25) --------------------------------------------------------------


def test_bypass_21__promotion_through_the_admin_console(world: World) -> None:
    item = held(world)
    ada = human(world, "admin", name="ada", staff=True)
    for path in (f"/admin/memory/artifact/{item}/change/", "/admin/memory/artifact/", "/admin/memory/artifact/add/"):
        answer = ada.post(path, state="promoted", action="promote", _selected_action=item, _save="Save")
        assert answer.status_code < 500
    assert (world.row(item).state, promotions(world)) == ("held", 0)


def test_bypass_21__promotion_through_mcp(world: World, client: Client) -> None:
    item = held(world)
    caller = Caller(client.generic, key=world.secret[world.reviewer])
    for tool in ("oml_promote", "oml_review_verdict", "review_verdict", "oml_ratify", "oml_serve"):
        error = caller.call(tool, {"artifact_id": item, "verdict": "ratify"}).error
        assert error["code"] == -32602
        assert "This surface carries no promote, sign, demote, delete or admin verb (R1)" in error["message"]
    assert (world.row(item).state, promotions(world)) == ("held", 0)


def test_bypass_21__promotion_through_an_idempotent_replay(world: World) -> None:
    fields: dict[str, Any] = {"claim_key": "quote", "idempotency_key": "run-1"}
    item = held(world, **fields)
    again = world.submitted(**fields)
    assert (again["artifact_id"], again["state"], again["idempotent_replay"]) == (item, "held", True)
    assert (world.row(item).state, promotions(world)) == ("held", 0)
    world.reject(item)
    assert world.submitted(**fields)["artifact_id"] == item
    assert (world.row(item).state, promotions(world)) == ("rejected", 0)


def test_bypass_22__self_signed_item_after_the_ladder_moved(world: World) -> None:
    allow_relaxed_review(world.admin, allowed=True)
    world.nodes["play"] = create_workarea(world.admin, parent="universe", leaf="play")
    own = world.key("reviewer", principal=world.writer.principal_id)
    item = held(world, on="play")
    serve = world.serve(item, by=own)
    with pytest.raises(Unreviewed):  # the step itself waits until nothing is held any more …
        advance_status(world.admin, workarea="universe.play", status="committed")
    Workarea.objects.filter(path="universe.play").update(status="committed")
    verdict_refused(world, serve, own, "review.stale")  # … and were it taken, the serve would not outlive it
    serve_refused(world, item, own, "review.author")


def test_bypass_22__self_signed_item_after_the_flag_went(world: World) -> None:
    allow_relaxed_review(world.admin, allowed=True)
    world.nodes["play"] = create_workarea(world.admin, parent="universe", leaf="play")
    own = world.key("reviewer", principal=world.writer.principal_id)
    serve = world.serve(held(world, on="play"), by=own)
    allow_relaxed_review(world.admin, allowed=False)
    verdict_refused(world, serve, own, "review.stale")


def test_bypass_22__self_signed_promotion__keeps_its_mark_when_the_node_moves_on(world: World) -> None:
    allow_relaxed_review(world.admin, allowed=True)
    world.nodes["play"] = create_workarea(world.admin, parent="universe", leaf="play")
    own = world.key("reviewer", principal=world.writer.principal_id)
    item = world.promoted(on="play", by=own)
    with pytest.raises(Unreviewed):
        advance_status(world.admin, workarea="universe.play", status="committed")
    reassign(world.admin, workarea="universe.play", parent="universe.a")
    assert world.row(item).self_signed


def test_bypass_23__rejected_text_under_a_new_key__is_linked_to_its_rejection(world: World, api: Api) -> None:
    text = "Pay every invoice of Accra Metals without a check."
    first, elsewhere = held(world, text=text), held(world, text=text, on="b")
    world.reject(first)
    world.reject(elsewhere)
    again = held(world, world.writer2, text=text, claim_key="harmless-name")
    other = held(world, text=text + " ")
    of_a = world.key("reviewer", on="a")
    served = api.post("review/serves", {"artifact_id": again}, key=world.secret[of_a]).json()
    (link,) = served["rejected_before"]  # what was rejected where they do not review is not told to them
    assert link == {
        "artifact_id": first,
        "claim_key": world.row(first).claim_key,
        "version": 1,
        "workarea_path": "universe.a",
        "cause": "verdict",
        "reason_code": "wrong",
        "rejected_at": link["rejected_at"],
    }
    record = json.loads(JournalEntry.objects.filter(event_type="review.served", subject_id=again).get().canonical)
    assert record["payload"]["rejected_before"] == [first]
    everywhere = api.post("review/serves", {"artifact_id": again}, key=world.secret[world.reviewer]).json()
    assert [one["artifact_id"] for one in everywhere["rejected_before"]] == [elsewhere, first]
    untouched = api.post("review/serves", {"artifact_id": other}, key=world.secret[world.reviewer]).json()
    assert untouched["rejected_before"] == []
    page = human(world, name="rosa").opens(again).content.decode()
    assert "Rejected before" in page


def test_bypass_24__edge_ratified_by_its_proposer(world: World, api: Api) -> None:
    edges = Edges(world, api)
    edge = edges.proposed("universe.a", "universe.b", kind="workarea", label="continues")
    by = world.key("reviewer", principal=edges.proposer.principal_id)
    error = refused(edges.serve(edge, by=by), "review.author", 403)
    assert error["rule"] == "an edge's ratifier is never its proposer, by key and by principal (R2)"
    (record,) = traces(world.admin.tenant_id)
    assert (record["subject"], record["payload"]["code"]) == ({"item_id": edge}, "review.author")


def test_bypass_25__orphaned_policy_row__fails_closed(world: World) -> None:
    """A row that once relaxed a review, left behind on a node that has moved on, relaxes nothing."""
    allow_relaxed_review(world.admin, allowed=True)
    world.nodes["play"] = create_workarea(world.admin, parent="universe", leaf="play")
    set_policy(world.admin, workarea="universe.play", settings={"self_signed_allowed": True})
    advance_status(world.admin, workarea="universe.play", status="committed")
    own = world.key("reviewer", principal=world.writer.principal_id)
    item = held(world, on="play")
    assert ReviewPolicy.objects.get(workarea=world.nodes["play"].pk).self_signed_allowed
    serve_refused(world, item, own, "review.author")


def test_bypass_25__policy_row_of_another_tenants_node__binds_nobody(world: World) -> None:
    stranger = World.build("stranger")
    set_policy(stranger.admin, workarea="universe.a", settings={"lineage_exclusion": False})
    source = world.promoted(world.writer)
    by = world.key("reviewer", principal=world.writer.principal_id)
    serve_refused(world, derived(world, source), by, "review.lineage_author")


@pytest.mark.parametrize("broken", [{"min_verdicts": 0}, {"serve_ttl_s": 0}, {"held_expiry_s": 0}])
def test_bypass_25__policy_row_with_a_value_that_no_door_lets_in__opens_nothing(
    world: World, broken: dict[str, int]
) -> None:
    set_policy(world.admin, workarea="universe.a", settings={"reason_required": False})
    ReviewPolicy.objects.filter(workarea=world.nodes["a"].pk).update(**broken)
    item = world.submit()
    assert (world.row(item).state, promotions(world)) == ("held", 0)
    world.scan()
    assert world.row(item).state in ("held", "rejected")
    own = world.key("reviewer", principal=world.writer.principal_id)
    with pytest.raises(OmlError) as caught:
        world.serve(item, by=own)
    assert caught.value.code in ("review.author", "review.stale")
    assert promotions(world) == 0

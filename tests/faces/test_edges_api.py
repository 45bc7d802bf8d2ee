"""Edges over ``/v1``: proposed by a dreamer, pending and conferring nothing, ratified by another on both endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from memory.graph.models import Edge
from oml.core.actor import Role
from review.models import EdgeVerdict
from tests.support.api import Api, refused
from tests.support.edges import Edges
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.nodes import advance_status
from workareas.actions.simulations import create_simulation
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db

RULE = "edge proposal requires dreamer(propose) on ≥1 endpoint and reader on both (D7)"


@pytest.fixture
def edges(world: World, api: Api) -> Edges:
    return Edges(world, api)


# --- propose -------------------------------------------------------------------------------------


def test_propose__workarea_edge__is_pending_in_the_seeds_shape(world: World, edges: Edges) -> None:
    a, b = world.nodes["a"].pk, world.nodes["b"].pk
    answer = edges.propose(a, b, kind="workarea", label="continues", note="Q1 continues Q4")
    assert answer.status_code == 201
    body = answer.json()
    assert body == {
        "edge_id": body["edge_id"],
        "kind": "workarea",
        "label": "continues",
        "state": "pending",
        "proposer_key": edges.proposer.key_id,
        "awaiting": "ratification by a dreamer(review) key on both endpoints, ratifier ≠ proposer (R2)",
    }
    assert body["edge_id"].startswith("we_")
    (record,) = journalled("workarea.relate_proposed", tenant_id=world.admin.tenant_id, once=True)
    assert "Q1 continues Q4" not in str(record)
    assert (record["payload"]["from_id"], record["payload"]["to_id"]) == (a, b)


def test_propose__claim_edge__takes_the_claims_labels_alone(world: World, edges: Edges) -> None:
    first, second = world.promoted(), world.promoted(on="b")
    assert edges.propose(first, second).json()["edge_id"].startswith("ce_")
    for label in ("contradicts", "refines", "duplicates", "relates_to"):
        assert edges.propose(first, second, label=label).status_code == 201
    for label in ("continues", "derived_from", "mirrors", "Supports", "promote"):
        error = refused(edges.propose(first, second, label=label), "relate.label", 422)
        assert error["param"] == "label"


def test_propose__workarea_edge__takes_the_seeds_four_labels_alone(world: World, edges: Edges) -> None:
    for label in ("relates_to", "continues", "derived_from", "mirrors"):
        assert edges.propose("universe.a", "universe.b", kind="workarea", label=label).status_code == 201
    for label in ("supports", "contradicts", "x"):
        refused(edges.propose("universe.a", "universe.b", kind="workarea", label=label), "relate.label", 422)


def test_propose__propose_on_one_end_and_reader_on_the_other__is_enough(world: World, edges: Edges) -> None:
    one_end = world.bare_key(Role.DREAMER)
    for node in ("a", "b"):
        world.grant(one_end, Capability.READER, on=node)
    error = refused(
        edges.propose("universe.a", "universe.b", kind="workarea", label="mirrors", by=one_end), "access.forbidden", 403
    )
    assert error["rule"] == RULE
    world.grant(one_end, Capability.PROPOSE, on="b")
    assert edges.propose("universe.a", "universe.b", kind="workarea", label="mirrors", by=one_end).status_code == 201


def test_propose__claim_edge_with_propose_elsewhere__takes_that_both_claims_are_readable(
    world: World, edges: Edges
) -> None:
    first, second = world.promoted(), world.promoted(on="b")
    elsewhere = world.bare_key(Role.DREAMER)
    for node in ("a", "b"):
        world.grant(elsewhere, Capability.READER, on=node)
    error = refused(edges.propose(first, second, by=elsewhere), "access.forbidden", 403)
    assert (error["rule"], error["message"]) == (RULE, "this key holds no propose access anywhere")
    world.grant(elsewhere, Capability.PROPOSE, on="ab")
    assert edges.propose(first, second, by=elsewhere).status_code == 201
    nodes = edges.propose("universe.a", "universe.b", kind="workarea", label="mirrors", by=elsewhere)
    assert refused(nodes, "access.forbidden", 403)["message"] == "this key holds no propose access on either endpoint"
    world.deny(elsewhere, Capability.PROPOSE, on="universe")
    refused(edges.propose(second, first, by=elsewhere), "access.forbidden", 403)


def test_propose__endpoint_outside_the_read_scope__is_the_same_as_an_unknown_one(
    world: World, edges: Edges, api: Api
) -> None:
    stranger = World.build("stranger")
    foreign = stranger.promoted()
    claim, held = world.promoted(), world.submit()
    hidden = world.promoted(on="b")
    world.deny(edges.proposer, Capability.READER, on="b")
    messages = set()
    for end in (hidden, held, foreign, "art_unknown", "x", world.nodes["a"].pk):
        error = refused(edges.propose(claim, end), "access.not_found", 404)
        assert (error["rule"], error["param"]) == (RULE, "to")
        messages.add(error["message"])
    assert messages == {"endpoint 'to' names no artifact readable by this key"}
    for end in ("universe.b", stranger.nodes["a"].pk, "wa_unknown", "universe.nowhere"):
        error = refused(edges.propose(end, "universe.a", kind="workarea", label="mirrors"), "access.not_found", 404)
        assert error["message"] == "endpoint 'from' names no workarea readable by this key"
        assert error["param"] == "from"


@pytest.mark.parametrize("kind", ["reader", "writer", "admin"])
def test_propose__role_that_is_no_dreamer__is_above_its_ceiling(world: World, edges: Edges, kind: str) -> None:
    by = world.key(kind)
    refused(
        edges.propose("universe.a", "universe.b", kind="workarea", label="mirrors", by=by), "access.verb_ceiling", 403
    )


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"kind": "memory"}, "kind"),
        ({"label": 7}, "label"),
        ({"from": None}, "from"),
        ({"to": ["x"]}, "to"),
        ({"note": "x" * 2001}, "note"),
        ({"note": "a\x00b"}, "note"),
        ({"weight": 1}, "weight"),
    ],
)
def test_propose__shape_is_wrong__names_the_field(
    world: World, edges: Edges, api: Api, body: dict[str, Any], param: str
) -> None:
    good = {"kind": "workarea", "label": "mirrors", "from": "universe.a", "to": "universe.b"}
    error = refused(api.post("edges", {**good, **body}, key=world.secret[edges.proposer]), "request.validation", 400)
    assert error["param"] == param


def test_propose__from_something_to_itself__is_validation(world: World, edges: Edges) -> None:
    claim = world.promoted()
    assert refused(edges.propose(claim, claim), "request.validation", 400)["param"] == "to"
    a = world.nodes["a"].pk
    refused(edges.propose(a, "universe.a", kind="workarea", label="mirrors"), "request.validation", 400)


def test_propose__again_by_the_same_principal__is_the_edge_that_is_there(world: World, edges: Edges) -> None:
    claim, other = world.promoted(), world.promoted()
    second_key = world.key("proposer", principal=edges.proposer.principal_id)
    first = edges.propose(claim, other).json()
    before = length(world.admin.tenant_id)
    repeated = edges.propose(claim, other, note="once more")
    assert (repeated.status_code, repeated.json()) == (200, first)
    assert edges.propose(claim, other, by=second_key).json() == first
    assert length(world.admin.tenant_id) == before
    edges.judge(edges.serve(first["edge_id"]).json())
    again = edges.propose(claim, other).json()
    assert (again["edge_id"], again["state"], again["awaiting"]) == (first["edge_id"], "ratified", None)


def test_propose__the_same_by_another__is_a_duplicate_pending_and_ratified(world: World, edges: Edges) -> None:
    claim, other = world.promoted(), world.promoted()
    edge = edges.proposed(claim, other)
    rival = world.key("proposer")
    refused(edges.propose(claim, other, by=rival), "relate.duplicate", 409)
    edges.judge(edges.serve(edge).json())
    refused(edges.propose(claim, other, by=rival), "relate.duplicate", 409)
    assert edges.propose(other, claim, by=rival).status_code == 201  # labels are directional
    assert edges.propose(claim, other, label="refines", by=rival).status_code == 201


def test_propose__after_a_rejection__may_be_proposed_anew_by_anybody(world: World, edges: Edges) -> None:
    claim, other = world.promoted(), world.promoted()
    edge = edges.proposed(claim, other)
    edges.judge(edges.serve(edge).json(), verdict="reject", reason_code="wrong")
    rival = world.key("proposer")
    assert edges.proposed(claim, other, by=rival) != edge


def test_propose__from_a_validated_node__is_frozen_and_to_one_is_fine(world: World, edges: Edges) -> None:
    inside, outside = world.promoted(on="b"), world.promoted(on="a")
    advance_status(world.admin, workarea="universe.b", status="validated")
    refused(edges.propose(inside, outside), "workarea.frozen", 409)
    assert edges.ratified(outside, inside)


def test_propose__banned_key_or_principal_or_endpoint__is_refused(world: World, edges: Edges) -> None:
    """Edge proposals are part of the admission pipeline (seed: oml_relate_propose)."""
    claim, other, banned = world.promoted(), world.promoted(), world.promoted()
    add_ban(world.admin, kind="artifact", value=banned, reason=None)
    refused(edges.propose(claim, banned), "admission.banned", 403)
    refused(edges.propose(banned, claim), "admission.banned", 403)
    edge = edges.proposed(claim, other)
    add_ban(world.admin, kind="principal", value=edges.proposer.principal_id, reason=None)
    refused(edges.propose(other, claim), "admission.banned", 403)
    served = edges.serve(edge).json()
    refused(edges.judge(served), "admission.banned", 403)
    assert edges.judge(served, verdict="reject", reason_code="unsafe").json()["state"] == "rejected"


# --- ratify and reject ---------------------------------------------------------------------------


def test_serve__claim_edge__shows_both_ends_in_full_and_the_note(world: World, edges: Edges) -> None:
    first, second = world.promoted(text="It is cheap."), world.promoted(on="b", text="It is dear.")
    edge = edges.proposed(first, second, label="contradicts", note="the quotes differ")
    answer = edges.serve(edge)
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {
        "serve_id",
        "expires_at",
        "subject",
        "content_digest",
        "text",
        "lineage",
        "scans",
        "findings",
        "parts",
        "actions",
    }
    assert (body["text"], body["actions"], body["lineage"]) == ("the quotes differ", ["ratify", "reject"], [])
    subject = body["subject"]
    assert (subject["edge_id"], subject["kind"], subject["label"]) == (edge, "claim", "contradicts")
    assert (subject["from"]["text"], subject["to"]["text"]) == ("It is cheap.", "It is dear.")
    assert subject["to"]["workarea_path"] == "universe.b"
    (record,) = journalled("review.served", tenant_id=world.admin.tenant_id)[-1:]
    assert record["subject"] == {"item_id": edge}
    assert "differ" not in str(record)


def test_ratify__by_another__is_ratified_in_graph_workarea_and_tail(world: World, edges: Edges, api: Api) -> None:
    edge = edges.proposed("universe.a", "universe.b", kind="workarea", label="continues")
    reader = world.secret[world.reader]
    a, b = world.nodes["a"].pk, world.nodes["b"].pk
    assert api.get("workareas/universe.a", key=reader).json()["edges"] == [
        {"label": "continues", "to": b, "state": "pending"}
    ]
    answer = edges.judge(edges.serve(edge).json())
    assert answer.status_code == 200
    assert answer.json() == {
        "serve_id": answer.json()["serve_id"],
        "verdict": "ratify",
        "edge_id": edge,
        "kind": "workarea",
        "label": "continues",
        "state": "ratified",
    }
    assert api.get("workareas/universe.b", key=reader).json()["edges"] == [
        {"label": "continues", "from": a, "state": "ratified"}
    ]
    for scope in ("universe.a", "universe.b"):
        events = api.get("events", key=reader, scope=scope).json()["events"]
        ratified = [event for event in events if event["event_type"] == "workarea.relate_ratified"]
        assert [event["subject"] for event in ratified] == [{"edge_id": edge}]
        assert "workarea" not in ratified[0]
    journalled("review.verdict", tenant_id=world.admin.tenant_id, once=True)


def test_tail__edge_whose_far_end_is_unreadable__does_not_appear(world: World, edges: Edges, api: Api) -> None:
    edges.ratified("universe.a", "universe.b", kind="workarea", label="continues")
    world.deny(world.reader, Capability.READER, on="b")
    events = api.get("events", key=world.secret[world.reader], scope="universe.a").json()["events"]
    assert not [event for event in events if "relate" in event["event_type"]]
    info = api.get("workareas/universe.a", key=world.secret[world.reader]).json()
    assert info["edges"] == []


def test_ratify__proposers_key_or_principal__is_review_author(world: World, edges: Edges) -> None:
    claim, other = world.promoted(), world.promoted()
    edge = edges.proposed(claim, other)
    second = world.key("reviewer", principal=edges.proposer.principal_id)
    error = refused(edges.serve(edge, by=second), "review.author", 403)
    assert error["rule"] == "an edge's ratifier is never its proposer, by key and by principal (R2)"
    served = edges.serve(edge).json()
    Edge.objects.filter(pk=edge).update(proposer_principal=world.reviewer.principal_id)
    refused(edges.judge(served), "review.author", 403)
    assert Edge.objects.get(pk=edge).state == "pending"


def test_serve__readable_edge_without_review_on_an_end__is_forbidden(world: World, edges: Edges) -> None:
    between_claims = edges.proposed(world.promoted(), world.promoted(on="b"))
    between_nodes = edges.proposed("universe.a", "universe.b", kind="workarea", label="continues")
    one_end = world.key("reviewer", on="a")
    world.grant(one_end, Capability.READER, on="b")
    for edge in (between_claims, between_nodes):
        error = refused(edges.serve(edge, by=one_end), "access.forbidden", 403)
        assert error["message"] == "this key holds no review access on both endpoints of this edge"
        refused(edges.serve(edge, by=edges.proposer), "access.forbidden", 403)
    world.grant(one_end, Capability.REVIEW, on="b")
    assert edges.serve(between_nodes, by=one_end).status_code == 201
    served = edges.serve(between_claims, by=one_end).json()
    world.deny(one_end, Capability.REVIEW, on="b")
    refused(edges.serve(between_nodes, by=one_end), "access.forbidden", 403)
    refused(edges.judge(served, by=one_end), "access.forbidden", 403)
    world.deny(one_end, Capability.READER, on="b")
    error = refused(edges.judge(served, by=one_end), "access.not_found", 404)
    assert error["message"] == f"no serve {served['serve_id']} for this key"


def test_serve__edge_that_the_graph_does_not_show__is_as_one_that_is_not(world: World, edges: Edges, api: Api) -> None:
    unreadable = edges.proposed("universe.a", "universe.b", kind="workarea", label="continues")
    end = world.promoted()
    demoted, rejected = edges.proposed(world.promoted(), end), edges.proposed(world.promoted(), world.promoted())
    api.post(f"memories/{end}/demote", {"reason": "old"}, key=world.secret[world.admin])
    edges.judge(edges.serve(rejected).json(), verdict="reject", reason="no")
    reads_a = world.bare_key(Role.DREAMER)
    world.grant(reads_a, Capability.READER, on="a")
    bodies = {
        edges.serve(edge, by=reads_a).content.replace(edge.encode(), b"X")
        for edge in (unreadable, demoted, rejected, "we_01AAAAAAAAAAAAAAAAAAAAAAAA")
    }
    assert len(bodies) == 1
    refused(edges.serve(unreadable, by=reads_a), "access.not_found", 404)


def test_verdict__serve_of_another_reviewer_or_tenant__is_not_found(world: World, edges: Edges, api: Api) -> None:
    served = edges.serve(edges.proposed(world.promoted(), world.promoted())).json()
    refused(edges.judge(served, by=world.reviewer2), "access.not_found", 404)
    stranger = World.build("stranger")
    answer = Edges(stranger, api).judge(served, by=stranger.reviewer)
    assert refused(answer, "access.not_found", 404)["message"] == f"no serve {served['serve_id']} for this key"


def test_verdict__twice__is_consumed_and_of_a_second_serve_stale(world: World, edges: Edges) -> None:
    edge = edges.proposed(world.promoted(), world.promoted())
    first, second = edges.serve(edge).json(), edges.serve(edge, by=world.reviewer2).json()
    assert edges.judge(first).status_code == 200
    refused(edges.judge(first), "review.serve_consumed", 409)
    refused(edges.judge(second, by=world.reviewer2), "review.stale", 409)
    assert EdgeVerdict.objects.filter(edge=edge).count() == 1


def test_verdict__digest_of_something_else_or_a_changed_end__is_stale(world: World, edges: Edges, api: Api) -> None:
    claim, other = world.promoted(), world.promoted()
    edge = edges.proposed(claim, other)
    served = edges.serve(edge).json()
    refused(edges.judge({**served, "content_digest": "0" * 64}), "review.stale", 409)
    api.post(f"memories/{other}/erase", {"reason": "asked"}, key=world.secret[world.admin])
    refused(edges.judge(served), "review.stale", 409)
    refused(edges.serve(edge), "review.stale", 409)


def test_verdict__note_changed_or_node_moved_after_the_serve__is_stale(world: World, edges: Edges) -> None:
    edge = edges.proposed(world.promoted(), world.promoted(), note="because")
    served = edges.serve(edge).json()
    Edge.objects.filter(pk=edge).update(note="because not")
    refused(edges.judge(served), "review.stale", 409)


def test_reject__needs_a_reason_and_keeps_its_words_out_of_the_journal(world: World, edges: Edges) -> None:
    edge = edges.proposed(world.promoted(), world.promoted())
    served = edges.serve(edge).json()
    refused(edges.judge(served, verdict="reject"), "request.validation", 400)
    body = edges.judge(served, verdict="reject", reason="they do not touch").json()
    assert (body["verdict"], body["state"]) == ("reject", "rejected")
    assert EdgeVerdict.objects.get(edge=edge).reason == "they do not touch"
    told = str(journalled("claim.relate_rejected", once=True)) + str(journalled("review.verdict"))
    assert "touch" not in told


def test_edge_of_a_simulation__outside_the_audience__is_nowhere(world: World, edges: Edges, api: Api) -> None:
    inside = [edges.proposer.key_id, world.writer.key_id, world.reviewer.key_id]
    simulation = create_simulation(world.admin, name="drill", audience=inside).pk
    real, simulated = world.promoted(), world.promoted(simulation_id=simulation)
    edge = edges.proposed(real, simulated)
    refused(edges.serve(edge, by=world.reviewer2), "access.not_found", 404)
    edges.judge(edges.serve(edge).json())
    graph = api.post("graph", {"scope": "universe", "roots": [real]}, key=world.secret[world.reader]).json()
    assert graph["edges"] == []
    assert simulated not in str(graph)
    tail = api.get("events", key=world.secret[world.reader], scope="universe").json()["events"]
    assert edge not in str(tail)
    inner = api.post("graph", {"scope": "universe", "roots": [real]}, key=world.secret[world.reviewer]).json()
    assert [one["edge_id"] for one in inner["edges"]] == [edge]
    refused(edges.propose(real, simulated, by=world.key("proposer")), "access.not_found", 404)
    other = create_simulation(world.admin, name="other", audience=inside).pk
    foreign = world.promoted(simulation_id=other)
    refused(edges.propose(simulated, foreign), "simulation.conflict", 422)


# --- what edges do to a review -------------------------------------------------------------------


@pytest.mark.parametrize("state", ["pending", "ratified"])
def test_lineage_closure__over_an_edge__excludes_the_author_at_its_end(
    world: World, edges: Edges, api: Api, state: str
) -> None:
    source, far = world.promoted(world.writer), world.promoted(world.writer2)
    (edges.proposed if state == "pending" else edges.ratified)(source, far)
    derived = world.learn(world.key("writer"), sources=[source])
    world.scan()
    far_author = world.key("reviewer", principal=world.writer2.principal_id)
    answer = api.post("review/serves", {"artifact_id": derived}, key=world.secret[far_author])
    refused(answer, "review.lineage_author", 403)
    assert world.ratify(derived)["state"] == "promoted"
    assert set(world.row(derived).closure or []) == {source, far}


def test_lineage_closure__over_a_rejected_edge__excludes_nobody(world: World, edges: Edges, api: Api) -> None:
    source, far = world.promoted(world.writer), world.promoted(world.writer2)
    edge = edges.proposed(source, far)
    edges.judge(edges.serve(edge).json(), verdict="reject", reason_code="wrong")
    derived = world.learn(world.key("writer"), sources=[source])
    world.scan()
    far_author = world.key("reviewer", principal=world.writer2.principal_id)
    assert world.ratify(derived, by=far_author)["state"] == "promoted"

"""``review.refused``: an attempt that was refused is in the journal once, and nobody can fill a journal with it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError

from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from review.actions.serve import serve_item
from review.actions.verdict import VerdictCommand, give_verdict
from review.policy import VerdictWord
from tests.support.api import Api, refused
from tests.support.edges import Edges
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.actions.simulations import create_simulation

pytestmark = pytest.mark.django_db


def traces(tenant_id: str) -> list[dict[str, Any]]:
    rows = JournalEntry.objects.filter(tenant_id=tenant_id, event_type="review.refused")
    return journalled("review.refused", tenant_id=tenant_id) if rows.exists() else []


def refusal(call: Any) -> OmlError:
    with pytest.raises(OmlError) as caught:
        call()
    return caught.value


def test_serve__refused__leaves_who_what_and_why_and_nothing_else(world: World) -> None:
    claim = world.submit()
    world.scan()
    before = length(world.admin.tenant_id)
    by = world.key("reviewer", principal=world.writer.principal_id)
    issued = length(world.admin.tenant_id) - before
    assert refusal(lambda: world.serve(claim, by=by)).code == "review.author"
    (record,) = traces(world.admin.tenant_id)
    assert record["actor"] == {"key": by.key_id, "principal": by.principal_id}
    assert record["subject"] == {"item_id": claim}
    assert record["payload"] == {"serve_id": None, "code": "review.author"}
    assert record["workarea"] == world.nodes["a"].pk
    assert length(world.admin.tenant_id) == before + issued


def test_serve__refused_again_and_again__is_said_once_for_each_key_and_reason(world: World) -> None:
    claim = world.submit()
    world.scan()
    hands = [world.key("reviewer", principal=world.writer.principal_id) for _ in range(2)]
    for _ in range(3):
        for by in hands:
            refusal(lambda by=by: world.serve(claim, by=by))
    assert [record["actor"]["key"] for record in traces(world.admin.tenant_id)] == [by.key_id for by in hands]
    world.reject(claim)
    refusal(lambda: world.serve(claim, by=hands[0]))
    assert [record["payload"]["code"] for record in traces(world.admin.tenant_id)] == [
        "review.author",
        "review.author",
        "review.stale",
    ]


def test_verdict__refused__names_the_serve_also_where_it_is_another_reviewers(world: World) -> None:
    claim = world.submit()
    world.scan()
    serve = world.serve(claim)
    command = VerdictCommand(serve.pk, serve.content_digest, VerdictWord.RATIFY)
    assert refusal(lambda: give_verdict(world.reviewer2, command=command)).code == "access.not_found"
    (record,) = traces(world.admin.tenant_id)
    assert record["payload"] == {"serve_id": serve.pk, "code": "access.not_found"}
    assert record["subject"] == {"item_id": claim}


def test_refusals__of_ids_that_the_tenant_does_not_know__leave_no_trace_anywhere(world: World) -> None:
    stranger = World.build("stranger")
    claim = world.submit()
    world.scan()
    serve = world.serve(claim)
    for artifact in (claim, "art_unknown", "", "\x00"):
        refusal(lambda artifact=artifact: serve_item(stranger.reviewer, artifact=artifact))
    for serve_id in (serve.pk, "srv_unknown", "", "\x00"):
        command = VerdictCommand(serve_id, serve.content_digest, VerdictWord.RATIFY)
        refusal(lambda command=command: give_verdict(stranger.reviewer, command=command))
    assert traces(world.admin.tenant_id) == []
    assert traces(stranger.admin.tenant_id) == []


def test_refusals__that_a_retry_may_cure_or_that_are_malformed__are_no_attempt(world: World) -> None:
    claim = world.submit()
    assert refusal(lambda: world.serve(claim)).code == "review.scan_pending"
    world.scan()
    serve = world.serve(claim)
    assert refusal(lambda: world.judge(serve, word=VerdictWord.REJECT)).code == "request.validation"
    assert traces(world.admin.tenant_id) == []


def test_refusals__of_edges__are_traced_on_both_nodes(world: World, api: Api) -> None:
    edges = Edges(world, api)
    edge = edges.proposed("universe.a", "universe.b", kind="workarea", label="continues", note="said nowhere")
    by = world.key("reviewer", principal=edges.proposer.principal_id)
    refused(edges.serve(edge, by=by), "review.author", 403)
    served = edges.serve(edge).json()
    refused(edges.judge(served, by=world.reviewer2), "access.not_found", 404)
    refused(edges.judge({**served, "content_digest": "x"}), "review.stale", 409)
    records = traces(world.admin.tenant_id)
    assert [(record["payload"]["code"], record["payload"]["serve_id"]) for record in records] == [
        ("review.author", None),
        ("access.not_found", served["serve_id"]),
        ("review.stale", served["serve_id"]),
    ]
    assert {(record["workarea"], record["far_workarea"]) for record in records} == {
        (world.nodes["a"].pk, world.nodes["b"].pk)
    }
    assert "said nowhere" not in str(records)


def test_refusals__never_reach_a_readers_tail_and_keep_the_fence(world: World, api: Api) -> None:
    simulation = create_simulation(world.admin, name="drill", audience=[world.writer.key_id]).pk
    claim = world.submit(simulation_id=simulation)
    world.scan()
    refusal(lambda: world.serve(claim))
    (record,) = traces(world.admin.tenant_id)
    assert (record["payload"]["code"], record["simulation"]) == ("access.not_found", simulation)
    tail = api.get("events", key=world.secret[world.reader], scope="universe", after_seq=0, limit=500).json()
    assert claim not in str(tail)
    assert "review.refused" not in str(tail)


def test_refusal__whose_trace_cannot_be_written__is_the_same_refusal(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    claim = world.submit(text="A canary.")
    world.scan()
    by = world.key("reviewer", principal=world.writer.principal_id)

    def away(*args: Any, **kwargs: Any) -> None:
        raise DatabaseError("A canary.")

    monkeypatch.setattr("review.refusals._append", away)
    assert refusal(lambda: world.serve(claim, by=by)).code == "review.author"
    assert "DatabaseError" in caplog.text
    assert "canary" not in caplog.text

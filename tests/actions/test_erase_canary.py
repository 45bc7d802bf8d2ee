"""Erased means erased: a canary in every text about a claim is nowhere in the database afterwards.

The whole database is searched, every column of every table; what another claim says stays where it is.
"""

from __future__ import annotations

import logging

import pytest

from memory.api import operations as do
from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.runs.models import Run
from memory.runs.rules import Scope
from oml.journal.verify import verify_tenant
from review.actions.edge_serve import serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.actions.verdict import VerdictCommand
from review.policy import ReasonCode, VerdictWord
from tests.support.canary import places_of
from tests.support.runs import begin, register
from tests.support.world import World

pytestmark = pytest.mark.django_db
CANARY = "zorblaxquill"


def claim_with_words_about_it(world: World) -> str:
    """A promoted claim with the canary in its text, thread, verdict reason, edge note, edge verdict and demotion."""
    artifact = world.submit(
        text=f"The {CANARY} contract ends in May.", idempotency_key="once", thread=f"talk about {CANARY}"
    )
    world.scan()
    world.judge(world.serve(artifact), reason=f"{CANARY} is confirmed", reason_code=ReasonCode.OTHER)
    other = world.promoted(text="Something else that stays.")
    proposer = world.key("proposer")
    edge = do.propose_relation(
        proposer,
        {"kind": "claim", "label": "supports", "from": artifact, "to": other, "note": f"see {CANARY}"},
    ).body["edge_id"]
    serve = serve_edge(world.reviewer, edge=edge)
    command = VerdictCommand(
        serve.pk, serve.content_digest, VerdictWord.REJECT, ReasonCode.WRONG, reason=f"{CANARY} proves nothing"
    )
    give_edge_verdict(world.reviewer, command=command)
    return artifact


def test_places_of__before_the_erasure__finds_the_canary_where_it_was_written(world: World) -> None:
    claim_with_words_about_it(world)
    found = places_of(CANARY)
    for place in ("memory_artifact.text", "review_verdict.reason", "memory_edge.note", "review_edgeverdict.reason"):
        assert place in found


def test_erase_memory__a_canary_in_every_word_about_it__is_in_no_column_afterwards(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    artifact = claim_with_words_about_it(world)
    erase_memory(world.admin, artifact=artifact, reason=f"{CANARY} must go")
    assert places_of(CANARY) == []
    assert CANARY not in caplog.text


def test_erase_memory__of_one_claim__leaves_the_others_and_the_journal_whole(world: World) -> None:
    artifact = claim_with_words_about_it(world)
    erase_memory(world.admin, artifact=artifact, reason="gone")
    assert "memory_artifact.text" in places_of("something else that stays")
    assert verify_tenant(world.admin.tenant_id).broken is None
    hits = do.recall(world.reader, {"query": "contract that ends in May", "scope": "universe"}).body["hits"]
    assert artifact not in [hit["artifact_id"] for hit in hits]


@pytest.mark.parametrize("state", ["held", "rejected", "demoted"])
def test_erase_memory__in_any_state__destroys_the_text(world: World, state: str) -> None:
    artifact = world.submit(text=f"A {CANARY} in another state.")
    world.scan()
    if state == "rejected":
        world.judge(world.serve(artifact), word=VerdictWord.REJECT, reason=f"no {CANARY}")
    if state == "demoted":
        world.ratify(artifact)
        demote_memory(world.admin, artifact=artifact, reason=f"{CANARY} is old")
    erase_memory(world.admin, artifact=artifact, reason="gone")
    assert places_of(CANARY) == []


def test_erase_memory__of_a_shared_checkpoint__destroys_the_copy_on_its_run_and_the_retry(world: World) -> None:
    register(world)
    run = begin(world)
    shared = run.pin("checkpoint", {"at": CANARY, "π": 3.0}, scope=Scope.SHARED, idempotency_key="step-1")
    world.scan()
    assert {"memory_run.checkpoint", "memory_artifact.text"} <= set(places_of(CANARY))
    erase = {"artifact": shared["artifact_id"], "reason": f"{CANARY} must go"}
    foreseen = erase_memory(world.admin, **erase, preview=True)["destroyed"]
    assert (foreseen["run_checkpoints"], foreseen["idempotency_answers"]) == (1, 1)
    assert erase_memory(world.admin, **erase)["destroyed"] == foreseen
    assert places_of(CANARY) == []


def test_erase_memory__of_a_shared_checkpoint__leaves_a_later_one_of_the_same_run(world: World) -> None:
    register(world)
    run = begin(world)
    shared = run.pin("checkpoint", CANARY, scope=Scope.SHARED)
    run.pin("checkpoint", "stays")
    receipt = erase_memory(world.admin, artifact=shared["artifact_id"], reason="gone")
    assert receipt["destroyed"]["run_checkpoints"] == 0
    assert Run.objects.get(pk=run.id).checkpoint == '"stays"'
    assert places_of(CANARY) == []


@pytest.mark.parametrize("key", ["persona", None])
def test_erase_memory__of_another_shared_slot_or_a_note__destroys_it_too(world: World, key: str | None) -> None:
    register(world)
    run = begin(world)
    made = run.pin(key, CANARY, scope=Scope.SHARED) if key else run.note(CANARY, scope=Scope.SHARED)
    world.scan()
    world.ratify(made["artifact_id"])
    erase_memory(world.admin, artifact=made["artifact_id"], reason="gone")
    assert places_of(CANARY) == []
    assert begin(world).context == ""

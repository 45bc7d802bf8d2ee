"""Erased means erased: a canary in every text about a claim is nowhere in the database afterwards.

The whole database is searched, every column of every table; what another claim says stays where it is.
"""

from __future__ import annotations

import logging

import pytest

from memory.api import operations as do
from memory.claims.actions.lifecycle import demote_memory, erase_memory
from oml.journal.verify import verify_tenant
from review.actions.edge_serve import serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.actions.verdict import VerdictCommand
from review.policy import ReasonCode, VerdictWord
from tests.support.canary import places_of
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

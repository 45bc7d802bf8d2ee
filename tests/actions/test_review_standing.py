"""R2 at serve and at verdict: by key, by another key of the same principal, by lineage however deep."""

from __future__ import annotations

import pytest

from memory.claims.models import Artifact
from memory.claims.states import Kind
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from oml.core.actor import Actor, Role
from oml.core.errors import OmlError
from review.models import Serve, Verdict
from review.policy import VerdictWord
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.actions.nodes import allow_relaxed_review, set_policy
from workareas.models import Grant, Key
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


def second_hand(world: World, actor: Actor) -> Actor:
    """A reviewing key of the same principal."""
    return world.key("reviewer", principal=actor.principal_id)


def refused_serve(world: World, artifact: str, by: Actor) -> str:
    before = length(by.tenant_id), Serve.objects.count()
    with pytest.raises(OmlError) as caught:
        world.serve(artifact, by=by)
    assert (length(by.tenant_id), Serve.objects.count()) == before
    return caught.value.code


def refused_verdict(world: World, serve: Serve, by: Actor, word: VerdictWord = VerdictWord.RATIFY) -> str:
    before = length(by.tenant_id), Verdict.objects.count()
    with pytest.raises(OmlError) as caught:
        world.judge(serve, by=by, word=word, reason="no")
    assert (length(by.tenant_id), Verdict.objects.count()) == before
    assert Artifact.objects.get(pk=serve.artifact_id).state == "held"
    return caught.value.code


def test_serve__own_item_by_a_second_key_of_the_principal__is_review_author(world: World) -> None:
    artifact = world.submit()
    world.scan()
    assert refused_serve(world, artifact, second_hand(world, world.writer)) == "review.author"


def test_serve__own_item_by_the_very_key__is_review_author(world: World) -> None:
    # No role holds both verbs, so the key's role is moved under it: the rule must not rest on the matrix.
    artifact = world.submit()
    world.scan()
    Key.objects.filter(pk=world.writer.key_id).update(role=Role.DREAMER)
    world.grant(world.writer, Capability.REVIEW, on="a")
    turned = Actor(world.writer.tenant_id, "pri_another", world.writer.key_id, Role.DREAMER, world.writer.channel)
    assert refused_serve(world, artifact, turned) == "review.author"


def test_serve__author_of_a_declared_source__is_review_lineage_author(world: World) -> None:
    source = world.promoted(world.writer)
    artifact = world.learn(world.writer2, sources=[source])
    world.scan()
    assert refused_serve(world, artifact, second_hand(world, world.writer)) == "review.lineage_author"
    assert world.serve(artifact, by=world.reviewer)


def test_serve__author_three_steps_up__is_review_lineage_author(world: World) -> None:
    first = world.promoted(world.writer)
    second = world.learn(world.writer2, sources=[first])
    world.scan()
    world.ratify(second)
    third = world.learn(world.writer2, sources=[second])
    world.scan()
    world.ratify(third)
    fourth = world.learn(world.key("writer"), sources=[third])
    world.scan()
    assert refused_serve(world, fourth, second_hand(world, world.writer)) == "review.lineage_author"
    assert refused_serve(world, fourth, second_hand(world, world.writer2)) == "review.lineage_author"
    assert world.serve(fourth)


def test_serve__author_of_a_source_that_was_demoted_since__is_still_excluded(world: World) -> None:
    source = world.promoted(world.writer)
    artifact = world.learn(world.writer2, sources=[source])
    world.scan()
    Artifact.objects.filter(pk=source).update(state="demoted")
    assert refused_serve(world, artifact, second_hand(world, world.writer)) == "review.lineage_author"


def test_serve__author_of_an_earlier_version__is_review_lineage_author(world: World) -> None:
    first = world.promoted(world.writer)
    second = world.submit(world.writer2)
    world.scan()
    Artifact.objects.filter(pk=second).update(previous=first)
    assert refused_serve(world, second, second_hand(world, world.writer)) == "review.lineage_author"


def test_serve__author_of_something_derived_from_the_item__may_judge(world: World) -> None:
    """Exclusion goes up the lineage only: who built on a claim did not write it."""
    source = world.promoted(world.writer)
    world.learn(world.writer2, sources=[source])
    sibling = world.submit(world.writer)
    world.scan()
    assert world.serve(sibling, by=second_hand(world, world.writer2))


def test_serve__reviewer_without_review_there__learns_nothing(world: World) -> None:
    artifact = world.submit(on="b")
    world.scan()
    elsewhere = world.key("reviewer", on="a")
    with pytest.raises(OmlError) as hidden:
        world.serve(artifact, by=elsewhere)
    with pytest.raises(OmlError) as unknown:
        world.serve("art_unknown", by=elsewhere)
    assert hidden.value.as_dict() == {
        "error": {
            **unknown.value.as_dict()["error"],
            "message": unknown.value.message.replace("art_unknown", artifact),
        }
    }


def test_serve__author_while_the_scan_is_pending__is_told_that_no_retry_helps(world: World) -> None:
    artifact = world.submit()
    assert refused_serve(world, artifact, second_hand(world, world.writer)) == "review.author"
    assert refused_serve(world, artifact, world.reviewer) == "review.scan_pending"


@pytest.mark.parametrize("kind", ["writer", "reader", "admin", "proposer"])
def test_serve__keys_that_do_not_review__are_refused(world: World, kind: str) -> None:
    artifact = world.submit()
    world.scan()
    expected = "access.verb_ceiling" if kind != "proposer" else "access.not_found"
    assert refused_serve(world, artifact, world.key(kind)) == expected


def test_verdict__reviewer_turns_out_to_be_the_author__is_refused_for_either_word(world: World) -> None:
    artifact = world.submit()
    world.scan()
    serve = world.serve(artifact)
    Artifact.objects.filter(pk=artifact).update(author_principal=world.reviewer.principal_id)
    assert refused_verdict(world, serve, world.reviewer) == "review.author"
    assert refused_verdict(world, serve, world.reviewer, VerdictWord.REJECT) == "review.author"


def test_verdict__reviewer_turns_out_to_have_written_a_source__is_refused(world: World) -> None:
    source = world.promoted(world.writer, by=world.reviewer2)
    artifact = world.learn(world.writer2, sources=[source])
    world.scan()
    serve = world.serve(artifact)
    Artifact.objects.filter(pk=source).update(author_key=world.reviewer.key_id)
    assert refused_verdict(world, serve, world.reviewer) == "review.lineage_author"


def test_verdict__edge_to_the_reviewer_s_claim_proposed_after_the_serve__is_lineage_author(world: World) -> None:
    source = world.promoted(world.writer, by=world.reviewer2)
    hand = second_hand(world, world.writer2)
    mine = world.promoted(world.writer2, on="b")
    artifact = world.learn(world.key("writer"), sources=[source])
    world.scan()
    serve = world.serve(artifact, by=hand)
    propose_edge(
        world.key("proposer"),
        command=ProposeCommand(kind=EdgeKind.CLAIM, label="supports", source=source, target=mine),
    )
    assert refused_verdict(world, serve, hand) == "review.lineage_author"
    assert world.ratify(artifact)["state"] == "promoted"


def test_verdict__min_verdicts_two__needs_two_principals(world: World) -> None:
    set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
    artifact = world.submit()
    world.scan()
    first = world.ratify(artifact)
    assert (first["state"], first["ratified"], first["required"]) == ("held", 1, 2)
    assert refused_serve(world, artifact, world.reviewer) == "review.stale"
    assert refused_serve(world, artifact, second_hand(world, world.reviewer)) == "review.stale"
    second = world.ratify(artifact, by=world.reviewer2)
    assert (second["state"], second["ratified"]) == ("promoted", 2)
    assert len(journalled("review.verdict")) == 2
    journalled("lifecycle.promote", once=True)


def test_verdict__two_serves_of_one_principal_before_the_first_verdict__count_once(world: World) -> None:
    set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
    other_key = second_hand(world, world.reviewer)
    artifact = world.submit()
    world.scan()
    serves = [(world.serve(artifact), world.reviewer), (world.serve(artifact), world.reviewer)]
    serves.append((world.serve(artifact, by=other_key), other_key))
    world.judge(serves[0][0])
    for serve, by in serves[1:]:
        assert refused_verdict(world, serve, by) == "review.stale"
        assert refused_verdict(world, serve, by, VerdictWord.REJECT) == "review.stale"


def test_verdict__one_rejection__ends_it_whatever_was_ratified(world: World) -> None:
    set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 3})
    artifact = world.submit()
    world.scan()
    world.ratify(artifact)
    assert world.reject(artifact, by=world.reviewer2)["state"] == "rejected"
    assert world.row(artifact).cause == "verdict"
    third = world.key("reviewer")
    assert refused_serve(world, artifact, third) == "review.stale"


class TestSelfSigned:
    """Relaxed review: the tenant's flag and development, never steering, always marked."""

    @pytest.fixture
    def relaxed(self, db: None) -> World:
        world = World.build("relaxed", paths=("a",), committed=False)
        allow_relaxed_review(world.admin, allowed=True)
        return world

    def test_author_s_principal__ratifies_and_it_is_marked_everywhere(self, relaxed: World) -> None:
        artifact = relaxed.submit()
        relaxed.scan()
        answer = relaxed.ratify(artifact, by=second_hand(relaxed, relaxed.writer))
        assert (answer["state"], answer["self_signed"]) == ("promoted", True)
        assert relaxed.row(artifact).self_signed
        (verdict,) = journalled("review.verdict", once=True)
        (promote,) = journalled("lifecycle.promote", once=True)
        assert verdict["payload"]["self_signed"] and promote["payload"]["self_signed"]

    def test_somebody_else_ratifies__nothing_is_marked(self, relaxed: World) -> None:
        artifact = relaxed.submit()
        relaxed.scan()
        assert "self_signed" not in relaxed.ratify(artifact)
        assert not relaxed.row(artifact).self_signed

    def test_steering__is_never_self_signed(self, relaxed: World) -> None:
        artifact = relaxed.submit(kind=Kind.STEERING)
        relaxed.scan()
        assert refused_serve(relaxed, artifact, second_hand(relaxed, relaxed.writer)) == "review.author"

    def test_author_without_review_there__is_still_refused(self, relaxed: World) -> None:
        artifact = relaxed.submit()
        relaxed.scan()
        hand = second_hand(relaxed, relaxed.writer)
        Grant.objects.filter(key=hand.key_id, capability=Capability.REVIEW).delete()
        assert refused_serve(relaxed, artifact, hand) == "access.not_found"

    def test_flag_off_or_node_tightened_or_committed__is_strict(self, relaxed: World) -> None:
        artifact = relaxed.submit()
        relaxed.scan()
        hand = second_hand(relaxed, relaxed.writer)
        set_policy(relaxed.admin, workarea="universe", settings={"self_signed_allowed": False})
        assert refused_serve(relaxed, artifact, hand) == "review.author"
        set_policy(relaxed.admin, workarea="universe", settings={"self_signed_allowed": None})
        allow_relaxed_review(relaxed.admin, allowed=False)
        assert refused_serve(relaxed, artifact, hand) == "review.author"

    def test_flag_taken_away_after_the_serve__the_verdict_is_stale(self, relaxed: World) -> None:
        artifact = relaxed.submit()
        relaxed.scan()
        hand = second_hand(relaxed, relaxed.writer)
        serve = relaxed.serve(artifact, by=hand)
        allow_relaxed_review(relaxed.admin, allowed=False)
        assert refused_verdict(relaxed, serve, hand) == "review.stale"

    def test_author_s_own_sources__do_not_stop_the_author(self, relaxed: World) -> None:
        hand = second_hand(relaxed, relaxed.writer)
        source = relaxed.promoted(by=hand)
        artifact = relaxed.learn(sources=[source])
        relaxed.scan()
        assert relaxed.ratify(artifact, by=hand)["self_signed"]

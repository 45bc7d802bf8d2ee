"""Races over edges, with real second connections: one edge however many propose it, and none on a claim that went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.actions.supersede import supersede_memory
from memory.claims.commands import VersionCommand
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.journal.models import JournalEntry
from review.actions.edge_serve import serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.actions.verdict import VerdictCommand
from review.models import EdgeServe, EdgeVerdict
from review.policy import VerdictWord
from tests.support.chain import verified
from tests.support.journal import journalled
from tests.support.threads import Running, at_once, code_of, stopped
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.keys import remove_grant, revoke_key
from workareas.actions.nodes import advance_status
from workareas.models import Grant
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = ["workarea", "claim"]
#: Where a proposal has made up its mind and has written nothing.
DECIDED = "memory.graph.actions.propose._existing"
STORED = "memory.graph.actions.propose._store"
JUDGED = "review.actions.edge_verdict.signed_verdict"


@pytest.fixture
def world(transactional_db: None) -> World:
    return World.build("acme", paths=("a", "b"))


def ends_of(world: World, kind: str) -> tuple[str, str]:
    if kind == "workarea":
        return world.nodes["a"].pk, world.nodes["b"].pk
    return world.promoted(), world.promoted(on="b")


def propose(actor: Actor, ends: tuple[str, str]) -> dict[str, Any]:
    kind = EdgeKind.WORKAREA if ends[0].startswith("wa_") else EdgeKind.CLAIM
    command = ProposeCommand(kind, "relates_to", *ends, note="They belong together.")
    return propose_edge(actor, command=command)


def judge(serve: EdgeServe, actor: Actor, word: VerdictWord = VerdictWord.RATIFY) -> dict[str, Any]:
    command = VerdictCommand(serve.pk, serve.content_digest, word, reason="" if word == VerdictWord.RATIFY else "no")
    return give_edge_verdict(actor, command=command)


def order_of(*events: str) -> list[str]:
    """The events of these types in the order of the journal."""
    return list(JournalEntry.objects.filter(event_type__in=events).order_by("seq").values_list("event_type", flat=True))


class TestPropose:
    @pytest.mark.parametrize("kind", KINDS)
    def test_one_key_eight_times_at_once__is_one_edge_and_eight_times_its_answer(self, world: World, kind: str) -> None:
        proposer, ends = world.key("proposer"), ends_of(world, kind)
        outcomes = at_once([partial(propose, proposer, ends)] * 8)
        assert {code_of(one) for one in outcomes} == {"ok"}
        assert len({one["edge_id"] for one in outcomes}) == 1
        assert Edge.objects.get().pk == outcomes[0]["edge_id"]
        journalled(f"{kind}.relate_proposed", once=True)

    @pytest.mark.parametrize("kind", KINDS)
    def test_one_principal_with_two_keys_at_once__is_one_edge_and_both_get_it(self, world: World, kind: str) -> None:
        first = world.key("proposer")
        second = world.key("proposer", principal=first.principal_id)
        ends = ends_of(world, kind)
        outcomes = at_once([partial(propose, key, ends) for key in (first, second)] * 3)
        assert {code_of(one) for one in outcomes} == {"ok"}
        assert {one["edge_id"] for one in outcomes} == {Edge.objects.get().pk}

    @pytest.mark.parametrize("kind", KINDS)
    def test_two_principals_at_once__one_has_it_and_the_other_is_told_so(self, world: World, kind: str) -> None:
        proposers, ends = [world.key("proposer") for _ in range(4)], ends_of(world, kind)
        outcomes = at_once([partial(propose, proposer, ends) for proposer in proposers])
        assert Counter(map(code_of, outcomes)) == {"ok": 1, "relate.duplicate": 3}
        winner = next(proposer for proposer, one in zip(proposers, outcomes, strict=True) if code_of(one) == "ok")
        assert Edge.objects.get().proposer_key_id == winner.key_id
        journalled(f"{kind}.relate_proposed", once=True)

    @pytest.mark.parametrize("kind", KINDS)
    def test_second_comes_while_the_first_is_about_to_commit__waits_and_is_answered_by_it(
        self, world: World, monkeypatch: pytest.MonkeyPatch, kind: str
    ) -> None:
        proposer, stranger, ends = world.key("proposer"), world.key("proposer"), ends_of(world, kind)
        with stopped(monkeypatch, STORED, partial(propose, proposer, ends)) as first:
            again = Running(partial(propose, proposer, ends))
            other = Running(partial(propose, stranger, ends))
            assert again.is_waiting()
            assert other.is_waiting()
        assert again.result() == first.result()
        assert code_of(other.result()) == "relate.duplicate"

    @pytest.mark.parametrize("kind", KINDS)
    def test_there_and_back_at_once__are_two_edges_and_no_deadlock(self, world: World, kind: str) -> None:
        proposer, ends = world.key("proposer"), ends_of(world, kind)
        back = (ends[1], ends[0])
        outcomes = at_once([partial(propose, proposer, one) for one in (ends, back)] * 4)
        assert {code_of(one) for one in outcomes} == {"ok"}
        assert Edge.objects.count() == 2

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("taken", ["propose", "reader", "key", "banned"])
    def test_permission_that_went_between_decision_and_append__leaves_nothing_behind(
        self, world: World, monkeypatch: pytest.MonkeyPatch, kind: str, taken: str
    ) -> None:
        proposer, ends = world.key("proposer"), ends_of(world, kind)
        with stopped(monkeypatch, STORED, partial(propose, proposer, ends)) as late:
            if taken == "key":
                revoke_key(world.admin, key=proposer.key_id)
            elif taken == "banned":
                add_ban(world.admin, kind="key", value=proposer.key_id, reason="flooding")
            else:
                capability = Capability(taken)
                remove_grant(world.admin, grant=Grant.objects.get(key=proposer.key_id, capability=capability).pk)
        codes = {"propose": "access.forbidden", "banned": "admission.banned"}
        assert code_of(late.result()) == codes.get(taken, "access.not_found")
        assert not Edge.objects.exists()
        assert not order_of(f"{kind}.relate_proposed")
        verified(world.admin.tenant_id)

    @pytest.mark.parametrize("kind", KINDS)
    def test_from_node_validated_between_decision_and_append__is_frozen(
        self, world: World, monkeypatch: pytest.MonkeyPatch, kind: str
    ) -> None:
        proposer, ends = world.key("proposer"), ends_of(world, kind)
        with stopped(monkeypatch, DECIDED, partial(propose, proposer, ends)) as late:
            advance_status(world.admin, workarea="universe.a", status="validated")
        assert code_of(late.result()) == "workarea.frozen"
        assert not Edge.objects.exists()


def demote(world: World, artifact: str) -> Any:
    return demote_memory(world.admin, artifact=artifact, reason="wrong")


def erase(world: World, artifact: str) -> Any:
    return erase_memory(world.admin, artifact=artifact, reason="asked for")


class TestEndpointThatGoes:
    """What the journal says is the order in which it happened: no edge is proposed or agreed to on what was gone."""

    @pytest.mark.parametrize(("end", "event"), [(demote, "lifecycle.demote"), (erase, "lifecycle.erase")])
    @pytest.mark.parametrize("which", [0, 1])
    def test_propose_against_its_end__is_before_it_or_not_at_all(
        self, world: World, end: Callable[[World, str], Any], event: str, which: int
    ) -> None:
        for round_ in range(4):
            ends = ends_of(world, "claim")
            calls = [partial(propose, world.key("proposer"), ends), partial(end, world, ends[which])]
            if round_ % 2:
                calls.reverse()
            outcomes = at_once(calls)
            proposed = outcomes[round_ % 2]
            assert code_of(outcomes[1 - round_ % 2]) == "ok"
            assert code_of(proposed) in {"ok", "access.not_found"}
            order = order_of("claim.relate_proposed", event)
            expected = ["claim.relate_proposed", event] if code_of(proposed) == "ok" else [event]
            assert order[-len(expected) :] == expected

    @pytest.mark.parametrize(("end", "event"), [(demote, "lifecycle.demote"), (erase, "lifecycle.erase")])
    @pytest.mark.parametrize("which", [0, 1])
    def test_end_of_a_claim_that_a_proposal_has_decided_on__waits_for_the_proposal(
        self,
        world: World,
        monkeypatch: pytest.MonkeyPatch,
        end: Callable[[World, str], Any],
        event: str,
        which: int,
    ) -> None:
        ends = ends_of(world, "claim")
        with stopped(monkeypatch, DECIDED, partial(propose, world.key("proposer"), ends)) as late:
            ending = Running(partial(end, world, ends[which]))
            ending.is_waiting(1)
        assert [code_of(one.result()) for one in (late, ending)] == ["ok", "ok"]
        assert order_of("claim.relate_proposed", event) == ["claim.relate_proposed", event]
        if event == "lifecycle.erase":  # words beside an erased claim go with it
            assert Edge.objects.get().note == ""

    @pytest.mark.parametrize("which", [0, 1])
    def test_proposal_against_the_ratification_of_the_next_version__is_before_it_or_not_at_all(
        self, world: World, which: int
    ) -> None:
        for round_ in range(4):
            ends = ends_of(world, "claim")
            command = VersionCommand(artifact=ends[which], text="A better fact.")
            newer = supersede_memory(world.writer, command=command)["artifact_id"]
            world.scan()
            serve = world.serve(newer)
            calls = [partial(propose, world.key("proposer"), ends), partial(world.judge, serve)]
            if round_ % 2:
                calls.reverse()
            outcomes = at_once(calls)
            assert code_of(outcomes[1 - round_ % 2]) == "ok"
            proposed = code_of(outcomes[round_ % 2])
            assert proposed in {"ok", "access.not_found"}
            order = order_of("claim.relate_proposed", "lifecycle.demote")
            expected = ["claim.relate_proposed", "lifecycle.demote"] if proposed == "ok" else ["lifecycle.demote"]
            assert order[-len(expected) :] == expected

    @pytest.mark.parametrize(("end", "event"), [(demote, "lifecycle.demote"), (erase, "lifecycle.erase")])
    @pytest.mark.parametrize("which", [0, 1])
    def test_ratification_against_its_end__is_before_it_or_stale(
        self, world: World, end: Callable[[World, str], Any], event: str, which: int
    ) -> None:
        proposer = world.key("proposer")
        for round_ in range(4):
            ends = ends_of(world, "claim")
            serve = serve_edge(world.reviewer, edge=propose(proposer, ends)["edge_id"])
            calls = [partial(judge, serve, world.reviewer), partial(end, world, ends[which])]
            if round_ % 2:
                calls.reverse()
            outcomes = at_once(calls)
            assert code_of(outcomes[1 - round_ % 2]) == "ok"
            ratified = code_of(outcomes[round_ % 2])
            assert ratified in {"ok", "review.stale"}
            order = order_of("claim.relate_ratified", event)
            expected = ["claim.relate_ratified", event] if ratified == "ok" else [event]
            assert order[-len(expected) :] == expected
            assert EdgeVerdict.objects.filter(serve=serve).exists() is (ratified == "ok")

    @pytest.mark.parametrize(("end", "event"), [(demote, "lifecycle.demote"), (erase, "lifecycle.erase")])
    def test_end_of_a_claim_that_a_verdict_is_about_to_link__waits_for_the_verdict(
        self, world: World, monkeypatch: pytest.MonkeyPatch, end: Callable[[World, str], Any], event: str
    ) -> None:
        ends = ends_of(world, "claim")
        serve = serve_edge(world.reviewer, edge=propose(world.key("proposer"), ends)["edge_id"])
        with stopped(monkeypatch, JUDGED, partial(judge, serve, world.reviewer)) as late:
            ending = Running(partial(end, world, ends[0]))
            ending.is_waiting(1)
        assert [code_of(one.result()) for one in (late, ending)] == ["ok", "ok"]
        assert order_of("claim.relate_ratified", event) == ["claim.relate_ratified", event]


class TestRatify:
    @pytest.mark.parametrize("kind", KINDS)
    def test_two_reviewers_at_once__one_decides_and_the_other_is_stale(self, world: World, kind: str) -> None:
        edge = propose(world.key("proposer"), ends_of(world, kind))["edge_id"]
        reviewers = [world.reviewer, world.reviewer2, world.key("reviewer")]
        serves = [serve_edge(reviewer, edge=edge) for reviewer in reviewers]
        calls = [partial(judge, serve, reviewer) for serve, reviewer in zip(serves, reviewers, strict=True)]
        assert Counter(map(code_of, at_once(calls))) == {"ok": 1, "review.stale": 2}
        assert EdgeVerdict.objects.count() == 1
        journalled(f"{kind}.relate_ratified", once=True)
        assert Edge.objects.get().state == "ratified"

    @pytest.mark.parametrize("kind", KINDS)
    def test_one_serve_ten_times_at_once__is_consumed_once(self, world: World, kind: str) -> None:
        edge = propose(world.key("proposer"), ends_of(world, kind))["edge_id"]
        serve = serve_edge(world.reviewer, edge=edge)
        codes = Counter(map(code_of, at_once([partial(judge, serve, world.reviewer)] * 10)))
        assert codes == {"ok": 1, "review.serve_consumed": 9}
        journalled("review.verdict", tenant_id=world.admin.tenant_id)

    @pytest.mark.parametrize("kind", KINDS)
    def test_ratify_against_reject__one_wins_and_the_edge_says_which(self, world: World, kind: str) -> None:
        proposer, ends = world.key("proposer"), ends_of(world, kind)
        for _ in range(4):
            edge = propose(proposer, ends)["edge_id"]
            serves = [serve_edge(one, edge=edge) for one in (world.reviewer, world.reviewer2)]
            ratify = partial(judge, serves[0], world.reviewer)
            reject = partial(judge, serves[1], world.reviewer2, VerdictWord.REJECT)
            outcomes = at_once([ratify, reject])
            assert Counter(map(code_of, outcomes)) == {"ok": 1, "review.stale": 1}
            won = "ratified" if code_of(outcomes[0]) == "ok" else "rejected"
            assert Edge.objects.get(pk=edge).state == won
            Edge.objects.filter(pk=edge).update(state="rejected")

    def test_edges_of_one_pair_of_claims_ratified_both_ways_at_once__deadlock_nobody(self, world: World) -> None:
        proposer, ends = world.key("proposer"), ends_of(world, "claim")
        there, back = (propose(proposer, one)["edge_id"] for one in (ends, (ends[1], ends[0])))
        calls = [
            partial(judge, serve_edge(world.reviewer, edge=there), world.reviewer),
            partial(judge, serve_edge(world.reviewer2, edge=back), world.reviewer2),
        ]
        assert [code_of(one) for one in at_once(calls)] == ["ok", "ok"]
        assert set(Edge.objects.values_list("state", flat=True)) == {"ratified"}

    def test_review_taken_back_between_decision_and_append__ratifies_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edge = propose(world.key("proposer"), ends_of(world, "workarea"))["edge_id"]
        serve = serve_edge(world.reviewer, edge=edge)
        with stopped(monkeypatch, JUDGED, partial(judge, serve, world.reviewer)) as late:
            grant = Grant.objects.get(key=world.reviewer.key_id, capability=Capability.REVIEW)
            remove_grant(world.admin, grant=grant.pk)
        assert code_of(late.result()) == "access.forbidden"
        assert Edge.objects.get().state == "pending"
        assert EdgeServe.objects.get().consumed_at is None

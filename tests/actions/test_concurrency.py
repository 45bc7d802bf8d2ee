"""Races, with real second connections: what two callers at once may never bring about."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from memory.claims.actions.lifecycle import demote_memory
from memory.claims.actions.scan import scan_artifacts
from memory.claims.actions.supersede import withdraw_memory
from memory.claims.models import Artifact, ScanReport
from memory.graph.selectors.tail import events_tail
from memory.recall.commands import RecallCommand
from memory.recall.selectors import recall
from oml.core.actor import Actor
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from review.models import Serve, Verdict
from review.policy import VerdictWord
from tests.support.chain import verified
from tests.support.journal import journalled
from tests.support.threads import Running, at_once, code_of, stopped
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.keys import GrantSpec, add_grant, remove_grant, revoke_key, rotate_key
from workareas.actions.nodes import advance_status, allow_relaxed_review, create_workarea, set_policy
from workareas.actions.reassign import reassign
from workareas.models import Effect, Grant, Workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db(transaction=True)

STORED = "memory.claims.actions.submit.store"
APPENDED = "memory.claims.actions.submit.append"
KEPT = "workareas.reasons.keep"
JUDGED = "review.actions.verdict.signed_verdict"


@pytest.fixture
def world(transactional_db: None) -> World:
    return World.build("acme")


def take_back_writing(world: World, actor: Actor) -> None:
    for grant in Grant.objects.filter(key=actor.key_id, capability=Capability.WRITER):
        remove_grant(world.admin, grant=grant.pk)


def deny_writing(world: World, actor: Actor) -> None:
    add_grant(world.admin, key=actor.key_id, spec=GrantSpec("universe.a", Capability.WRITER, Effect.DENY))


def revoke(world: World, actor: Actor) -> None:
    revoke_key(world.admin, key=actor.key_id)


def ban_author(world: World, actor: Actor) -> None:
    add_ban(world.admin, kind="principal", value=actor.principal_id, reason="flooding")


def freeze(world: World, actor: Actor) -> None:
    advance_status(world.admin, workarea="universe.a", status="validated")


class TestSubmit:
    def test_ten_times_the_same_idempotency_key_at_once__are_one_row(self, world: World) -> None:
        request = partial(world.submitted, claim_key="quote", text="A fact.", idempotency_key="run-1")
        outcomes = at_once([request] * 10)
        codes = Counter(code_of(one) for one in outcomes)
        assert set(codes) <= {"ok", "request.idempotency_in_flight"}
        answers = [one for one in outcomes if isinstance(one, dict)]
        assert len({one["artifact_id"] for one in answers}) == 1
        assert sum(not one["idempotent_replay"] for one in answers) == 1
        assert Artifact.objects.count() == 1
        journalled("submission.remember", once=True)
        assert request()["idempotent_replay"] is True

    def test_ten_times_the_same_claim_key_at_once__are_one_row_and_nine_conflicts(self, world: World) -> None:
        outcomes = at_once([partial(world.submitted, claim_key="quote")] * 10)
        assert Counter(map(code_of, outcomes)) == {"ok": 1, "submission.claim_key_conflict": 9}
        assert Artifact.objects.count() == 1

    def test_in_flight__first_still_running__second_is_told_to_come_back(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        request = partial(world.submitted, claim_key="quote", text="A fact.", idempotency_key="run-1")
        with stopped(monkeypatch, STORED, request) as first:
            with pytest.raises(OmlError) as caught:
                request()
            assert caught.value.code == "request.idempotency_in_flight"
            assert caught.value.retryable
        assert code_of(first.result()) == "ok"
        assert request()["idempotent_replay"] is True

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            (take_back_writing, "access.forbidden"),
            (deny_writing, "access.forbidden"),
            (revoke, "access.not_found"),
            (ban_author, "admission.banned"),
            (freeze, "workarea.frozen"),
        ],
    )
    def test_permission_that_went_between_decision_and_append__leaves_nothing_behind(
        self,
        world: World,
        monkeypatch: pytest.MonkeyPatch,
        change: Callable[[World, Actor], None],
        code: str,
    ) -> None:
        with stopped(monkeypatch, STORED, partial(world.submitted, text="Too late.")) as late:
            change(world, world.writer)
        assert code_of(late.result()) == code
        assert not Artifact.objects.exists()
        assert not JournalEntry.objects.filter(event_type="submission.remember").exists()
        verified(world.writer.tenant_id)

    @pytest.mark.parametrize("where", ["workareas.access.find", "workareas.access.load"])
    def test_node_that_froze_between_its_look_up_and_the_decision__takes_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch, where: str
    ) -> None:
        with stopped(monkeypatch, where, partial(world.submitted, text="Too late.")) as late:
            freeze(world, world.writer)
        assert code_of(late.result()) == "workarea.frozen"
        assert not Artifact.objects.exists()

    def test_grant_taken_back_in_a_storm_of_submissions__no_write_stands_after_it(self, world: World) -> None:
        keys = [world.key("writer", on="a") for _ in range(3)]

        def storm(actor: Actor) -> list[str]:
            return [code_of(at_most(partial(world.submitted, actor))) for _ in range(8)]

        def guard() -> None:
            for actor in keys:
                time.sleep(0.03)
                take_back_writing(world, actor)

        outcomes = at_once([*[partial(storm, actor) for actor in keys], guard])
        codes = {code for outcome in outcomes[:-1] for code in outcome}
        assert codes <= {"ok", "access.forbidden", "internal.unavailable"}
        for actor in keys:
            taken_back = JournalEntry.objects.filter(event_type="grant.removed", canonical__contains=actor.key_id).get()
            written = [
                row.seq
                for row in JournalEntry.objects.filter(event_type="submission.remember")
                if actor.key_id in row.canonical
            ]
            assert all(seq < taken_back.seq for seq in written)


def at_most(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except OmlError as error:
        return error


class TestVerdict:
    def test_thirty_verdicts_on_one_serve__one_counts(self, world: World) -> None:
        artifact = world.submit()
        world.scan()
        serve = world.serve(artifact)
        outcomes = at_once([partial(world.judge, serve)] * 30)
        assert Counter(map(code_of, outcomes)) == {"ok": 1, "review.serve_consumed": 29}
        assert Verdict.objects.count() == 1
        journalled("review.verdict", once=True)
        journalled("lifecycle.promote", once=True)

    @pytest.mark.parametrize("round_", range(5))
    def test_ratify_against_reject__one_wins_and_the_other_is_stale(self, world: World, round_: int) -> None:
        artifact = world.submit()
        world.scan()
        ratify = partial(world.judge, world.serve(artifact))
        second = world.serve(artifact, by=world.reviewer2)
        reject = partial(world.judge, second, by=world.reviewer2, word=VerdictWord.REJECT, reason="no")
        calls: list[Callable[[], Any]] = [ratify, reject]
        if round_ % 2:
            calls.reverse()
        codes = Counter(map(code_of, at_once(calls)))
        assert codes == {"ok": 1, "review.stale": 1}
        row = world.row(artifact)
        ends = JournalEntry.objects.filter(event_type__in=["lifecycle.promote", "lifecycle.reject"])
        assert ends.get().event_type == {"promoted": "lifecycle.promote", "rejected": "lifecycle.reject"}[row.state]

    def test_one_principal_with_two_serves_at_once__judges_once(self, world: World) -> None:
        set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
        artifact = world.submit()
        world.scan()
        serves = [world.serve(artifact) for _ in range(4)]
        codes = Counter(map(code_of, at_once([partial(world.judge, serve) for serve in serves])))
        assert codes == {"ok": 1, "review.stale": 3}
        assert world.row(artifact).state == "held"

    def test_two_principals_at_once_where_two_are_needed__promote_once(self, world: World) -> None:
        set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
        artifact = world.submit()
        world.scan()
        calls = [partial(world.ratify, artifact, by=one) for one in (world.reviewer, world.reviewer2)]
        assert Counter(map(code_of, at_once(list(calls)))) == {"ok": 2}
        assert world.row(artifact).state == "promoted"
        journalled("lifecycle.promote", once=True)

    @pytest.mark.parametrize("grant_or_key", ["grant", "key"])
    def test_review_taken_back_between_decision_and_append__promotes_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch, grant_or_key: str
    ) -> None:
        artifact = world.submit()
        world.scan()
        serve = world.serve(artifact)
        with stopped(monkeypatch, JUDGED, partial(world.judge, serve)) as late:
            if grant_or_key == "key":
                revoke_key(world.admin, key=world.reviewer.key_id)
            else:
                grant = Grant.objects.get(key=world.reviewer.key_id, capability=Capability.REVIEW)
                remove_grant(world.admin, grant=grant.pk)
        assert code_of(late.result()) in {"access.not_found", "access.forbidden"}
        assert world.row(artifact).state == "held"
        assert not Verdict.objects.exists()
        assert Serve.objects.get().consumed_at is None

    def test_policy_made_stricter_between_decision_and_append__is_applied(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        artifact = world.submit()
        world.scan()
        with stopped(monkeypatch, JUDGED, partial(world.judge, world.serve(artifact))) as late:
            set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
        assert code_of(late.result()) == "review.stale"
        assert world.row(artifact).state == "held"

    def test_relaxed_review_ended_between_decision_and_append__nothing_is_self_signed(
        self, transactional_db: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world = World.build("relaxed", paths=("a",), committed=False)
        allow_relaxed_review(world.admin, allowed=True)
        hand = world.key("reviewer", principal=world.writer.principal_id)
        artifact = world.submit()
        world.scan()
        with stopped(monkeypatch, JUDGED, partial(world.ratify, artifact, by=hand)) as late:
            allow_relaxed_review(world.admin, allowed=False)
        assert code_of(late.result()) == "review.stale"
        assert world.row(artifact).state == "held"


class TestTree:
    """Acts on nodes and keys against writes that are just about to commit: no deadlock, no half-seen tree."""

    def acts(self, world: World) -> dict[str, Callable[[], Any]]:
        admin = world.admin
        return {
            "status": lambda: advance_status(admin, workarea="universe.a", status="validated"),
            "reassign": lambda: reassign(admin, workarea="universe.a", parent="universe.b"),
            "child": lambda: create_workarea(admin, parent="universe.a", leaf="late"),
            "revoke": lambda: revoke_key(admin, key=world.writer.key_id),
            "rotate": lambda: rotate_key(admin, key=world.writer.key_id, overlap_s=60),
            "policy": lambda: set_policy(admin, workarea="universe.a", settings={"min_verdicts": 2}),
        }

    @pytest.mark.parametrize("act", ["status", "reassign", "child", "revoke", "rotate", "policy"])
    def test_act_against_a_submission_that_has_appended__both_end_and_neither_is_torn(
        self, world: World, monkeypatch: pytest.MonkeyPatch, act: str
    ) -> None:
        with stopped(monkeypatch, APPENDED, partial(world.submitted, text="First.")) as first:
            second = Running(self.acts(world)[act])
            assert second.is_waiting(0.5)
        assert code_of(first.result()) == "ok"
        expected = "workarea.unreviewed" if act == "status" else "ok"
        assert code_of(second.result()) == expected
        verified(world.admin.tenant_id)

    def test_step_against_a_submission_that_has_not_appended__never_leaves_held_work_in_a_validated_node(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for _ in range(6):
            outcomes = at_once(
                [
                    partial(at_most, partial(world.submitted, on="b")),
                    partial(at_most, partial(advance_status, world.admin, workarea="universe.b", status="validated")),
                ]
            )
            node = Workarea.objects.get(path="universe.b")
            held = Artifact.objects.filter(workarea=node, state="held")
            assert not (node.status == "validated" and held.exists()), [code_of(one) for one in outcomes]
            Workarea.objects.filter(pk=node.pk).update(status="committed")
            held.update(state="rejected", cause="verdict")

    def test_lineage_on_a_source_that_is_being_replaced__deadlocks_nobody(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = world.promoted()
        with stopped(monkeypatch, APPENDED, partial(world.learn, sources=[source], text="Derived.")) as first:
            second = Running(partial(demote_memory, world.admin, artifact=source, reason="wrong"))
            assert second.is_waiting(0.5)
        assert code_of(first.result()) == "ok"
        assert code_of(second.result()) == "ok"

    def test_lineage_on_a_source_that_is_being_demoted__waits_and_is_refused(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = world.promoted()
        demote = partial(demote_memory, world.admin, artifact=source, reason="wrong")
        with stopped(monkeypatch, "memory.claims.actions.lifecycle.append", demote) as first:
            second = Running(partial(world.learn, sources=[source], text="Derived."))
            assert second.is_waiting(0.5)
        assert code_of(first.result()) == "ok"
        assert code_of(second.result()) == "access.not_found"

    def test_lineage_on_one_source_by_two_at_once__waits_for_nobody(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = world.promoted()
        with stopped(monkeypatch, STORED, partial(world.learn, sources=[source], text="Derived.")) as first:
            second = Running(partial(world.learn, world.writer2, sources=[source], text="Derived too."))
            assert code_of(second.result()) == "ok"
        assert code_of(first.result()) == "ok"

    def test_child_made_while_its_parent_moves__has_the_path_of_where_it_is(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        move = partial(reassign, world.admin, workarea="universe.a", parent="universe.b", reason="belongs there")
        with stopped(monkeypatch, KEPT, move) as moving:
            child = Running(partial(create_workarea, world.admin, parent=world.nodes["a"].pk, leaf="late"))
            child.is_waiting(0.5)
        assert [code_of(one.result()) for one in (moving, child)] == ["ok", "ok"]
        for node in Workarea.objects.exclude(parent=None).select_related("parent"):
            assert node.parent is not None
            assert node.path == f"{node.parent.path}.{node.leaf}"

    def test_claim_scanned_and_ratified_while_its_node_moves__is_found_where_it_is(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        artifact = world.submit(text="Aluminium costs 412 USD/t.")

        def admit() -> None:
            world.scan()
            world.ratify(artifact)

        move = partial(reassign, world.admin, workarea="universe.a", parent="universe.b", reason="belongs there")
        with stopped(monkeypatch, KEPT, move) as moving:
            admitting = Running(admit)
            admitting.is_waiting(1.5)
        assert [code_of(one.result()) for one in (moving, admitting)] == ["ok", "ok"]
        for scope in ("universe.b", "universe.b.a", "universe"):
            found = recall(world.reader, command=RecallCommand(query="aluminium", scope=scope))
            assert [hit["artifact_id"] for hit in found["hits"]] == [artifact], scope


class TestJournal:
    def test_eight_writers_in_two_tenants__nothing_lost_nothing_doubled_and_both_chains_verify(
        self, transactional_db: None
    ) -> None:
        worlds = [World.build(name, paths=("a",)) for name in ("left", "right")]

        def write(world: World, number: int) -> list[str]:
            return [world.submit(claim_key=f"c-{number}-{count}") for count in range(12)]

        outcomes = at_once([partial(write, worlds[number % 2], number) for number in range(8)])
        for side, world in enumerate(worlds):
            mine = [artifact for outcome in outcomes[side::2] for artifact in outcome]
            rows = Artifact.objects.filter(tenant_id=world.writer.tenant_id)
            assert sorted(rows.values_list("pk", flat=True)) == sorted(mine)
            verified(world.writer.tenant_id)
            submitted = JournalEntry.objects.filter(tenant_id=world.writer.tenant_id, event_type="submission.remember")
            assert sorted(submitted.values_list("subject_id", flat=True)) == sorted(mine)

    def test_tail_polled_under_writers__misses_none_and_repeats_none(self, world: World) -> None:
        done: list[bool] = []
        start = events_tail(world.reader, scope="universe.b", after_seq=None, limit=1)[0]["head_seq"]

        def build(number: int) -> list[str]:
            pause = random.Random(number)
            made = []
            for count in range(10):
                made.append(create_workarea(world.admin, parent="universe.b", leaf=f"n{number}-{count}").pk)
                time.sleep(pause.random() / 50)
            return made

        def poll() -> list[str]:
            seen: list[str] = []
            after = start
            while True:
                last_round = bool(done)
                body, _ = events_tail(world.reader, scope="universe.b", after_seq=after, limit=3)
                seen += [event["subject"]["workarea_id"] for event in body["events"]]
                if body["events"]:
                    after = body["events"][-1]["seq"]
                elif last_round:
                    return seen

        def builders() -> list[str]:
            made = at_once([partial(build, number) for number in range(4)])
            done.append(True)
            return [pk for part in made for pk in part]

        made, *polled = at_once([builders, poll, poll])
        for seen in polled:
            assert sorted(seen) == sorted(made)
        assert polled[0] == polled[1]

    def test_same_scan_delivered_four_times_at_once__is_done_once(self, world: World) -> None:
        artifact = world.submit()
        assert all(code_of(one) == "ok" for one in at_once([partial(scan_artifacts, [artifact])] * 4))
        journalled("admission.scanned", once=True)
        assert world.row(artifact).scan_state == "clean"
        assert ScanReport.objects.filter(artifact=artifact).values("scanner").distinct().count() == (
            ScanReport.objects.filter(artifact=artifact).count()
        )

    def test_scan_late_against_a_withdrawal__ends_withdrawn_and_unscanned_or_scanned_before(self, world: World) -> None:
        artifact = world.submit()
        calls: list[Callable[[], Any]] = [
            partial(scan_artifacts, [artifact]),
            partial(withdraw_memory, world.writer, artifact=artifact),
        ]
        assert [code_of(one) for one in at_once(calls)] == ["ok", "ok"]
        row = world.row(artifact)
        assert (row.state, row.cause) == ("rejected", "withdrawn")
        verified(world.writer.tenant_id)

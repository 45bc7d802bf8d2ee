"""Pins, checkpoint and notes across runs, and who reads them (seed: agent-memory; design: agent-state)."""

from __future__ import annotations

from typing import Any

import pytest

from memory.claims.actions.lifecycle import demote_memory
from memory.claims.actions.supersede import supersede_memory
from memory.claims.commands import VersionCommand
from memory.claims.models import Artifact
from memory.claims.selectors.reading import read_artifact
from memory.graph.selectors.graph import GraphQuery
from memory.graph.selectors.tail import events_tail
from memory.reads import scoped_graph
from memory.recall.commands import RecallCommand
from memory.recall.models import ServingRow
from memory.recall.selectors import recall
from memory.runs.errors import MemoryCap, MemoryTooLarge, RunOver
from memory.runs.models import AgentMemory, Run
from memory.runs.rules import Scope
from oml.core.errors import CeilingExceeded, OmlError, Validation
from oml.journal.models import JournalEntry
from tests.support.runs import AgentRun, begin, register
from tests.support.world import World
from workareas.actions.keys import revoke_key
from workareas.actions.nodes import advance_status, allow_relaxed_review
from workareas.errors import AccessNotFound, Frozen, UniverseWrite, VerbCeiling

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = World.build("runs", paths=("a", "b"))
    register(world)
    return world


@pytest.fixture
def relaxed() -> World:
    world = World.build("loose", paths=("a",), committed=False)
    allow_relaxed_review(world.admin, allowed=True)
    register(world)
    return world


def events(world: World) -> list[str]:
    rows = JournalEntry.objects.filter(tenant_id=world.admin.tenant_id).order_by("seq")
    return list(rows.values_list("event_type", flat=True))


# --- private state --------------------------------------------------------------------------------------------------


def test_pin__again_under_the_same_key__the_last_write_wins(world: World) -> None:
    run = begin(world)
    run.pin("persona", "terse")
    run.pin("persona", "verbose")
    assert run.sees() == {"persona": "verbose"}
    assert AgentMemory.objects.count() == 1


@pytest.mark.parametrize("value", ["plain", 7, 1.5, True, None, [1, {"b": 2, "a": 1}], {"z": "\x01", "a": "é\u2028"}])
def test_pin__any_json_value__comes_back_as_sent_in_the_next_run(world: World, value: Any) -> None:
    begin(world).pin("state", value)
    assert begin(world).sees() == {"state": value}


@pytest.mark.parametrize("wrong", [{"deep": ["\ud800"]}, "\x00", {"a\x00": 1}, [["\x00"]], float("inf")])
def test_pin__text_or_a_number_that_cannot_be__is_refused_and_nothing_is_written(world: World, wrong: Any) -> None:
    with pytest.raises(Validation):
        begin(world).pin("state", wrong)
    assert not AgentMemory.objects.exists()


def test_pin__content_of_more_than_64_kib__is_refused_whole(world: World) -> None:
    run = begin(world)
    run.pin("state", "x" * 65_534)
    with pytest.raises(MemoryTooLarge):
        run.pin("state", "y" * 65_535)
    assert run.sees() == {"state": "x" * 65_534}


def test_pin__a_checkpoint__is_on_the_run_and_in_the_next_ones_prompt(world: World) -> None:
    run = begin(world)
    run.pin("checkpoint", {"cursor": 41})
    run.pin("checkpoint", {"cursor": 42})
    assert Run.objects.get(pk=run.id).checkpoint == '{"cursor":42}'
    run.finish()
    following = begin(world)
    assert "## Checkpoint (actor)" in following.context
    assert '{"cursor": 42}' in following.context
    assert following.history()["runs"][0]["checkpoint"] == {"cursor": 42}


def test_private_state__of_another_identity__is_seen_by_nobody_else(world: World) -> None:
    mine = begin(world)
    mine.pin("persona", "mine alone")
    mine.pin("checkpoint", 1)
    mine.note("a private finding")
    mine.finish()
    theirs = begin(world, world.writer2)
    assert theirs.context == ""
    assert theirs.recalls() == []
    assert theirs.history()["runs"] == []


def test_private_state__of_one_identity_under_two_keys__is_one(world: World) -> None:
    begin(world).note("kept")
    other_key = world.key("writer", principal=world.writer.principal_id)
    assert begin(world, other_key).recalls() == ["kept"]


def test_private_state__in_another_space__is_another_memory(world: World) -> None:
    begin(world, on="a").note("of a")
    assert begin(world, on="b").recalls() == []


def test_private_write__by_a_reader__is_kept_because_it_changes_nobody_elses_view(world: World) -> None:
    run = begin(world, world.reader)
    run.note("for myself")
    assert run.recalls() == ["for myself"]


def test_private_write__is_journalled__by_ids_and_a_commitment_alone(world: World) -> None:
    run = begin(world)
    run.pin("persona", "SECRETWORD")
    entry = JournalEntry.objects.filter(event_type="state.pinned").get()
    assert "SECRETWORD" not in entry.canonical
    assert "persona" not in entry.canonical
    assert '"content_commitment":"' in entry.canonical


# --- notes ----------------------------------------------------------------------------------------------------------


def test_note__of_2000_characters__is_kept_and_one_more_is_refused(world: World) -> None:
    run = begin(world)
    run.note("é" * 2000)
    with pytest.raises(MemoryTooLarge):
        run.note("é" * 2001)
    assert run.recalls() == ["é" * 2000]


def test_note__the_hundred_and_first__is_dropped_and_says_so(world: World) -> None:
    run = begin(world)
    for number in range(100):
        run.note(f"note {number}")
    with pytest.raises(MemoryCap) as refused:
        run.note("one too many")
    assert "not kept" in refused.value.message
    assert "one too many" not in run.recalls(limit=50)
    run.pin("persona", "slots do not count")


def test_recall__is_a_literal_search_without_case_newest_first(world: World) -> None:
    run = begin(world)
    texts = ["100% of users", "snake_case", "snakeXcase", 'he said "hi"', "STRASSE", "straße", "a\\b"]
    for text in texts:
        run.note(text)
    assert run.recalls() == texts[::-1]
    assert run.recalls("%") == ["100% of users"]
    assert run.recalls("_") == ["snake_case"]
    assert run.recalls('"HI"') == ['he said "hi"']
    assert run.recalls("strasse") == ["straße", "STRASSE"]
    assert run.recalls("\\") == ["a\\b"]
    assert run.recalls(limit=2) == ["a\\b", "straße"]


@pytest.mark.parametrize(("limit", "refusal"), [(0, Validation), (51, CeilingExceeded)])
def test_limits__outside_one_to_fifty__are_refused(world: World, limit: int, refusal: type[OmlError]) -> None:
    run = begin(world)
    with pytest.raises(refusal):
        run.recalls(limit=limit)
    with pytest.raises(refusal):
        run.history(limit=limit)


# --- runs -----------------------------------------------------------------------------------------------------------


def test_history__shows_successful_runs_alone__newest_first_with_what_was_asked(world: World) -> None:
    for number in range(3):
        run = begin(world)
        run.pin("checkpoint", number)
        run.finish(result={"n": number})
    failed = begin(world)
    failed.pin("checkpoint", "lost")
    failed.finish(status="failed")
    begin(world)
    page = begin(world).history(limit=2, fields=("checkpoint", "result"))
    assert [(run["checkpoint"], run["result"]) for run in page["runs"]] == [(2, {"n": 2}), (1, {"n": 1})]
    assert page["has_more"] is True


def test_run__finished__takes_no_late_write(world: World) -> None:
    run = begin(world)
    run.finish()
    assert run.finish()["status"] == "success"
    with pytest.raises(RunOver):
        run.finish(status="failed")
    with pytest.raises(RunOver):
        run.pin("persona", "late")
    assert not AgentMemory.objects.exists()


def test_run__whose_key_is_revoked_in_mid_run__takes_no_late_write(world: World) -> None:
    run = begin(world)
    revoke_key(world.admin, key=world.writer.key_id)
    for scope in Scope:
        with pytest.raises(RunOver):
            run.note("late", scope=scope)
    assert not AgentMemory.objects.exists()


def test_run__by_an_operator__is_refused(world: World) -> None:
    with pytest.raises(VerbCeiling):
        begin(world, world.operator)


# --- shared state ---------------------------------------------------------------------------------------------------


def shared(run: AgentRun, **fields: Any) -> str:
    """Pin a shared goal and return its artifact."""
    fields.setdefault("content", "ship it")
    answer = run.pin("goals", fields["content"], scope=Scope.SHARED)
    assert answer["state"] == "held", answer
    return str(answer["artifact_id"])


def test_shared_pin__in_a_committed_space__is_held_until_another_hand_ratifies_it(world: World) -> None:
    artifact = shared(begin(world))
    assert begin(world).sees() == {}
    assert begin(world, world.writer2).sees() == {}
    world.scan()
    world.ratify(artifact)
    assert begin(world, world.writer2).sees() == {"goals": "ship it"}
    assert "### goals (shared)" in begin(world, world.writer2).context


def test_shared_pin__of_a_new_value__leaves_the_last_ratified_one_in_place_until_it_is_ratified(world: World) -> None:
    first = shared(begin(world), content={"v": 1})
    world.scan()
    world.ratify(first)
    second = shared(begin(world, world.writer2), content={"v": 2})
    assert begin(world).sees() == {"goals": {"v": 1}}
    world.scan()
    world.ratify(second)
    assert begin(world).sees() == {"goals": {"v": 2}}
    assert Artifact.objects.get(pk=first).cause == "superseded"


def test_shared_pins__of_two_authors_side_by_side__the_last_ratified_is_served(world: World) -> None:
    mine, theirs = shared(begin(world), content="mine"), shared(begin(world, world.writer2), content="theirs")
    world.scan()
    world.ratify(theirs)
    world.ratify(mine)
    assert begin(world).sees() == {"goals": "mine"}
    assert Artifact.objects.filter(state="promoted").count() == 1


def test_shared_pin__again_by_its_author__takes_the_held_one_back(world: World) -> None:
    older = shared(begin(world), content="older")
    newer = shared(begin(world), content="newer")
    assert Artifact.objects.get(pk=older).cause == "withdrawn"
    assert Artifact.objects.get(pk=newer).state == "held"


def test_shared_note__is_recalled_once_ratified_and_counts_while_it_is_held(world: World) -> None:
    run = begin(world)
    artifact = str(run.note("the inbox has two owners", scope=Scope.SHARED)["artifact_id"])
    assert run.recalls() == []
    for number in range(99):
        run.note(f"shared {number}", scope=Scope.SHARED)
    with pytest.raises(MemoryCap):
        run.note("one too many", scope=Scope.SHARED)
    run.note("private ones have their own hundred")
    world.scan()
    world.ratify(artifact)
    assert begin(world, world.reader).recalls("OWNERS") == ["the inbox has two owners"]


def test_shared_write__rejected__makes_room_and_is_never_seen(world: World) -> None:
    run = begin(world)
    artifact = str(run.note("wrong", scope=Scope.SHARED)["artifact_id"])
    world.scan()
    world.reject(artifact)
    assert begin(world, world.writer2).recalls() == []


def test_shared_write__in_relaxed_development__takes_effect_at_once_and_is_marked(relaxed: World) -> None:
    run = begin(relaxed)
    answer = run.pin("goals", "ship it", scope=Scope.SHARED)
    assert (answer["state"], answer["self_signed"]) == ("promoted", True)
    run.note("an API quirk", scope=Scope.SHARED)
    other = begin(relaxed, relaxed.reader)
    assert "### goals (shared, self-signed)" in other.context
    assert other.recalls("quirk") == ["an API quirk"]
    assert run.pin("goals", "ship it later", scope=Scope.SHARED)["state"] == "promoted"
    assert begin(relaxed, relaxed.reader).sees() == {"goals": "ship it later"}
    assert events(relaxed)[-6:].count("review.verdict") == 1


def test_shared_write__in_relaxed_development_with_a_secret__is_refused_by_the_scanner(relaxed: World) -> None:
    answer = begin(relaxed).note(f"the key is {relaxed.secret[relaxed.writer]}", scope=Scope.SHARED)
    assert answer["state"] == "rejected"
    assert begin(relaxed).recalls() == []


def test_shared_write__in_a_validated_space__is_refused_and_private_ones_go_on(world: World) -> None:
    advance_status(world.admin, workarea=world.nodes["a"].pk, status="validated")
    run = begin(world)
    with pytest.raises(Frozen):
        run.pin("goals", "x", scope=Scope.SHARED)
    run.pin("goals", "mine")
    assert not Artifact.objects.exists()


def test_shared_write__in_the_root__is_refused(world: World) -> None:
    with pytest.raises(UniverseWrite):
        begin(world, on="universe").note("x", scope=Scope.SHARED)


def test_shared_write__by_a_reader__is_above_its_ceiling(world: World) -> None:
    with pytest.raises(VerbCeiling):
        begin(world, world.reader).pin("goals", "x", scope=Scope.SHARED)
    assert not AgentMemory.objects.exists()


def test_pins__of_one_key_private_and_shared__private_wins_whichever_came_last(world: World) -> None:
    run = begin(world)
    run.pin("goals", "mine")
    artifact = shared(begin(world, world.writer2))
    world.scan()
    world.ratify(artifact)
    assert run.sees() == {"goals": "mine"}
    assert begin(world, world.writer2).sees() == {"goals": "ship it"}


def test_retry__with_its_idempotency_key__writes_once_and_a_new_run_may_count_from_one_again(world: World) -> None:
    run = begin(world)
    first = run.note("once", idempotency_key="step-1")
    again = run.note("once", idempotency_key="step-1")
    assert again == {**first, "idempotent_replay": True}
    begin(world).note("another run", idempotency_key="step-1")
    assert AgentMemory.objects.count() == 2


# --- the tail -------------------------------------------------------------------------------------------------------


def test_tail__shows_runs_and_state_to_their_own_identity_alone(world: World) -> None:
    run = begin(world)
    run.note("kept")
    run.pin("goals", "x", scope=Scope.SHARED)
    run.finish()

    def tailed(actor: Any, scope: str = "universe.a") -> list[str]:
        body, _ = events_tail(actor, scope=scope, after_seq=0, limit=500)
        assert [event["seq"] for event in body["events"]] == sorted(event["seq"] for event in body["events"])
        return [
            event["event_type"] for event in body["events"] if event["event_type"].split(".")[0] in ("run", "state")
        ]

    mine = ["run.started", "state.noted", "state.pinned", "run.finished"]
    assert tailed(world.writer) == mine
    assert tailed(world.key("reader", principal=world.writer.principal_id)) == mine
    assert tailed(world.writer, "universe.b") == []
    for stranger in (world.writer2, world.reader, world.reviewer, world.admin):
        assert tailed(stranger) == []


def test_tail__of_a_ratified_shared_write__shows_it_to_no_reader(world: World) -> None:
    artifact = shared(begin(world))
    world.scan()
    world.ratify(artifact)
    demote_memory(world.admin, artifact=artifact, reason="old")
    body, _ = events_tail(world.reader, scope="universe.a", after_seq=0, limit=500)
    assert not [event for event in body["events"] if event["event_type"].startswith("lifecycle")]


def test_readers__of_the_workarea__meet_a_shared_write_nowhere(world: World) -> None:
    artifact = shared(begin(world), content="aluminium quote AM-7741")
    world.scan()
    world.ratify(artifact)
    with pytest.raises(AccessNotFound):
        read_artifact(world.reader, artifact=artifact)
    with pytest.raises(AccessNotFound):
        world.learn(sources=[artifact])
    found = recall(world.reader, command=RecallCommand(query="aluminium quote AM-7741", scope="universe"))
    assert found["hits"] == []
    assert scoped_graph(world.reader, query=GraphQuery(scope="universe"))["claims"] == []
    assert ServingRow.objects.count() == 0


def test_supersede__of_an_own_shared_write_as_a_claim__is_not_there(world: World) -> None:
    artifact = shared(begin(world))
    world.scan()
    world.ratify(artifact)
    with pytest.raises(AccessNotFound):
        supersede_memory(world.writer, command=VersionCommand(artifact=artifact, text="by the back door"))


def test_claim__with_the_key_of_a_slot__neither_blocks_nor_is_touched_by_it(world: World) -> None:
    first = shared(begin(world))
    row = Artifact.objects.get(pk=first)
    claim = world.submit(world.writer2, claim_key=row.claim_key)
    world.scan()
    world.ratify(claim)
    world.ratify(first)
    assert Artifact.objects.get(pk=claim).state == "promoted"
    assert shared(begin(world), content="next")

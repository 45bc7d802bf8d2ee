"""An actor is removed: nothing of it works any more, its private state is gone, and nothing private turns shared."""

from __future__ import annotations

import pytest

from memory.claims.models import Artifact
from memory.graph.selectors.tail import events_tail
from memory.runs.errors import RunOver
from memory.runs.models import AgentMemory, Run
from memory.runs.rules import Scope
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from tests.support.canary import places_of
from tests.support.chain import verified
from tests.support.inspecting import share
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.runs import begin, register
from tests.support.world import World
from workareas import access
from workareas.actions.keys import issue_key
from workareas.actions.removal import remove_principal
from workareas.errors import AccessNotFound
from workareas.models import IdempotencyRecord, Key, Principal, StatedReason
from workareas.verbs import Role

pytestmark = pytest.mark.django_db
CANARY = "zorblaxquill"


@pytest.fixture
def world() -> World:
    world = World.build("acme", paths=("a", "b"))
    register(world)
    return world


def test_remove__everything_private__is_in_no_column_afterwards(world: World) -> None:
    run = begin(world)
    run.pin("persona", CANARY)
    run.pin("checkpoint", {"at": CANARY}, idempotency_key="step-1")
    run.note(f"a note on {CANARY}")
    run.finish(result={"said": CANARY})
    begin(world, on="b").note(f"{CANARY} in b")
    begin(world, world.writer2).note("of somebody else")
    assert places_of(CANARY)
    remove_principal(world.admin, principal=world.writer.principal_id, reason="left")
    assert places_of(CANARY) == []
    assert [row.content for row in AgentMemory.objects.all()] == ['"of somebody else"']
    assert bytes(IdempotencyRecord.objects.get().fingerprint) == bytes(32)


def test_remove__in_mid_run__the_late_write_is_refused_and_nothing_turns_shared(world: World) -> None:
    run = begin(world)
    run.note("before")
    remove_principal(world.admin, principal=world.writer.principal_id, reason="left")
    for scope in Scope:
        with pytest.raises(RunOver):
            run.note("late", scope=scope)
        with pytest.raises(RunOver):
            run.pin("late", "late", scope=scope)
    for late in (lambda: begin(world), run.finish):
        with pytest.raises(AccessNotFound):
            late()
    assert not AgentMemory.objects.exists()
    assert not Artifact.objects.exists()
    row = Run.objects.get()
    assert (row.status, row.actor_id) == ("cancelled", world.writer.principal_id)
    assert row.finished_at is not None


def test_remove__what_was_shared__stays_for_the_others(world: World) -> None:
    share(world, "quirks", "ratified")
    remove_principal(world.admin, principal=world.writer.principal_id, reason="left")
    assert begin(world, world.writer2).sees() == {"quirks": "ratified"}


def test_remove__is_journalled__key_by_key_and_space_by_space(world: World) -> None:
    begin(world).pin("checkpoint", 1)
    begin(world, on="b").note("kept")
    second = world.key("writer", principal=world.writer.principal_id)
    ids = {row.space_id: row.pk for row in AgentMemory.objects.all()}
    epoch = access.load(world.admin).epoch
    done = remove_principal(world.admin, principal=world.writer.principal_id, reason="left the company")
    assert set(done.keys_revoked) == {world.writer.key_id, second.key_id}
    (removed,) = journalled("principal.removed", once=True)
    assert removed["subject"] == {"principal_id": world.writer.principal_id}
    assert removed["payload"]["reason_commitment"]
    assert {record["subject"]["key_id"] for record in journalled("key.revoked")} == set(done.keys_revoked)
    told = {record["workarea"]: record["payload"] for record in journalled("state.deleted")}
    for node, checkpoint in (("a", True), ("b", False)):
        assert told[world.nodes[node].pk] == {
            "scope": "actor",
            "actor_principal": world.writer.principal_id,
            "memory_ids": [ids[world.nodes[node].pk]],
            "checkpoint": checkpoint,
        }
    cut = journalled("run.cancelled")
    assert [record["payload"] for record in cut] == [{"actor_principal": world.writer.principal_id}] * 2
    admin_sees = events_tail(world.admin, scope="universe", after_seq=0, limit=200)[0]["events"]
    told_to_admin = {event["event_type"] for event in admin_sees}
    assert not {name for name in told_to_admin if name.startswith(("run.", "state."))}, told_to_admin
    assert StatedReason.objects.get(subject_id=world.writer.principal_id).text == "left the company"
    assert access.load(world.admin).epoch == epoch + 1
    verified(world.admin.tenant_id)


def test_remove__nothing_of_it__works_any_more(world: World) -> None:
    rita = human(world, "reviewer", name="rita")
    remove_principal(world.admin, principal=rita.actor.principal_id, reason="left")
    assert rita.get("/review/").status_code == 302
    assert not rita.client.login(username="rita", password="correct horse battery staple")
    assert access.load(rita.actor).effective("universe.a") == frozenset()
    assert not Key.objects.filter(principal=rita.actor.principal_id, revoked_at=None).exists()
    with pytest.raises(OmlError) as caught:
        issue_key(world.admin, principal=rita.actor.principal_id, role=Role.READER)
    assert caught.value.code == "access.not_found"


def test_remove__again__changes_nothing(world: World) -> None:
    remove_principal(world.admin, principal=world.writer.principal_id, reason="left")
    before = length(world.admin.tenant_id)
    assert remove_principal(world.admin, principal=world.writer.principal_id, reason="left").keys_revoked == ()
    assert length(world.admin.tenant_id) == before


def test_remove__oneself__is_refused_so_an_administrator_stays(world: World) -> None:
    with pytest.raises(OmlError) as caught:
        remove_principal(world.admin, principal=world.admin.principal_id, reason="tired")
    assert (caught.value.code, caught.value.param) == ("request.validation", "principal")
    assert Principal.objects.get(pk=world.admin.principal_id).is_active


def test_remove__by_whoever_does_not_administer_the_root__is_refused(world: World) -> None:
    other = World.build("other", paths=("a",))
    cases = [
        (world.key("admin", on="a"), "access.forbidden"),
        (world.reader, "access.verb_ceiling"),
        (world.operator, "access.verb_ceiling"),
        (other.admin, "access.not_found"),
    ]
    for actor, code in cases:
        with pytest.raises(OmlError) as caught:
            remove_principal(actor, principal=world.writer.principal_id, reason="no")
        assert caught.value.code == code
    assert Principal.objects.get(pk=world.writer.principal_id).is_active
    assert not JournalEntry.objects.filter(event_type="principal.removed").exists()


@pytest.mark.parametrize("principal", ["pri_unknown", "", "x\x00y"])
def test_remove__an_unknown_principal__is_not_found(world: World, principal: str) -> None:
    with pytest.raises(OmlError) as caught:
        remove_principal(world.admin, principal=principal, reason="no")
    assert caught.value.code == "access.not_found"

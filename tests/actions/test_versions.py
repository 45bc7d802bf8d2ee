"""Versions of a claim: the author's next version is held while the last one serves; withdrawal ends an own held one."""

from __future__ import annotations

from typing import Any

import pytest

from memory.claims.actions import supersede
from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.actions.supersede import supersede_memory, withdraw_memory
from memory.claims.commands import VersionCommand
from memory.claims.models import Artifact
from oml.core.actor import Actor
from oml.core.errors import OmlError
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.ladder import Status
from workareas.models import Grant, Workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


def next_version(world: World, artifact: str, actor: Actor | None = None, **fields: Any) -> dict[str, Any]:
    fields.setdefault("text", "A newer fact.")
    return supersede_memory(actor or world.writer, command=VersionCommand(artifact=artifact, **fields))


def refusal(world: World, artifact: str, actor: Actor | None = None, **fields: Any) -> OmlError:
    before = length(world.writer.tenant_id), Artifact.objects.count()
    with pytest.raises(OmlError) as caught:
        next_version(world, artifact, actor, **fields)
    assert (length(world.writer.tenant_id), Artifact.objects.count()) == before
    return caught.value


def test_supersede__own_promoted_claim__is_held_as_version_two(world: World) -> None:
    first = world.promoted(claim_key="quote")
    answer = next_version(world, first)
    assert answer == {
        "artifact_id": answer["artifact_id"],
        "claim_key": "quote",
        "version": 2,
        "state": "held",
        "workarea": world.nodes["a"].pk,
        "attachments_bound": 0,
        "idempotent_replay": False,
    }
    assert world.row(first).state == "promoted"
    journalled("submission.supersede", once=True)


def test_supersede__ratified__demotes_the_one_before_in_the_same_act(world: World) -> None:
    first = world.promoted()
    second = next_version(world, first)["artifact_id"]
    world.scan()
    world.ratify(second)
    assert [world.row(one).state for one in (first, second)] == ["demoted", "promoted"]
    assert world.row(first).cause == "superseded"
    (promote, demote) = journalled("lifecycle.promote")[-1], journalled("lifecycle.demote", once=True)[0]
    assert demote["seq"] == promote["seq"] + 1


def test_supersede__rejected_and_tried_again__is_a_version_of_its_own(world: World) -> None:
    first = world.promoted()
    rejected = next_version(world, first)["artifact_id"]
    world.scan()
    world.reject(rejected)
    again = next_version(world, first, text="A better fact.")
    assert again["version"] == 3
    world.scan()
    world.ratify(again["artifact_id"])
    assert [world.row(one).state for one in (first, rejected, again["artifact_id"])] == [
        "demoted",
        "rejected",
        "promoted",
    ]


def test_supersede__withdrawn_and_tried_again__is_a_version_of_its_own(world: World) -> None:
    first = world.promoted()
    withdraw_memory(world.writer, artifact=next_version(world, first)["artifact_id"])
    assert next_version(world, first)["version"] == 3


def test_supersede__while_a_newer_version_waits_or_after_it_took_over__says_so_and_blames_no_field(
    world: World,
) -> None:
    first = world.promoted()
    second = next_version(world, first)["artifact_id"]

    def said() -> str:
        error = refusal(world, first, text="Yet another.")
        assert (error.code, error.param) == ("submission.claim_key_conflict", None)
        assert error.rule == "a version follows the latest promoted one, and one at a time awaits review"
        return error.message

    assert said() == f"a newer version, {second}, awaits review; wait for its verdict, or withdraw it"
    world.scan()
    world.ratify(second)
    assert said() == f"a newer version, {second}, was promoted; propose the next version of that one"
    demote_memory(world.admin, artifact=second, reason="wrong")
    assert said().startswith(f"a newer version, {second}, was promoted and has ended since")


def test_supersede__another_version_stored_at_the_same_moment__blames_no_field(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = world.promoted()
    next_version(world, first)
    monkeypatch.setattr(supersede, "_check_latest", lambda previous: None)
    monkeypatch.setattr(supersede, "_next_version", lambda previous: previous.version + 1)
    error = refusal(world, first, text="Yet another.")
    assert (error.code, error.param) == ("submission.claim_key_conflict", None)
    assert error.message == "a newer version was submitted at this moment; it awaits review"


def test_supersede__what_is_not_the_latest_promoted__is_stale(world: World) -> None:
    held = world.submit()
    assert refusal(world, held).code == "review.stale"
    first = world.promoted()
    second = next_version(world, first)["artifact_id"]
    world.scan()
    world.ratify(second)
    assert refusal(world, first).code == "submission.claim_key_conflict"
    demote_memory(world.admin, artifact=second, reason="wrong")
    assert refusal(world, second).code == "review.stale"


def test_supersede__another_principal_s__is_forbidden_where_readable_and_not_found_where_held(world: World) -> None:
    promoted, held = world.promoted(), world.submit()
    assert refusal(world, promoted, world.writer2).code == "access.forbidden"
    assert refusal(world, held, world.writer2).code == "access.not_found"
    assert refusal(world, "art_unknown", world.writer2).code == "access.not_found"


def test_supersede__by_another_key_of_the_principal__is_allowed(world: World) -> None:
    first = world.promoted()
    second_key = world.key("writer", principal=world.writer.principal_id)
    assert next_version(world, first, second_key)["version"] == 2


def test_supersede__author_of_the_version_before__may_not_judge_the_new_one(world: World) -> None:
    first = world.promoted()
    second = next_version(world, first)["artifact_id"]
    world.scan()
    with pytest.raises(OmlError) as caught:
        world.serve(second, by=world.key("reviewer", principal=world.writer.principal_id))
    assert caught.value.code == "review.author"


def test_supersede__frozen_node_or_lost_grant__is_refused(world: World) -> None:
    first = world.promoted()
    world.deny(world.writer, Capability.WRITER, on="a")
    assert refusal(world, first).code == "access.forbidden"
    Grant.objects.filter(key=world.writer.key_id, effect="deny").delete()
    Workarea.objects.filter(path="universe.a").update(status=Status.VALIDATED)
    assert refusal(world, first).code == "workarea.frozen"


def test_supersede__same_idempotency_key__is_written_once(world: World) -> None:
    first = world.promoted()
    answer = next_version(world, first, idempotency_key="run-1")
    assert next_version(world, first, idempotency_key="run-1") == {**answer, "idempotent_replay": True}
    assert refusal(world, first, idempotency_key="run-1", text="Other.").code == "request.idempotency_mismatch"


def test_supersede__new_key_of_an_erased_claim__starts_over_at_version_one(world: World) -> None:
    first = world.promoted(claim_key="quote")
    erase_memory(world.admin, artifact=first, reason="gone")
    assert world.submitted(claim_key="quote")["version"] == 1


def test_withdraw__own_held__ends_it_and_says_so(world: World) -> None:
    artifact = world.submit()
    assert withdraw_memory(world.writer, artifact=artifact)["state"] == "rejected"
    assert world.row(artifact).cause == "withdrawn"
    journalled("submission.withdraw", once=True)
    with pytest.raises(OmlError) as caught:
        withdraw_memory(world.writer, artifact=artifact)
    assert caught.value.code == "review.stale"


def test_withdraw__after_it_was_served__makes_the_verdict_stale(world: World) -> None:
    artifact = world.submit()
    world.scan()
    serve = world.serve(artifact)
    withdraw_memory(world.writer, artifact=artifact)
    with pytest.raises(OmlError) as caught:
        world.judge(serve)
    assert caught.value.code == "review.stale"


def test_withdraw__another_s_held__does_not_exist(world: World) -> None:
    artifact = world.submit()
    with pytest.raises(OmlError) as caught:
        withdraw_memory(world.writer2, artifact=artifact)
    assert caught.value.code == "access.not_found"
    assert world.row(artifact).state == "held"

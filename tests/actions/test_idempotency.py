"""Retries (D13): a replay is answered before access, frozen and quota are looked at, and never writes again."""

from __future__ import annotations

from typing import Any

import pytest

from memory.claims.models import Artifact
from memory.claims.states import Kind, SubmitVerb
from oml.core.errors import OmlError
from oml.jobs.models import OutboxTask
from tests.support.journal import length
from tests.support.world import World
from workareas import quota
from workareas.actions.keys import set_quota
from workareas.ladder import Status
from workareas.models import Grant, IdempotencyRecord, Workarea

pytestmark = pytest.mark.django_db
REQUEST: dict[str, Any] = {"claim_key": "quote", "text": "A fact.", "idempotency_key": "run-1"}


def test_replay__after_the_grants_were_taken_back__still_answers(world: World) -> None:
    first = world.submitted(**REQUEST)
    Grant.objects.filter(key=world.writer.key_id).delete()
    assert world.submitted(**REQUEST) == {**first, "idempotent_replay": True}


def test_replay__after_the_node_froze_and_the_quota_ran_out__still_answers(world: World) -> None:
    first = world.submitted(**REQUEST)
    Workarea.objects.update(status=Status.VALIDATED)
    set_quota(world.admin, writes_per_minute=1, reads_per_minute=None)
    quota.forget()
    quota.take(world.writer, quota.Quota.WRITE)
    assert world.submitted(**REQUEST) == {**first, "idempotent_replay": True}


def test_replay__after_the_claim_was_promoted__still_says_held(world: World) -> None:
    first = world.submitted(**REQUEST)
    world.scan()
    world.ratify(first["artifact_id"])
    again = world.submitted(**REQUEST)
    assert again == {**first, "idempotent_replay": True}
    assert again["state"] == "held"


def test_replay__writes_no_row_no_event_no_task(world: World) -> None:
    world.submitted(**REQUEST)
    before = (Artifact.objects.count(), length(world.writer.tenant_id), OutboxTask.objects.count())
    world.submitted(**REQUEST)
    assert (Artifact.objects.count(), length(world.writer.tenant_id), OutboxTask.objects.count()) == before


def test_replay__node_named_by_its_path__is_the_same_request(world: World) -> None:
    first = world.submitted(**REQUEST)
    assert world.submitted(**REQUEST, workarea="universe.a") == {**first, "idempotent_replay": True}


def test_replay__defaults_spelled_out__is_the_same_request(world: World) -> None:
    first = world.submitted(**REQUEST)
    again = world.submitted(**REQUEST, kind=Kind.MEMORY, verb=SubmitVerb.REMEMBER, derives_from=(), thread=None)
    assert again == {**first, "idempotent_replay": True}


@pytest.mark.parametrize(
    "change",
    [
        {"text": "A fact"},
        {"text": "A fact.\n"},
        {"claim_key": "Quote"},
        {"kind": Kind.STEERING},
        {"thread": "t"},
        {"kind": Kind.DERIVED_FACT},
        {"attachments": ("ups_1",)},
        {"derives_from": ("art_1",)},
        {"verb": SubmitVerb.LEARN},
        {"simulation_id": "sim_1"},
    ],
)
def test_same_key__anything_else_differs__is_a_mismatch_and_writes_nothing(
    world: World, change: dict[str, Any]
) -> None:
    world.submitted(**REQUEST)
    with pytest.raises(OmlError) as caught:
        world.submitted(**{**REQUEST, **change})
    assert caught.value.code == "request.idempotency_mismatch"
    assert Artifact.objects.count() == 1


def test_same_key__another_key_or_another_node__is_another_request(world: World) -> None:
    ids = {
        world.submitted(**REQUEST)["artifact_id"],
        world.submitted(world.writer2, **{**REQUEST, "claim_key": "other"})["artifact_id"],
        world.submitted(on="b", **REQUEST)["artifact_id"],
    }
    assert len(ids) == 3


def test_refusal__is_not_stored__so_the_retry_is_judged_again(world: World) -> None:
    key = world.key("writer", on="b")
    with pytest.raises(OmlError):
        world.submitted(key, **REQUEST)
    assert not IdempotencyRecord.objects.exists()
    world.grant(key, "reader", on="a")  # type: ignore[arg-type]
    world.grant(key, "writer", on="a")  # type: ignore[arg-type]
    assert world.submitted(key, **REQUEST)["idempotent_replay"] is False


def test_without_a_key__the_same_request_twice__is_a_claim_key_conflict(world: World) -> None:
    request = {name: value for name, value in REQUEST.items() if name != "idempotency_key"}
    world.submitted(**request)
    with pytest.raises(OmlError) as caught:
        world.submitted(**request)
    assert caught.value.code == "submission.claim_key_conflict"
    assert str(world.writer.key_id) not in caught.value.message

"""Submit, through the action: the design's order of checks, and one transaction or nothing."""

from __future__ import annotations

import pytest

from memory.claims.models import Artifact
from oml.core.actor import Role
from oml.core.errors import OmlError
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


def test_submit_memory__by_a_writer__is_held_and_journalled_without_text(world: World) -> None:
    answer = world.submitted(text="Accra Metals quoted 412 USD/t.", claim_key="quote")
    assert answer == {
        "artifact_id": answer["artifact_id"],
        "claim_key": "quote",
        "version": 1,
        "state": "held",
        "workarea": world.nodes["a"].pk,
        "attachments_bound": 0,
        "idempotent_replay": False,
    }
    (record,) = journalled("submission.remember")
    assert "Accra" not in str(record)


def test_submit_memory__same_idempotency_key_and_request__answers_again_and_writes_once(world: World) -> None:
    fields = {"claim_key": "quote", "idempotency_key": "run-1"}
    first = world.submitted(**fields)
    before = length(world.writer.tenant_id)
    again = world.submitted(**fields)
    assert again == {**first, "idempotent_replay": True}
    assert length(world.writer.tenant_id) == before
    assert Artifact.objects.count() == 1


def refusal(**fields: object) -> str:
    world = fields.pop("world")
    assert isinstance(world, World)
    before = length(world.writer.tenant_id), Artifact.objects.count()
    with pytest.raises(OmlError) as caught:
        world.submitted(**fields)  # type: ignore[arg-type]
    assert (length(world.writer.tenant_id), Artifact.objects.count()) == before
    return caught.value.code


def test_submit_memory__refusals__carry_their_code_and_write_nothing(world: World) -> None:
    world.submitted(claim_key="taken", idempotency_key="used")
    assert refusal(world=world, claim_key="taken") == "submission.claim_key_conflict"
    assert refusal(world=world, claim_key="other", idempotency_key="used") == "request.idempotency_mismatch"
    assert refusal(world=world, workarea="universe") == "workarea.universe_write"
    assert refusal(world=world, workarea="wa_unknown") == "access.not_found"
    assert refusal(world=world, actor=world.reader) == "access.verb_ceiling"
    assert refusal(world=world, actor=world.operator) == "access.verb_ceiling"
    assert refusal(world=world, actor=world.bare_key(Role.WRITER)) == "access.not_found"
    assert refusal(world=world, derives_from=("art_unknown",)) == "access.not_found"


def test_learn__by_a_key_that_writes_and_reads_nowhere__knows_no_source(world: World) -> None:
    writes_only = world.bare_key(Role.WRITER)
    world.grant(writes_only, Capability.WRITER, on="a")
    with pytest.raises(OmlError) as refused:
        world.learn(writes_only, sources=[world.promoted()])
    assert (refused.value.code, refused.value.param) == ("access.not_found", "derives_from[0]")


def test_submit_memory__writer_denied_on_the_node__is_forbidden(world: World) -> None:
    world.deny(world.writer, Capability.WRITER, on="a.team")
    assert refusal(world=world, on="a.team") == "access.forbidden"

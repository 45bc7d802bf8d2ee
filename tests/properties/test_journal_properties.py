"""Whatever is done in whatever order: the chain verifies, nothing that was refused is in it, and states stay legal."""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.claims.actions.end import expire_held
from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.actions.supersede import supersede_memory, withdraw_memory
from memory.claims.commands import VersionCommand
from memory.claims.models import Artifact
from oml.core.clock import now
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from oml.journal.registry import REGISTRY
from oml.journal.selectors import head_seq
from review.models import Verdict
from tests.support.chain import verified
from tests.support.journal import length
from tests.support.world import World

pytestmark = pytest.mark.django_db

ACTS = [
    "remember",
    "learn",
    "scan",
    "ratify",
    "reject",
    "withdraw",
    "supersede",
    "demote",
    "erase",
    "expire",
    "serve",
]


def act(world: World, name: str, dice: random.Random) -> Any:
    known = list(Artifact.objects.filter(tenant_id=world.admin.tenant_id).order_by("pk").values_list("pk", flat=True))
    one = dice.choice(known) if known else "art_none"
    reviewer = dice.choice([world.reviewer, world.reviewer2])
    match name:
        case "remember":
            return world.submit(dice.choice([world.writer, world.writer2]), on=dice.choice(["a", "a.team", "b"]))
        case "learn":
            return world.learn(dice.choice([world.writer, world.writer2]), sources=[one])
        case "scan":
            return world.scan()
        case "ratify":
            return world.ratify(one, by=reviewer)
        case "reject":
            return world.reject(one, by=reviewer)
        case "serve":
            return world.serve(one, by=reviewer)
        case "withdraw":
            return withdraw_memory(world.writer, artifact=one)
        case "supersede":
            return supersede_memory(world.writer, command=VersionCommand(artifact=one, text=f"New {dice.random()}"))
        case "demote":
            return demote_memory(world.admin, artifact=one, reason="test")
        case "erase":
            return erase_memory(world.admin, artifact=one, reason="test")
        case "expire":
            Artifact.objects.filter(pk=one, state="held").update(held_expires_at=now())
            return expire_held()


@hypothesis_settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.sampled_from(ACTS), min_size=5, max_size=30), seed=st.integers(0, 2**32))
def test_journal__after_any_sequence_of_acts__verifies_and_tells_every_state(acts: list[str], seed: int) -> None:
    world = World.build(f"t-{uuid4().hex}")
    dice = random.Random(seed)
    tenant = world.admin.tenant_id
    for name in acts:
        before = head_seq(tenant)
        try:
            act(world, name, dice)
        except OmlError as refused:
            assert refused.code != "internal.unavailable"
            # A refusal writes nothing but its own trace; an overdue item that ended on the way is the one exception.
            written = JournalEntry.objects.filter(tenant_id=tenant, seq__gt=before)
            assert {row.event_type for row in written} <= {"lifecycle.expire", "review.refused"}
    assert verified(tenant) >= length(tenant)
    assert set(JournalEntry.objects.values_list("event_type", flat=True)) <= set(REGISTRY)
    for row in Artifact.objects.filter(tenant_id=tenant):
        ends = list(
            JournalEntry.objects.filter(tenant_id=tenant, subject_id=row.pk, event_type__startswith="lifecycle.")
            .order_by("seq")
            .values_list("event_type", flat=True)
        )
        assert ends == history_of(row), (row.state, row.cause, ends)


def history_of(row: Artifact) -> list[str]:
    """The lifecycle events that a row's columns say there must be."""
    expected = ["lifecycle.promote"] if row.promoted_at is not None else []
    if row.cause == "expired":
        expected.append("lifecycle.expire")
    elif row.cause in {"verdict", "scan", "withdrawn"}:
        expected.append("lifecycle.reject")
    elif row.cause in {"admin", "superseded"}:
        expected.append("lifecycle.demote")
    return [*expected, "lifecycle.erase"] if row.state == "erased" else expected


@hypothesis_settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=st.lists(st.sampled_from(["remember", "learn", "scan", "ratify"]), min_size=8, max_size=25),
    seed=st.integers(0, 2**32),
)
def test_verdicts__after_any_sequence__none_is_by_a_hand_that_wrote_it_or_what_it_rests_on(
    acts: list[str], seed: int
) -> None:
    world = World.build(f"t-{uuid4().hex}")
    world.reviewer = world.key("reviewer", principal=world.writer.principal_id)
    world.reviewer2 = world.key("reviewer", principal=world.writer2.principal_id)
    dice = random.Random(seed)
    for name in acts:
        try:
            act(world, name, dice)
        except OmlError:
            continue
    for verdict in Verdict.objects.filter(artifact__tenant_id=world.admin.tenant_id):
        rests_on = [verdict.artifact, *ancestors(verdict.artifact)]
        assert verdict.reviewer_principal_id not in {one.author_principal_id for one in rests_on}


def ancestors(artifact: Artifact) -> list[Artifact]:
    found: dict[str, Artifact] = {}
    wave = [artifact]
    while wave:
        wave = [
            row.source for one in wave for row in one.lineage.select_related("source") if row.source_id not in found
        ]
        found |= {one.pk: one for one in wave}
    return list(found.values())

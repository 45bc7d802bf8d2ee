"""The queue never offers what the ceremony refuses, and never hides what it would serve: the same R2, three ways."""

from __future__ import annotations

import random
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.claims.models import Artifact
from memory.claims.states import Kind
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from oml.core.actor import Actor
from oml.core.errors import OmlError
from review.selectors.queue import QueueQuery, review_queue
from review.selectors.turns import Turn
from tests.support.world import World
from workareas.actions.nodes import allow_relaxed_review, set_policy
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


def muddle(world: World, dice: random.Random) -> list[Actor]:
    """Claims, lineage, edges, policies and half-judged items in any combination; returns who may try to review."""
    proposer = world.key("proposer")
    hands = [world.key("reviewer", principal=actor.principal_id) for actor in (world.writer, world.writer2, proposer)]
    reviewers = [world.reviewer, world.reviewer2, *hands]
    world.deny(world.reviewer2, Capability.REVIEW, on="b")
    for _ in range(dice.randrange(10, 18)):
        mine = Artifact.objects.filter(state="promoted", tenant_id=world.admin.tenant_id).order_by("pk")
        promoted = list(mine.values_list("pk", flat=True))
        sources = tuple(dice.sample(promoted, min(len(promoted), dice.randrange(3))))
        world.submit(
            dice.choice([world.writer, world.writer2]),
            on=dice.choice(["a", "a.team", "b"]),
            derives_from=sources,
            kind=dice.choice(list(Kind)),
        )
        if dice.random() < 0.8:
            world.scan()
        held = held_of(world.reviewer)
        for artifact in dice.sample(held, min(len(held), dice.randrange(3))):
            attempt(partial(world.ratify, artifact, by=dice.choice(reviewers)))
        if len(promoted) > 1 and dice.random() < 0.5:
            first, second = dice.sample(promoted, 2)
            command = ProposeCommand(kind=EdgeKind.CLAIM, label="supports", source=first, target=second)
            attempt(partial(propose_edge, proposer, command=command))
        if dice.random() < 0.2:
            set_policy(
                world.admin,
                workarea=dice.choice(["universe", "universe.a", "universe.b"]),
                settings=dice.choice(
                    [{"min_verdicts": 2}, {"lineage_exclusion": False}, {"self_signed_allowed": False}]
                ),
            )
    return reviewers


def attempt(call: Any) -> str:
    try:
        call()
    except OmlError as error:
        return error.code
    return "served"


@hypothesis_settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), relaxed=st.booleans())
def test_queue__for_every_reviewer_and_held_item__says_what_a_serve_would(seed: int, relaxed: bool) -> None:
    world = World.build(f"t-{uuid4().hex}", committed=False)
    allow_relaxed_review(world.admin, allowed=relaxed)
    dice = random.Random(seed)
    for reviewer in muddle(world, dice):
        listed = review_queue(reviewer, query=QueueQuery(limit=100))
        mine = review_queue(reviewer, query=QueueQuery(limit=100, turn=Turn.MINE))
        judgeable = {item["artifact_id"] for item in listed["items"] if item["may_judge"]}
        assert {item["artifact_id"] for item in mine["items"]} == judgeable
        assert listed["counts"] == {"mine": len(judgeable), "others": len(listed["items"]) - len(judgeable)}
        shown = {item["artifact_id"]: item for item in listed["items"]}
        for artifact in held_of(reviewer):
            answer = attempt(partial(world.serve, artifact, by=reviewer))
            if artifact not in shown:
                assert answer == "access.not_found"
            elif shown[artifact]["may_judge"]:
                assert answer == "served"
            else:
                assert answer == shown[artifact]["blocked_by"]["code"]


def held_of(reviewer: Actor) -> list[str]:
    rows = Artifact.objects.filter(state="held", tenant_id=reviewer.tenant_id).order_by("pk")
    return list(rows.values_list("pk", flat=True))

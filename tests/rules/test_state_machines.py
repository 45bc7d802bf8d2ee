"""The two closed state machines, every pair of state and act: what is not an arrow is refused."""

from __future__ import annotations

import itertools

import pytest

from memory.claims.states import CLAIM, Act, State
from oml.core.machine import IllegalTransition
from workareas.ladder import LADDER, Status, Step, is_frozen

CLAIM_ARROWS = {
    ("held", "promote"): "promoted",
    ("held", "reject"): "rejected",
    ("promoted", "demote"): "demoted",
    ("held", "erase"): "erased",
    ("promoted", "erase"): "erased",
    ("demoted", "erase"): "erased",
    ("rejected", "erase"): "erased",
}
LADDER_ARROWS = {("development", "committed"): "committed", ("committed", "validated"): "validated"}


@pytest.mark.parametrize(("state", "act"), list(itertools.product(State, Act)))
def test_claim__every_pair__goes_where_the_design_says_or_is_refused(state: State, act: Act) -> None:
    target = CLAIM_ARROWS.get((state, act))
    if target is None:
        with pytest.raises(IllegalTransition):
            CLAIM.next(state, act)
    else:
        assert CLAIM.next(state, act) == target


def test_claim__rejected_and_erased__never_come_back() -> None:
    ends = {State.REJECTED, State.DEMOTED, State.ERASED}
    reached = {after for (before, _), after in CLAIM.table.items() if before in ends}
    assert reached <= {State.ERASED}


@pytest.mark.parametrize(("status", "step"), list(itertools.product(Status, Step)))
def test_ladder__every_pair__is_one_step_up_or_refused(status: Status, step: Step) -> None:
    target = LADDER_ARROWS.get((status, step))
    if target is None:
        with pytest.raises(IllegalTransition):
            LADDER.next(status, step)
    else:
        assert LADDER.next(status, step) == target


def test_is_frozen__validated_alone() -> None:
    assert [status for status in Status if is_frozen(status)] == [Status.VALIDATED]

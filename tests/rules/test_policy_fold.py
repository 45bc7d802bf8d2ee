"""The review policy as a node inherits it: nearest setter wins, relaxed review is only ever tightened."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workareas.ladder import Status
from workareas.policy import Policy, effective


def folded(*chain: dict[str, Any], relaxed: bool = False, status: Status = Status.DEVELOPMENT) -> Policy:
    return effective(chain, tenant_relaxed=relaxed, status=status, version=0)


def test_effective__nobody_set_anything__is_the_design_s_default() -> None:
    assert folded() == Policy(
        held_expiry_s=604_800,
        min_verdicts=1,
        self_signed_allowed=False,
        serve_ttl_s=900,
        lineage_exclusion=True,
        reason_required=False,
    )


def test_effective__two_setters__nearest_wins_field_by_field() -> None:
    policy = folded({"min_verdicts": 2, "serve_ttl_s": 60}, {"min_verdicts": 3, "serve_ttl_s": None})
    assert (policy.min_verdicts, policy.serve_ttl_s) == (3, 60)


def test_effective__false_and_zero_like_values__are_values_and_not_absent() -> None:
    assert folded({"lineage_exclusion": True}, {"lineage_exclusion": False}).lineage_exclusion is False
    assert folded({"reason_required": True}, {"reason_required": False}).reason_required is False


def test_effective__tenant_relaxed_and_development__is_relaxed() -> None:
    assert folded(relaxed=True).self_signed_allowed


@pytest.mark.parametrize("status", [Status.COMMITTED, Status.VALIDATED])
def test_effective__above_development__is_never_relaxed(status: Status) -> None:
    assert not folded({"self_signed_allowed": True}, relaxed=True, status=status).self_signed_allowed


def test_effective__node_asks_for_relaxed_but_the_tenant_does_not__is_strict() -> None:
    assert not folded({"self_signed_allowed": True}, relaxed=False).self_signed_allowed


def test_effective__ancestor_tightened__descendant_cannot_loosen() -> None:
    assert not folded({"self_signed_allowed": False}, {"self_signed_allowed": True}, relaxed=True).self_signed_allowed


votes = st.lists(st.fixed_dictionaries({"self_signed_allowed": st.sampled_from([None, True, False])}), max_size=6)


@given(chain=votes, more=votes, relaxed=st.booleans(), status=st.sampled_from(Status))
def test_effective__any_further_setter__never_turns_strict_into_relaxed(
    chain: list[dict[str, Any]], more: list[dict[str, Any]], relaxed: bool, status: Status
) -> None:
    before = folded(*chain, relaxed=relaxed, status=status).self_signed_allowed
    after = folded(*chain, *more, relaxed=relaxed, status=status).self_signed_allowed
    assert before or not after

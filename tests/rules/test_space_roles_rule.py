"""The rule of the two permissions over agent state: subtree, deny wins, and nothing else is one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workareas.space_roles import Persistence, PersistenceRule, persistence_at, persistence_rule

PATHS = ["universe", "universe.a", "universe.a.b", "universe.ab", "universe.a-b"]

rules = st.lists(
    st.builds(PersistenceRule, st.sampled_from(PATHS), st.sampled_from(Persistence), st.booleans()), max_size=8
)


def by_hand(held: list[PersistenceRule], path: str, permission: Persistence) -> bool:
    """The same rule told otherwise: walk up from the path and look at what stands on each node."""
    parts = path.split(".")
    above = {".".join(parts[: depth + 1]) for depth in range(len(parts))}
    here = [rule.allow for rule in held if rule.path in above and rule.permission is permission]
    return bool(here) and all(here)


@given(held=rules, path=st.sampled_from(PATHS))
def test_persistence_at__any_rules__is_what_a_walk_up_the_tree_says(held: list[PersistenceRule], path: str) -> None:
    assert persistence_at(held, path) == {one for one in Persistence if by_hand(held, path, one)}


@given(held=rules, path=st.sampled_from(PATHS), where=st.sampled_from(PATHS), what=st.sampled_from(Persistence))
def test_persistence_at__with_a_denial_more__is_never_larger(
    held: list[PersistenceRule], path: str, where: str, what: Persistence
) -> None:
    denied = [*held, PersistenceRule(where, what, allow=False)]
    assert persistence_at(denied, path) <= persistence_at(held, path)


@pytest.mark.parametrize("codename", ["read", "review", "administer", "deny_read", "persistence", "add_workarea", ""])
def test_persistence_rule__of_another_permission__is_none(codename: str) -> None:
    assert persistence_rule(codename, "universe") is None


def test_persistence_rule__of_each_codename__says_what_it_does() -> None:
    for permission in Persistence:
        assert persistence_rule(permission, "universe") == PersistenceRule("universe", permission, allow=True)
        assert persistence_rule(f"deny_{permission}", "universe") == PersistenceRule("universe", permission, False)

"""Who may inspect and delete agent state in a space: two permissions, and five preset roles that give them. Pure.

They are not capabilities: a grant gives a key capabilities, and no API key may ever carry these two (seed:
agent-memory). What must never happen here: a way from a grant to one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from workareas.rules import within


class Persistence(StrEnum):
    """``persistence:read`` and ``persistence:delete``, by the names of the object permissions that carry them."""

    READ = "persistence_read"
    DELETE = "persistence_delete"

    @property
    def spoken(self) -> str:
        """The permission as the API names it."""
        return self.value.replace("_", ":")


class SpaceRole(StrEnum):
    """The preset roles of a human in a space."""

    ADMIN = "admin"
    BUILDER = "builder"
    OPERATOR = "operator"
    RUNNER = "runner"
    VIEWER = "viewer"


_READS = frozenset({Persistence.READ})
_DELETES = frozenset(Persistence)

PERMISSIONS_OF: dict[SpaceRole, frozenset[Persistence]] = {
    SpaceRole.ADMIN: _DELETES,
    SpaceRole.BUILDER: _DELETES,
    SpaceRole.OPERATOR: _READS,
    SpaceRole.RUNNER: _READS,
    SpaceRole.VIEWER: _READS,
}


@dataclass(frozen=True, slots=True)
class PersistenceRule:
    """One allow or deny as it binds a human, from a path down."""

    path: str
    permission: Persistence
    allow: bool


def persistence_rule(codename: str, path: str) -> PersistenceRule | None:
    """A human's object permission as a rule; None for those that do not bear on agent state."""
    name = codename.removeprefix("deny_")
    if name not in set(Persistence):
        return None
    return PersistenceRule(path, Persistence(name), allow=not codename.startswith("deny_"))


def persistence_at(rules: Iterable[PersistenceRule], path: str) -> frozenset[Persistence]:
    """What these rules give at a path: allows there or above, minus denies there or above (D7)."""
    here = [rule for rule in rules if within(path, rule.path)]
    denied = {rule.permission for rule in here if not rule.allow}
    return frozenset({rule.permission for rule in here if rule.allow} - denied)

"""The rule of access itself (D7), pure: allows on a node or above it, minus denies on it or above it, deny wins.

``workareas/access.py`` applies it to the rules in the database, ``workareas/replay.py`` to those that the journal
tells of. What must never happen here: a second reading of the rule anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oml.core.actor import Role
from workareas.verbs import CEILING, Capability

#: What a human's object permission on a workarea means; each has a ``deny_`` twin.
HUMAN_PERMISSIONS = {"read": Capability.READER, "review": Capability.REVIEW, "administer": Capability.ADMIN}


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or deny as it binds: on a path, for a capability, from a named source."""

    path: str
    capability: Capability
    allow: bool
    source: str

    def covers(self, path: str) -> bool:
        return within(path, self.path)


def within(path: str, root: str) -> bool:
    """Whether a path is a root or lies below it; ``universe.ab`` is not within ``universe.a``."""
    return path == root or path.startswith(root + ".")


def capabilities(rules: Iterable[Rule], role: Role, path: str) -> frozenset[Capability]:
    """What these rules give at a path, within the role's ceiling; a nearer allow never beats a deny."""
    here = [rule for rule in rules if rule.covers(path)]
    denied = {rule.capability for rule in here if not rule.allow}
    allowed = {rule.capability for rule in here if rule.allow}
    return frozenset(allowed - denied) & CEILING[role]


def human_rule(source: str, permission: str, path: str) -> Rule | None:
    """A human's permission as a rule; None for those that do not bear on claims."""
    capability = HUMAN_PERMISSIONS.get(permission.removeprefix("deny_"))
    if capability is None:
        return None
    return Rule(path, capability, not permission.startswith("deny_"), f"{source}: {permission}")

"""What a key can reach, and who can do what at a node: the authorizer's answer, asked from either side (D7).

Access changes only where a rule is set, so a key's reach is told at those places; each holds from there down.
"""

from __future__ import annotations

from dataclasses import dataclass

from oml.core.actor import Actor, Channel, Role
from workareas import access
from workareas.models import Key, Workarea
from workareas.rules import capabilities
from workareas.verbs import Capability

# A table that a person can still look through.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Reach:
    """What a key can do from a path down; nothing, where a deny leaves nothing."""

    path: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """A key that holds a capability at a node, and the paths that its access comes from."""

    capability: Capability
    key_id: str
    principal: str
    comes_from: tuple[str, ...]


def reach_of(key: Key) -> list[Reach]:
    """Where a key's access begins or changes; nothing of a key that can do nothing."""
    asking = Actor(key.tenant_id, key.principal_id, key.pk, Role(key.role), Channel.SYSTEM, key.interactive)
    known = access.load(asking)
    paths = sorted({rule.path for rule in known.rules})[:_MOST]
    return [Reach(path, tuple(sorted(capabilities(known.rules, asking.role, path)))) for path in paths]


def holders_at(node: Workarea) -> list[Holder]:
    """Every live key that can do something at a node; a constant number of queries."""
    found = [
        (capability, key, paths)
        for capability in Capability
        for key, paths in sorted(access.holders(node, capability).items())
    ][:_MOST]
    names = dict(Key.objects.filter(pk__in={key for _, key, _ in found}).values_list("pk", "principal__name"))
    return [Holder(capability, key, names[key], tuple(sorted(paths))) for capability, key, paths in found]

"""Which serving rows a recall may look at, as one SQL predicate: the node's subtree ∩ readable ∩ fence ∩ valid now.

The rows that leave are read through ``Artifact.objects.readable`` once more (R3 has one home); this predicate keeps
everything else from lending words, rank or a place in the answer. What must never happen here: a path compared
without its separator (``universe.a`` is not above ``universe.ab``), or a wildcard that a name brought along.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.recall.commands import RecallFilters
from workareas.access import Scope
from workareas.rules import within


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of SQL with its parameters, by name."""

    sql: str
    params: dict[str, Any] = field(default_factory=dict)


def reach(tenant_id: str, node_path: str, scope: Scope, fence: Iterable[str], moment: datetime) -> Clause:
    """The rows below a node that the caller may read, over ``r``.

    Args:
        tenant_id: the caller's tenant.
        node_path: path of the node that the search is about; the caller may read it.
        scope: where the caller may read.
        fence: simulations the caller's key is in the audience of.
        moment: rows outside their validity then are absent.
    """
    params: dict[str, Any] = {"tenant": tenant_id, "fence": list(fence), "moment": moment}
    parts = [
        "r.promoted",
        "r.tenant_id = %(tenant)s",
        _under("r.path", node_path, "node", params),
        "(r.simulation_id IS NULL OR r.simulation_id = ANY(%(fence)s))",
        "(r.valid_from IS NULL OR r.valid_from <= %(moment)s)",
        "(r.valid_to IS NULL OR r.valid_to >= %(moment)s)",
        "r.kind <> 'steering'",
    ]
    if not any(within(node_path, root) for root in scope.allow):
        below = [root for root in scope.allow if within(root, node_path)]
        allowed = [_under("r.path", root, f"allow{number}", params) for number, root in enumerate(below)]
        parts.append("(" + " OR ".join(allowed or ["false"]) + ")")
    for number, root in enumerate(scope.deny):
        if within(node_path, root):
            parts.append("false")
        elif within(root, node_path):
            parts.append("NOT " + _under("r.path", root, f"deny{number}", params))
    return Clause(" AND ".join(parts), params)


def filtered(filters: RecallFilters) -> Clause:
    """What the caller narrowed the hits to, over ``r``; ``true`` where nothing was asked."""
    params: dict[str, Any] = {}
    parts = []
    for name, sql in _FILTERS.items():
        value = getattr(filters, name)
        if value is not None:
            parts.append(sql)
            params[name] = _like(value) if name == "claim_key_prefix" else value
    return Clause(" AND ".join(parts) or "true", params)


_FILTERS = {
    "kind": "r.kind = %(kind)s",
    "author_key": "EXISTS (SELECT 1 FROM memory_artifact a WHERE a.id = r.artifact_id "
    "AND a.author_key_id = %(author_key)s)",
    "claim_key_prefix": "EXISTS (SELECT 1 FROM memory_artifact a WHERE a.id = r.artifact_id "
    "AND a.claim_key LIKE %(claim_key_prefix)s)",
    "occurred_from": "r.occurred_at >= %(occurred_from)s",
    "occurred_to": "r.occurred_at <= %(occurred_to)s",
    "promoted_from": "r.promoted_at >= %(promoted_from)s",
    "promoted_to": "r.promoted_at <= %(promoted_to)s",
}


def _under(column: str, root: str, name: str, params: dict[str, Any]) -> str:
    params[name], params[f"{name}_below"] = root, _like(root + ".")
    return f"({column} = %({name})s OR {column} LIKE %({name}_below)s)"


def _like(prefix: str) -> str:
    escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{escaped}%"

"""The effective review policy of nodes, folded from the root down."""

from __future__ import annotations

from collections.abc import Iterable

from workareas import policy
from workareas.ladder import Status
from workareas.models import ReviewPolicy, Workarea
from workareas.policy import Policy


def effective_policy(node: Workarea) -> Policy:
    """The policy that binds at a node: nearest setter wins, relaxed review only tightens.

    Args:
        node: a workarea; with its ``tenant`` loaded this is one query.
    """
    return effective_policies([node])[node.pk]


def effective_policies(nodes: Iterable[Workarea]) -> dict[str, Policy]:
    """The policies of several nodes of one tenant, by node id, in one query."""
    nodes = list(nodes)
    chains = {node.pk: _chain(node.path) for node in nodes}
    paths = {path for chain in chains.values() for path in chain}
    rows = {
        row.workarea.path: row
        for row in ReviewPolicy.objects.select_related("workarea").filter(
            workarea__tenant_id__in={node.tenant_id for node in nodes}, workarea__path__in=paths
        )
    }
    return {node.pk: _fold(node, [rows[path] for path in chains[node.pk] if path in rows]) for node in nodes}


def _chain(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[: depth + 1]) for depth in range(len(parts))]


def _fold(node: Workarea, setters: list[ReviewPolicy]) -> Policy:
    return policy.effective(
        [{name: getattr(row, name) for name in policy.FIELDS} for row in setters],
        tenant_relaxed=node.tenant.relaxed_review,
        status=Status(node.status),
        version=sum(row.version for row in setters),
    )

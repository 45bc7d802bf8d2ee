"""The effective review policy of a node, folded from the root down."""

from __future__ import annotations

from workareas import policy
from workareas.ladder import Status
from workareas.models import ReviewPolicy, Workarea
from workareas.policy import Policy


def effective_policy(node: Workarea) -> Policy:
    """The policy that binds at a node: nearest setter wins, relaxed review only tightens (two queries at most).

    Args:
        node: a workarea, its ``tenant`` loaded or not.
    """
    parts = node.path.split(".")
    chain = [".".join(parts[: depth + 1]) for depth in range(len(parts))]
    rows = {
        row.workarea.path: row
        for row in ReviewPolicy.objects.select_related("workarea").filter(
            workarea__tenant_id=node.tenant_id, workarea__path__in=chain
        )
    }
    setters = [rows[path] for path in chain if path in rows]
    return policy.effective(
        [{name: getattr(row, name) for name in policy.FIELDS} for row in setters],
        tenant_relaxed=node.tenant.relaxed_review,
        status=Status(node.status),
        version=sum(row.version for row in setters),
    )

"""Edges of one workarea as a key may see them (shapes: workarea_info)."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from memory.graph.labels import EdgeKind, EdgeState
from memory.graph.models import Edge
from workareas.access import Scope
from workareas.models import Workarea

MAX_EDGES = 500


def workarea_edges(node: Workarea, readable: Scope) -> list[dict[str, Any]]:
    """Outgoing and incoming edges, pending and ratified, whose far end is readable; oldest first.

    Args:
        node: the workarea, itself readable.
        readable: the caller's readable scope.
    """
    outgoing = Q(from_workarea=node) & readable.predicate("to_workarea__path")
    incoming = Q(to_workarea=node) & readable.predicate("from_workarea__path")
    rows = (
        Edge.objects.filter(outgoing | incoming, kind=EdgeKind.WORKAREA)
        .exclude(state=EdgeState.REJECTED)
        .order_by("pk")[:MAX_EDGES]
    )
    return [_edge(row, node) for row in rows]


def _edge(row: Edge, node: Workarea) -> dict[str, Any]:
    if row.from_workarea_id == node.pk:
        return {"label": row.label, "to": row.to_workarea_id, "state": row.state}
    return {"label": row.label, "from": row.from_workarea_id, "state": row.state}

"""What a step to validated must find of edges (D8): none that leaves this node is still pending."""

from __future__ import annotations

from memory.graph.models import Edge
from workareas.actions.nodes import on_status_step
from workareas.errors import Unreviewed
from workareas.ladder import Status
from workareas.models import Workarea


@on_status_step
def no_pending_edges(node: Workarea, after: Status) -> None:
    """Refuse validation while edges from the node await ratification.

    Raises:
        Unreviewed: ``workarea.unreviewed``, with the count.
    """
    if after is not Status.VALIDATED:
        return
    pending = Edge.objects.awaiting().filter(from_workarea=node).count()
    if pending:
        raise Unreviewed(f"workarea {node.pk} cannot become validated: {pending} edges from it are pending")

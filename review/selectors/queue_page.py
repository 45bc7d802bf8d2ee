"""The queue as the browser shows it: one half of the list, and what the filters offer."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from memory.claims.models import Artifact
from oml.core.actor import Actor
from oml.core.clock import now
from review.selectors.edge_queue import EdgeQuery, edge_queue, edge_subtrees, edges_for
from review.selectors.queue import QueueQuery, items_for, review_queue
from workareas import access
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability

# A select with more entries than this helps nobody; the filter also takes a path typed into the address.
_MOST_CHOICES = 200


def queue_page(actor: Actor, *, query: QueueQuery) -> dict[str, Any]:
    """The answer of :func:`review_queue` with ``choices`` for the filters and whether there is anything to hold.

    Args:
        actor: a signed-in reviewer.
        query: filters, turn, page size and cursor.

    Returns:
        ``queue``, ``choices`` (workareas, authors), ``reviews_anywhere``: False when no grant gives review, and
        ``elsewhere``: how many edges are this reviewer's to judge.

    Raises:
        As :func:`review_queue`.
    """
    queue = review_queue(actor, query=query)
    known = access.load(actor)
    scope = known.scope(Capability.REVIEW)
    held = Artifact.objects.held(now()).filter(
        Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor)),
        scope.predicate("workarea__path"),
        tenant_id=actor.tenant_id,
    )
    paths = held.order_by("workarea__path").values_list("workarea__path", flat=True).distinct()
    authors = (
        held.order_by("author_principal__name", "author_key_id")
        .values_list("author_key_id", "author_principal__name")
        .distinct()
    )
    return {
        "queue": queue,
        "choices": {
            "workareas": _subtrees(paths[:_MOST_CHOICES], scope),
            "authors": list(authors[:_MOST_CHOICES]),
        },
        "reviews_anywhere": bool(scope.allow),
        "elsewhere": edges_for(actor, known),
    }


def edge_queue_page(actor: Actor, *, query: EdgeQuery) -> dict[str, Any]:
    """The answer of :func:`edge_queue` as :func:`queue_page` answers; ``elsewhere`` counts the submissions.

    Raises:
        As :func:`edge_queue`.
    """
    queue = edge_queue(actor, query=query)
    known = access.load(actor)
    return {
        "queue": queue,
        "choices": {"workareas": edge_subtrees(actor, known)},
        "reviews_anywhere": bool(known.scope(Capability.REVIEW).allow),
        "elsewhere": items_for(actor),
    }


def _subtrees(paths: Any, scope: access.Scope) -> list[str]:
    """The paths where something waits, and the nodes above them that this reviewer reviews."""
    found: set[str] = set()
    for path in paths:
        parts = path.split(".")
        found |= {".".join(parts[: depth + 1]) for depth in range(len(parts))}
    return sorted(path for path in found if scope.holds(path))

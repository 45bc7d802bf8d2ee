"""Pending edges that await this reviewer: those whose both ends lie in nodes they review (D7, R2).

A row carries no note and no text: those come with a serve alone (R3). The number of queries does not depend on how
many edges wait. What must never happen here: an edge among *mine* that the ceremony would not serve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from memory.claims.states import State
from memory.graph.labels import EdgeKind, EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.errors import OmlError, Validation
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from review.edge_standing import ENDS_GONE, ends_promoted
from review.errors import ProposerIsRatifier, Stale
from review.hands import proposed, proposer_of, reviewer_of
from review.policy import Identity
from review.selectors.turns import Turn
from workareas import access
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

MAX_LIMIT = 100
_MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class EdgeQuery:
    """Filters of the edges' queue; all optional. ``workarea`` is a subtree that one of the two ends lies in."""

    workarea: str | None = None
    kind: str | None = None
    turn: str | None = None
    limit: int = 50
    cursor: str | None = None


def edge_queue(actor: Actor, *, query: EdgeQuery) -> dict[str, Any]:
    """Pending edges of this reviewer's nodes, oldest first; never the proposer's note, which comes with a serve.

    Args:
        actor: a key that holds review somewhere.
        query: filters, turn, page size and cursor.

    Returns:
        ``items`` with ``may_judge`` and, where not, ``blocked_by`` (code, rule, message); ``next_cursor``;
        ``total`` of this list; ``counts`` of both turns under the same filters.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; the workarea filter names nothing visible.
        CeilingExceeded, Validation: limit, filter or cursor.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    check_range("limit", query.limit, most=MAX_LIMIT)
    rows = _filtered(actor, query)
    reviewer = reviewer_of(actor)
    mine = _judgeable(reviewer)
    counts = {Turn.MINE: rows.filter(mine).count(), Turn.OTHERS: rows.exclude(mine).count()}
    if query.turn is not None:
        rows = rows.filter(mine) if query.turn == Turn.MINE else rows.exclude(mine)
    filters = {"view": "edge_queue", "workarea": query.workarea, "kind": query.kind, "turn": query.turn}
    pages: Pages[Edge] = Pages(cursor_key(), actor.key_id, filters, lambda edge: [edge.pk])
    if (behind := pages.behind(query.cursor)) is not None:
        rows = rows.filter(pk__gt=behind[0])
    page, following = pages.cut(_shown(rows)[: query.limit + 1], query.limit)
    return {
        "items": [_item(reviewer, edge) for edge in page],
        "next_cursor": following,
        "total": counts[Turn(query.turn)] if query.turn is not None else sum(counts.values()),
        "counts": {str(turn): count for turn, count in counts.items()},
    }


def edges_for(actor: Actor, known: access.Access) -> int:
    """How many edges this reviewer, with this access, may judge now."""
    return _pending(actor, known).filter(_judgeable(reviewer_of(actor))).count()


def next_edge(actor: Actor, *, after: str | None = None) -> dict[str, Any] | None:
    """The edge that this reviewer may judge next; None when nothing is left for them.

    Args:
        actor: a key that holds review somewhere.
        after: an edge id; what follows it in the queue comes first, and it is never the answer.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    reviewer = reviewer_of(actor)
    rows = _shown(_pending(actor, access.load(actor)).filter(_judgeable(reviewer)))
    found = None
    if after is not None:
        rows = rows.exclude(pk=after)
        found = rows.filter(pk__gt=after).first()
    found = found or rows.first()
    return _item(reviewer, found) if found is not None else None


def edge_subtrees(actor: Actor, known: access.Access) -> list[str]:
    """The paths that the ends of pending edges lie in, for the filter."""
    rows = _pending(actor, known).order_by()
    starts = rows.values_list("from_workarea__path", flat=True)
    return sorted(starts.union(rows.values_list("to_workarea__path", flat=True))[:_MOST_CHOICES])


def _filtered(actor: Actor, query: EdgeQuery) -> QuerySet[Edge]:
    known = access.load(actor)
    rows = _pending(actor, known)
    for name, allowed in (("kind", EdgeKind), ("turn", Turn)):
        value = getattr(query, name)
        if value is not None and value not in list(allowed):
            raise Validation(f"{name} is one of {', '.join(allowed)}", param=name)
    if query.kind is not None:
        rows = rows.filter(kind=query.kind)
    if query.workarea is not None:
        node = known.decide(Verb.RELATE_RATIFY, access.find(actor, query.workarea), query.workarea)
        inside = access.Scope((access.require_node(node).path,), ())
        rows = rows.filter(inside.predicate("from_workarea__path") | inside.predicate("to_workarea__path"))
    return rows


def _pending(actor: Actor, known: access.Access) -> QuerySet[Edge]:
    scope = known.scope(Capability.REVIEW)
    return Edge.objects.filter(
        Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor)),
        scope.predicate("from_workarea__path"),
        scope.predicate("to_workarea__path"),
        tenant_id=actor.tenant_id,
        state=EdgeState.PENDING,
    )


def _judgeable(reviewer: Identity) -> Q:
    """R2 and the open ends as one predicate, so that the queue can count and page by turn."""
    open_ends = Q(
        Q(from_artifact=None) | Q(from_artifact__state=State.PROMOTED),
        Q(to_artifact=None) | Q(to_artifact__state=State.PROMOTED),
    )
    return open_ends & ~proposed(reviewer)


def _shown(rows: QuerySet[Edge]) -> QuerySet[Edge]:
    ends = ("from_workarea", "to_workarea", "from_artifact", "to_artifact", "proposer_principal", "proposer_key")
    withheld = [f"{end}_artifact__{name}" for end in ("from", "to") for name in ("text", "envelope")]
    return rows.select_related(*ends).defer("note", *withheld).order_by("pk")


def _item(reviewer: Identity, edge: Edge) -> dict[str, Any]:
    refusal = _blocked_by(reviewer, edge)
    return {
        "edge_id": edge.pk,
        "kind": edge.kind,
        "label": edge.label,
        "from": _end(edge.from_workarea.path, edge.from_id, edge.from_artifact),
        "to": _end(edge.to_workarea.path, edge.to_id, edge.to_artifact),
        "proposer": edge.proposer_principal.name,
        "proposer_key": edge.proposer_key_id,
        "proposed_at": rfc3339_seconds(edge.proposed_at),
        "may_judge": refusal is None,
        "blocked_by": (
            {"code": refusal.code, "rule": refusal.rule, "message": refusal.message} if refusal is not None else None
        ),
    }


def _blocked_by(reviewer: Identity, edge: Edge) -> OmlError | None:
    if not ends_promoted(edge):
        return Stale(ENDS_GONE)
    return ProposerIsRatifier() if reviewer.same_as(proposer_of(edge)) else None


def _end(path: str, subject_id: str, artifact: Any) -> dict[str, Any]:
    end: dict[str, Any] = {"id": subject_id, "workarea_path": path}
    if artifact is not None:
        end |= {"claim_key": artifact.claim_key, "version": artifact.version}
    return end

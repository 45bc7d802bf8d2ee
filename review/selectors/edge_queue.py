"""Pending edges that await this reviewer: those whose both ends lie in nodes they review (D7, R2)."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from memory.graph.labels import EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.cursor import open_, seal
from oml.core.errors import CeilingExceeded, Validation
from oml.crypto.secrets import cursor_key
from review.errors import ProposerIsRatifier
from review.hands import proposer_of, reviewer_of
from review.policy import Identity
from workareas import access
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

MAX_LIMIT = 100


def edge_queue(actor: Actor, *, limit: int = 50, cursor: str | None = None) -> dict[str, Any]:
    """Pending edges of this reviewer's nodes, oldest first; never the proposer's note, which comes with a serve.

    Args:
        actor: a key that holds review somewhere.
        limit: 1 to 100.
        cursor: ``next_cursor`` of the page before.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        CeilingExceeded, Validation: limit or cursor.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    if limit < 1:
        raise Validation("limit is at least 1", param="limit")
    if limit > MAX_LIMIT:
        raise CeilingExceeded(f"limit is at most {MAX_LIMIT}", param="limit")
    rows = _pending(actor)
    total = rows.count()
    filters = {"view": "edge_queue"}
    if cursor is not None:
        (after,) = open_(cursor_key(), cursor, filters=filters, key_id=actor.key_id)
        rows = rows.filter(pk__gt=after)
    page = list(rows[: limit + 1])
    more = len(page) > limit
    page = page[:limit]
    reviewer = reviewer_of(actor)
    following = seal(cursor_key(), keyset=[page[-1].pk], filters=filters, key_id=actor.key_id) if more else None
    return {"items": [_item(reviewer, edge) for edge in page], "next_cursor": following, "total": total}


def _pending(actor: Actor) -> QuerySet[Edge]:
    scope = access.load(actor).scope(Capability.REVIEW)
    return (
        Edge.objects.filter(
            Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor)),
            scope.predicate("from_workarea__path"),
            scope.predicate("to_workarea__path"),
            tenant_id=actor.tenant_id,
            state=EdgeState.PENDING,
        )
        .select_related(
            "from_workarea", "to_workarea", "from_artifact", "to_artifact", "proposer_principal", "proposer_key"
        )
        .defer("note", "from_artifact__text", "to_artifact__text", "from_artifact__envelope", "to_artifact__envelope")
        .order_by("pk")
    )


def _item(reviewer: Identity, edge: Edge) -> dict[str, Any]:
    refusal = ProposerIsRatifier() if reviewer.same_as(proposer_of(edge)) else None
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


def _end(path: str, subject_id: str, artifact: Any) -> dict[str, Any]:
    end: dict[str, Any] = {"id": subject_id, "workarea_path": path}
    if artifact is not None:
        end |= {"claim_key": artifact.claim_key, "version": artifact.version}
    return end

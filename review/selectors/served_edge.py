"""What an edge's serve shows its reviewer: both endpoints, each in full as far as this reviewer may read it."""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact
from memory.claims.states import State
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import rfc3339, rfc3339_seconds
from review.ceremony import check_fresh
from review.edge_standing import check_open, require_reviewable
from review.models import EdgeServe
from review.policy import VerdictWord
from workareas import access
from workareas.errors import AccessNotFound
from workareas.models import Workarea
from workareas.verbs import Capability, Verb


def served_edge(actor: Actor, *, serve_id: str) -> dict[str, Any]:
    """The served view of an edge: its note, both ends, allowed actions.

    Args:
        actor: the reviewer the serve was made for.
        serve_id: the id as sent.

    Raises:
        AccessNotFound: ``access.not_found``; not this key's serve, or its edge is not visible any more.
        AccessForbidden: ``access.forbidden``; review access to an end is gone.
        ServeConsumed, ServeExpired, Stale: ``review.*``.
    """
    serve, known = live_edge_serve(actor, serve_id=serve_id)
    return view_of_edge(serve, readable=known.scope(Capability.READER))


def live_edge_serve(actor: Actor, *, serve_id: str) -> tuple[EdgeServe, access.Access]:
    """An edge's serve of this reviewer that can still have its verdict.

    Raises:
        AccessNotFound, AccessForbidden, ServeConsumed, ServeExpired, Stale: as :func:`served_edge`.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    known = access.load(actor)
    serve = find_edge_serve(actor, serve_id)
    require_reviewable(actor, known, serve.edge, _unknown(serve_id))
    check_fresh(serve)
    check_open(serve.edge)
    return serve, known


def find_edge_serve(actor: Actor, serve_id: str) -> EdgeServe:
    """One of this key's serves of an edge, whatever became of it.

    Raises:
        AccessNotFound: ``access.not_found``.
    """
    mine = EdgeServe.objects.filter(tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
    ends = ("from_workarea", "to_workarea", "from_artifact", "to_artifact", "proposer_principal", "proposer_key")
    rows = mine.select_related(*(f"edge__{end}" for end in ends), "verdict").defer(
        "verdict__envelope", "edge__from_artifact__envelope", "edge__to_artifact__envelope"
    )
    found = None if "\x00" in serve_id else rows.filter(pk=serve_id).first()
    if found is None:
        raise AccessNotFound(_unknown(serve_id))
    return found


def view_of_edge(serve: EdgeServe, *, readable: access.Scope) -> dict[str, Any]:
    """The body of an edge's serve (design: shapes, Review)."""
    edge: Edge = serve.edge
    return {
        "serve_id": serve.pk,
        "expires_at": rfc3339_seconds(serve.expires_at),
        "subject": {
            "edge_id": edge.pk,
            "kind": edge.kind,
            "label": edge.label,
            "from": _end(edge.from_workarea, edge.from_artifact, readable),
            "to": _end(edge.to_workarea, edge.to_artifact, readable),
            "proposer_key": edge.proposer_key_id,
            "proposed_at": rfc3339_seconds(edge.proposed_at),
        },
        "content_digest": serve.content_digest,
        "text": edge.note,
        "lineage": [],
        "scans": [],
        "findings": [],
        "parts": [],
        "actions": [str(word) for word in VerdictWord],
    }


def _end(node: Workarea, artifact: Artifact | None, readable: access.Scope) -> dict[str, Any]:
    """An end; its claim's text only where this reviewer reads: review of a node is no right to read it (R3)."""
    end: dict[str, Any] = {
        "workarea": node.pk,
        "workarea_path": node.path,
        "status": node.status,
        "readable": readable.holds(node.path),
    }
    if artifact is not None:
        end |= {
            "artifact_id": artifact.pk,
            "claim_key": artifact.claim_key,
            "version": artifact.version,
            "kind": artifact.kind,
            "state": artifact.state,
            "self_signed": artifact.self_signed,
            "occurred_at": rfc3339(artifact.occurred_at) if artifact.occurred_at else None,
        }
        if end["readable"] and artifact.state == State.PROMOTED:
            end["text"] = artifact.text
    return end


def _unknown(serve_id: str) -> str:
    return f"no serve {serve_id} for this key"

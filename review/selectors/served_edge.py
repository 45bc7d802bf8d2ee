"""What an edge's serve shows its reviewer: both endpoints in full, since they review both."""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact
from memory.graph.models import Edge
from oml.core.clock import rfc3339_seconds
from review.models import EdgeServe
from review.policy import VerdictWord
from workareas.models import Workarea


def view_of_edge(serve: EdgeServe) -> dict[str, Any]:
    """The body of an edge's serve (design: shapes, Review)."""
    edge: Edge = serve.edge
    return {
        "serve_id": serve.pk,
        "expires_at": rfc3339_seconds(serve.expires_at),
        "subject": {
            "edge_id": edge.pk,
            "kind": edge.kind,
            "label": edge.label,
            "from": _end(edge.from_workarea, edge.from_artifact),
            "to": _end(edge.to_workarea, edge.to_artifact),
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


def _end(node: Workarea, artifact: Artifact | None) -> dict[str, Any]:
    end: dict[str, Any] = {"workarea": node.pk, "workarea_path": node.path, "status": node.status}
    if artifact is not None:
        end |= {
            "artifact_id": artifact.pk,
            "claim_key": artifact.claim_key,
            "version": artifact.version,
            "kind": artifact.kind,
            "state": artifact.state,
            "text": artifact.text,
        }
    return end

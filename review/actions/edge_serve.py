"""Open a pending edge for ratification: the serve ceremony on both of its endpoints (D7, D14)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory.claims.models import Artifact
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.canonical import canonical_json, sha256_hex
from oml.core.clock import now, rfc3339
from oml.crypto.digest import commitment
from oml.journal.append import append, journalled
from review.edge_standing import check_open, check_ratifier, require_reviewable
from review.events import Served
from review.models import EdgeServe
from review.refusals import edge_asked_for, refusals_journalled
from workareas import access
from workareas.models import Workarea
from workareas.selectors.policies import effective_policy
from workareas.verbs import Verb


@refusals_journalled(edge_asked_for)
@journalled
def serve_edge(actor: Actor, *, edge: str) -> EdgeServe:
    """Serve a pending edge to a reviewer of both endpoints.

    Args:
        actor: a key with review access on both endpoints' workareas.
        edge: the id as sent.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; unknown, foreign, or not visible to this key.
        AccessForbidden: ``access.forbidden``; visible, and not this reviewer's on both ends.
        Stale: ``review.stale``; no longer pending, or an endpoint is no longer promoted.
        ProposerIsRatifier: ``review.author`` (R2).
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    known = access.load(actor)
    row = require_reviewable(actor, known, find_edge(actor, edge), f"no edge {edge} for this key")
    check_open(row)
    check_ratifier(actor, row)
    policy = effective_policy(row.from_workarea)
    serve = EdgeServe.objects.create(
        tenant_id=actor.tenant_id,
        edge=row,
        reviewer_key_id=actor.key_id,
        reviewer_principal_id=actor.principal_id,
        content_digest=edge_digest(row),
        expires_at=now() + timedelta(seconds=policy.serve_ttl_s),
    )
    served = Served(
        workarea_id=row.from_workarea_id,
        far_workarea_id=row.to_workarea_id,
        simulation_id=row.simulation_id,
        item_id=row.pk,
        serve_id=serve.pk,
        content_digest=serve.content_digest,
        expires_at=rfc3339(serve.expires_at),
    )
    append(actor, [served], epoch=known.epoch)
    return serve


def find_edge(actor: Actor, edge: str) -> Edge | None:
    """The edge inside the actor's tenant, locked with the claims at its ends; says nothing about access.

    Ends before the edge, and they in the order of their ids, as an erasure and a proposal take them: nobody waits in a
    circle, and no claim is demoted between the look at its state and the commit of what was decided on it.
    """
    if "\x00" in edge:
        return None
    rows = Edge.objects.filter(pk=edge, tenant_id=actor.tenant_id)
    ends = rows.values_list("from_artifact", "to_artifact").first()
    if ends is None:
        return None
    claims = Artifact.objects.filter(pk__in=[end for end in ends if end is not None]).order_by("pk")
    list(claims.select_for_update(no_key=True).values_list("pk"))
    return (
        rows.select_for_update(of=("self",), no_key=True)
        .select_related("from_workarea__tenant", "to_workarea", "from_artifact", "to_artifact")
        .first()
    )


def edge_digest(row: Edge) -> str:
    """Hex SHA-256 over all that a ratification rests on, from the rows as they are now; the edge is open.

    Note and texts enter as their salted commitments: this digest is journalled, and no word may be guessed from it
    once an erasure has destroyed the salts (design: integrity).
    """
    bound: dict[str, Any] = {
        "edge": row.pk,
        "kind": row.kind,
        "label": row.label,
        "note_commitment": _committed(row.note_salt, row.note) if row.note else None,
        "ends": [_bound_end(row.from_workarea, row.from_artifact), _bound_end(row.to_workarea, row.to_artifact)],
    }
    return sha256_hex(canonical_json(bound))


def _bound_end(node: Workarea, artifact: Artifact | None) -> dict[str, Any]:
    end: dict[str, Any] = {"workarea": node.pk, "path": node.path, "status": node.status}
    if artifact is not None:
        end |= {"artifact": artifact.pk, "text_commitment": _committed(artifact.commitment_salt, artifact.text or "")}
    return end


def _committed(salt: bytes | memoryview | None, words: str) -> str:
    return commitment(bytes(salt or b""), words.encode())


def is_edge_serve(actor: Actor, *, serve_id: str) -> bool:
    """Whether a serve of this key is an edge's; an unknown one is taken for an artifact's and refused there."""
    mine = EdgeServe.objects.filter(tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
    return "\x00" not in serve_id and mine.filter(pk=serve_id).exists()

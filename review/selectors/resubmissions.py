"""The same text, rejected before: a rejection is not outrun by sending the words again under another name."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from memory.claims.models import Artifact
from memory.claims.states import Cause, State
from oml.core.clock import rfc3339_seconds
from review.models import Verdict
from review.policy import VerdictWord
from workareas.access import Scope

#: A text that was rejected more often than this needs no longer list to be recognised.
MOST = 20


def rejected_before(item: Artifact, *, reviews: Scope) -> list[dict[str, Any]]:
    """Earlier rejections of exactly this text, newest first, in the nodes that this reviewer reviews.

    Args:
        item: what is being judged; its reviewer is inside its simulation, if it has one.
        reviews: where the reviewer holds review; a rejection elsewhere is none of their business (R3).

    Returns:
        ``artifact_id, claim_key, version, workarea_path, cause, reason_code, rejected_at`` each; never the words of
        a verdict, nor who gave it.
    """
    rows = list(
        Artifact.objects.filter(
            Q(simulation_id__isnull=True) | Q(simulation_id=item.simulation_id),
            reviews.predicate("workarea__path"),
            tenant_id=item.tenant_id,
            state=State.REJECTED,
            text_sha256=item.text_sha256,
            cause__in=(Cause.VERDICT, Cause.SCAN),
        )
        .exclude(pk=item.pk)
        .select_related("workarea")
        .defer("text", "envelope")
        .order_by("-pk")[:MOST]
    )
    codes = dict(
        Verdict.objects.filter(artifact__in=rows, verdict=VerdictWord.REJECT).values_list("artifact_id", "reason_code")
    )
    return [
        {
            "artifact_id": row.pk,
            "claim_key": row.claim_key,
            "version": row.version,
            "workarea_path": row.workarea.path,
            "cause": row.cause,
            "reason_code": codes.get(row.pk),
            "rejected_at": rfc3339_seconds(row.ended_at) if row.ended_at else None,
        }
        for row in rows
    ]

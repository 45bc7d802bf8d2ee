"""The words of verdicts, when what they are about is erased: a reason may quote the text."""

from __future__ import annotations

from django.db.models import Q

from memory.claims.actions.lifecycle import on_erase
from review.models import EdgeVerdict, Verdict


@on_erase
def verdict_reasons(artifact_id: str, really: bool) -> dict[str, int]:
    """Reviewers' reasons about the artifact and about edges at it, with the salts of their commitments."""
    own = Verdict.objects.filter(artifact=artifact_id).exclude(reason="")
    at_its_ends = Q(edge__from_artifact=artifact_id) | Q(edge__to_artifact=artifact_id)
    of_edges = EdgeVerdict.objects.filter(at_its_ends).exclude(reason="")
    if not really:
        return {"verdict_reasons": own.count() + of_edges.count()}
    gone = own.update(reason="", reason_salt=None)
    # By key, since an update may not join.
    edges = EdgeVerdict.objects.filter(pk__in=list(of_edges.values_list("pk", flat=True)))
    return {"verdict_reasons": gone + edges.update(reason="", reason_salt=None)}

"""The words of verdicts, when what they are about is erased: a reason may quote the text."""

from __future__ import annotations

from memory.claims.actions.lifecycle import on_erase
from review.models import Verdict


@on_erase
def verdict_reasons(artifact_id: str, really: bool) -> dict[str, int]:
    """Reviewers' reasons and the salts of their commitments."""
    rows = Verdict.objects.filter(artifact=artifact_id).exclude(reason="")
    return {"verdict_reasons": rows.update(reason="", reason_salt=None) if really else rows.count()}

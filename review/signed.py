"""What is kept of a verdict, on whatever item: its row, its signed envelope and its event say the same (D3).

What must never happen here: a reason's words in the envelope or the event; both carry a salted commitment to them.
"""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import now, rfc3339
from oml.core.ids import new_id
from oml.crypto.digest import commitment, new_salt
from oml.crypto.signing import PayloadType, sign_envelope
from review.events import Judged
from review.models import AnyServe
from review.policy import ReasonCode, VerdictWord


def signed_verdict(
    actor: Actor,
    serve: AnyServe,
    subject: Artifact | Edge,
    *,
    word: VerdictWord,
    code: ReasonCode | None,
    reason: str,
    self_signed: bool = False,
) -> tuple[dict[str, Any], Judged]:
    """Sign one verdict.

    Args:
        actor: the reviewer.
        serve: what the reviewer was shown.
        subject: the item that is judged, with its node loaded.
        word: ratify or reject.
        code: the reason's code, as stored.
        reason: the reason in the reviewer's words; empty for none.
        self_signed: whether the reviewer is the author, in a node of relaxed review.

    Returns:
        The columns that every verdict's row has, and the event.
    """
    verdict_id, at = new_id("ver"), now()
    salt = new_salt() if reason else None
    words = commitment(salt, reason.encode()) if salt else None
    envelope = sign_envelope(
        PayloadType.VERDICT,
        {
            "envelope_version": 1,
            "tenant": actor.tenant_id,
            "verdict": verdict_id,
            "word": str(word),
            "serve": serve.pk,
            "edge" if isinstance(subject, Edge) else "artifact": subject.pk,
            "content_digest": serve.content_digest,
            "reviewer": {"key": actor.key_id, "principal": actor.principal_id},
            "reason_code": str(code) if code else None,
            "reason_commitment": words,
            "self_signed": self_signed,
            "at": rfc3339(at),
        },
    )
    columns = {
        "id": verdict_id,
        "serve": serve,
        "reviewer_key_id": actor.key_id,
        "reviewer_principal_id": actor.principal_id,
        "verdict": word,
        "reason_code": code,
        "reason": reason,
        "reason_salt": salt,
        "envelope": envelope.text,
        "at": at,
    }
    judged = Judged(
        **_places(subject),
        simulation_id=subject.simulation_id,
        item_id=subject.pk,
        serve_id=serve.pk,
        verdict_id=verdict_id,
        verdict=word,
        reason_code=code,
        reason_commitment=words,
        self_signed=self_signed,
        envelope_keyid=envelope.keyid,
    )
    return columns, judged


def _places(subject: Artifact | Edge) -> dict[str, str]:
    if isinstance(subject, Edge):
        return {"workarea_id": subject.from_workarea_id, "far_workarea_id": subject.to_workarea_id}
    return {"workarea_id": subject.workarea_id}

"""The seed's shape of a recall: steering first and never ranked, then hits; what was cut is said (D12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.claims import evidence
from memory.claims.models import Artifact
from memory.recall.fusion import Scored, shown
from oml.core.clock import rfc3339_seconds

MAX_STEERING = 50


class Budget:
    """Bytes of text an answer may still carry; None is no limit."""

    def __init__(self, max_chars: int | None) -> None:
        self.left = max_chars

    def take(self, text: str) -> tuple[str, bool]:
        """The text, or as much of it as fits, and whether it was cut; never half a character."""
        if self.left is None:
            return text, False
        raw = text.encode("utf-8")
        kept = raw if len(raw) <= self.left else raw[: self.left]
        self.left -= len(kept)
        return kept.decode("utf-8", "ignore"), len(kept) < len(raw)

    @property
    def spent(self) -> bool:
        return self.left is not None and self.left <= 0


def compose(
    steering: Sequence[Artifact],
    hits: Sequence[Artifact],
    scores: Mapping[str, Scored],
    *,
    max_chars: int | None,
    explain: bool,
    degraded: Sequence[str],
) -> dict[str, Any]:
    """Put the answer together.

    Args:
        steering: in order, one more than may be shown where there is more.
        hits: best first.
        scores: by artifact id.
        max_chars: budget for all texts, in bytes of UTF-8; steering is served first.
        explain: add the parts of each score.
        degraded: arms that could not take part.
    """
    budget = Budget(max_chars)
    rows = [_steering(row, budget) for row in steering[:MAX_STEERING] if not budget.spent]
    ranked = [_hit(row, scores[row.pk], budget, explain) for row in hits if not budget.spent]
    cited = evidence.shown(row["artifact_id"] for row in ranked)
    for row in ranked:
        if row["artifact_id"] in cited:
            row["evidence"] = cited[row["artifact_id"]]
    answer: dict[str, Any] = {"steering": rows, "hits": ranked}
    if len(rows) < len(steering):
        answer["steering_truncated"] = True
    if len(ranked) < len(hits):
        answer["truncated_hits"] = len(hits) - len(ranked)
    if degraded:
        answer["degraded"] = list(degraded)
    return answer


def _steering(row: Artifact, budget: Budget) -> dict[str, Any]:
    text, cut = budget.take(row.text or "")
    body = {"artifact_id": row.pk, "kind": row.kind, "text": text, "workarea_path": row.workarea.path}
    return {**body, "text_truncated": True} if cut else body


def _hit(row: Artifact, scored: Scored, budget: Budget, explain: bool) -> dict[str, Any]:
    assert row.promoted_at is not None  # a constraint: promoted rows have their time
    text, cut = budget.take(row.text or "")
    body: dict[str, Any] = {
        "artifact_id": row.pk,
        "claim_key": row.claim_key,
        "version": row.version,
        "state": row.state,
        "score": shown(scored.score),
        "text": text,
        "workarea_path": row.workarea.path,
        "promoted_at": rfc3339_seconds(row.promoted_at),
        "attachments": [],
    }
    if cut:
        body["text_truncated"] = True
    if explain:
        body["explain"] = {
            "lexical": round(scored.lexical, 4),
            "vector": round(scored.vector, 4),
            "neighbours": round(scored.neighbours, 4),
        }
    return body

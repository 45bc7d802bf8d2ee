"""Events of the human gate; none of them ever reaches a reader's tail (R3)."""

from __future__ import annotations

from dataclasses import dataclass

from oml.journal.registry import Event, event


@event("review.served", subject=("item_id",))
@dataclass(frozen=True, kw_only=True)
class Served(Event):
    """``item_id`` is an artifact's or an edge's; ``rejected_before`` are artifacts of the same text."""

    item_id: str
    serve_id: str
    content_digest: str
    expires_at: str
    rejected_before: tuple[str, ...] = ()


@event("review.refused", subject=("item_id",))
@dataclass(frozen=True, kw_only=True)
class Refused(Event):
    """Somebody tried to open or judge an item and was refused with ``code``; ``serve_id`` where they named one.

    Once for each key, item, serve and code: saying it again would let one key fill the journal.
    """

    item_id: str
    serve_id: str | None
    code: str


@event("review.verdict", subject=("item_id",))
@dataclass(frozen=True, kw_only=True)
class Judged(Event):
    """The reason's words stay with the verdict row; the journal carries a commitment to them."""

    item_id: str
    serve_id: str
    verdict_id: str
    verdict: str
    reason_code: str | None
    reason_commitment: str | None
    self_signed: bool
    envelope_keyid: str

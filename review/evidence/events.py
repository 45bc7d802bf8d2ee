"""The event of an export: somebody took evidence, and which bytes."""

from __future__ import annotations

from dataclasses import dataclass

from oml.journal.registry import Event, event


@event("evidence.exported", subject=("scope",))
@dataclass(frozen=True, kw_only=True)
class EvidenceExported(Event):
    """``scope`` is the workarea; ``bundle_sha256`` is over the whole bundle as it was handed out."""

    scope: str
    from_seq: int
    to_seq: int
    checkpoint_size: int
    bundle_sha256: str

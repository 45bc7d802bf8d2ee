"""The journal's events about itself."""

from __future__ import annotations

from dataclasses import dataclass

from oml.journal.registry import Event, event


@event("journal.checkpointed", subject=("origin",))
@dataclass(frozen=True, kw_only=True)
class Checkpointed(Event):
    """Quotes a signed checkpoint over the first ``size`` entries; ``root`` is base64 as in the note."""

    origin: str
    size: int
    root: str
    keyid: str

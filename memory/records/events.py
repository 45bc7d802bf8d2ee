"""Events of source records: ids, numbers and commitments. Labels, values, notes and content stay in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oml.journal.registry import Event, event

_VERSION = ("sr_id", "version")


@dataclass(frozen=True, kw_only=True)
class RecordEvent(Event):
    sr_id: str
    version: int


@event("record.ingested", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class Ingested(RecordEvent):
    """``content_commitment`` is an HMAC of the content's digest under a salt that is kept with the content."""

    lane: str
    content_commitment: str


@event("record.updated", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class Updated(RecordEvent):
    changed: tuple[str, ...]
    content_commitment: str | None


@event("record.property_added", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class PropertyAdded(RecordEvent):
    pass


@event("record.property_removed", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class PropertyRemoved(RecordEvent):
    pass


@event("record.connected", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class Connected(RecordEvent):
    """``connected`` is false where a connection was taken away."""

    to: str
    connected: bool


@event("record.corrected", subject=("sr_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class Corrected(Event):
    sr_id: str
    correction: str


@event("record.adjusted", subject=("sr_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class Adjusted(Event):
    sr_id: str
    adjustment: str


@event("record.tombstoned", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class Removed(RecordEvent):
    pass


@event("record.grouped", subject=("group",), owned=True)
@dataclass(frozen=True, kw_only=True)
class Grouped(Event):
    """``group`` is its number; its name stays in its row."""

    group: str
    added: int
    removed: int


@event("record.lane_opened", subject=("lane",), owned=True)
@dataclass(frozen=True, kw_only=True)
class LaneOpened(Event):
    lane: str


@event("record.imported", subject=("sr_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class Imported(Event):
    """Entries of another engine were taken in; ``version`` is the head's after that."""

    sr_id: str
    entries: int
    version: int


@event("record.erased", subject=_VERSION, owned=True)
@dataclass(frozen=True, kw_only=True)
class Erased(RecordEvent):
    """Whose record it was stands in it, since somebody else acts; the commitment to the reason can never be opened."""

    principal: str
    reason_commitment: str | None

    @classmethod
    def owner(cls, _principal_id: str, payload: dict[str, Any]) -> str | None:
        """The record's principal, not the administrator."""
        return str(payload["principal"])

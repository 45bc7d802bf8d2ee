"""What a caller asks of source records, shape-checked by the face and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.records.rules import Property
from oml.core.spooled import LargeText


@dataclass(frozen=True, slots=True)
class IngestCommand:
    """One record to keep (seed: e_ingest)."""

    content: LargeText
    source_type: str | None = None
    properties: tuple[Property, ...] = ()
    assign_lane: str | None = None
    source_system: str | None = None
    sync: bool = False


@dataclass(frozen=True, slots=True)
class UpdateCommand:
    """The next version of a record: whole content, properties merged by label, or both (seed: e_update)."""

    sr_id: str
    content: LargeText | None = None
    properties: tuple[Property, ...] = ()
    note: str | None = None
    expected_version: int | None = None
    sync: bool = False


@dataclass(frozen=True, slots=True)
class AmendCommand:
    """A new record pinned to an older one: a correction (it was wrong) or an adjustment (the world changed)."""

    sr_id: str
    content: LargeText
    note: str | None = None
    properties: tuple[Property, ...] = ()
    source_system: str | None = None


@dataclass(frozen=True, slots=True)
class ReadCommand:
    """One record now, as of a time, or at a version (seed: e_read)."""

    sr_id: str
    as_of: datetime | None = None
    version: int | None = None

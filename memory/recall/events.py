"""Recall's event: a minute of the read log, sealed into the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from oml.journal.registry import Event, event

READ_LOG = "read_log"


@event("readlog.sealed", subject=("log",))
@dataclass(frozen=True, kw_only=True)
class ReadLogSealed(Event):
    """The tenant's reads from row ``from`` to row ``to``: how many, and the RFC 6962 root over their leaves in hex."""

    wire_names: ClassVar[dict[str, str]] = {"first": "from", "last": "to"}

    log: str = READ_LOG
    first: int
    last: int
    count: int
    merkle_root: str

"""Reads of the journal: head, permission epoch, one subject's history, the tail's page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from oml.journal.hashing import GENESIS
from oml.journal.models import JournalEntry, JournalHead


@dataclass(frozen=True, slots=True)
class Entry:
    """One journal entry as readers get it; the canonical text parsed."""

    seq: int
    event_type: str
    at: datetime
    workarea_id: str | None
    record: dict[str, Any]


def permission_epoch(tenant_id: str) -> int:
    """The tenant's permission epoch; read it *before* the grants that a decision rests on."""
    epoch = JournalHead.objects.filter(pk=tenant_id).values_list("permission_epoch", flat=True).first()
    return 0 if epoch is None else epoch


def head_seq(tenant_id: str) -> int:
    """The tenant's newest sequence number, 0 before the first event."""
    seq = JournalHead.objects.filter(pk=tenant_id).values_list("seq", flat=True).first()
    return 0 if seq is None else seq


def history_of(tenant_id: str, subject_id: str, *, limit: int = 100) -> list[Entry]:
    """Every event about one subject, oldest first."""
    rows = JournalEntry.objects.filter(tenant_id=tenant_id, subject_id=subject_id).order_by("seq")[:limit]
    return [_entry(row) for row in rows]


def newest_of(tenant_id: str, subject_id: str) -> Entry | None:
    """The newest event about one subject."""
    row = JournalEntry.objects.filter(tenant_id=tenant_id, subject_id=subject_id).order_by("-seq").first()
    return _entry(row) if row else None


def stream_of(tenant_id: str, subject_id: str, *, event_type: str | None = None, chunk: int = 2000) -> Iterator[Entry]:
    """Stream every event about one subject, or those of one type, oldest first."""
    rows = JournalEntry.objects.filter(tenant_id=tenant_id, subject_id=subject_id).order_by("seq")
    if event_type is not None:
        rows = rows.filter(event_type=event_type)
    return map(_entry, rows.iterator(chunk_size=chunk))


def tail_rows(tenant_id: str) -> QuerySet[JournalEntry]:
    """Rows that a tail may carry at all; the caller narrows by scope and access (R3)."""
    return JournalEntry.objects.filter(Q(tenant_id=tenant_id, tail=True))


def owned_rows(tenant_id: str, owner_id: str) -> QuerySet[JournalEntry]:
    """Rows that one principal's tail may carry and nobody else's."""
    return JournalEntry.objects.filter(tenant_id=tenant_id, owner_id=owner_id)


def tail_page(*kinds: QuerySet[JournalEntry], after_seq: int | None, limit: int) -> list[Entry]:
    """The next ``limit`` rows after ``after_seq`` ascending; without it the newest ``limit``, ascending.

    Each kind of rows has an index of its own and is asked for a page, so the cost does not grow with the journal.
    """
    order = "seq" if after_seq is not None else "-seq"
    found: list[JournalEntry] = []
    for rows in kinds:
        found += (rows.filter(seq__gt=after_seq) if after_seq is not None else rows).order_by(order)[:limit]
    found.sort(key=lambda row: row.seq)
    return [_entry(row) for row in (found[:limit] if after_seq is not None else found[-limit:])]


def entries(tenant_id: str, *, after_seq: int = 0, chunk: int = 2000) -> Iterator[JournalEntry]:
    """Stream a tenant's entries in order, for verification and replay."""
    rows = JournalEntry.objects.filter(tenant_id=tenant_id, seq__gt=after_seq).order_by("seq")
    return rows.iterator(chunk_size=chunk)


@dataclass(frozen=True, slots=True)
class Line:
    """One journal entry as it was hashed, with where it belongs."""

    seq: int
    event_type: str
    workarea_id: str | None
    simulation_id: str | None
    canonical: str
    leaf_hash: bytes
    chain_hash: bytes


def lines(tenant_id: str, from_seq: int, to_seq: int, *, chunk: int = 2000) -> Iterator[Line]:
    """Stream a slice of a tenant's journal in order, both ends included."""
    rows = JournalEntry.objects.filter(tenant_id=tenant_id, seq__gte=from_seq, seq__lte=to_seq).order_by("seq")
    columns = rows.values_list(
        "seq", "event_type", "workarea_id", "simulation_id", "canonical", "leaf_hash", "chain_hash"
    )
    for seq, event_type, workarea_id, simulation_id, canonical, leaf, chain in columns.iterator(chunk_size=chunk):
        yield Line(seq, event_type, workarea_id, simulation_id, canonical, bytes(leaf), bytes(chain))


def chain_hash_at(tenant_id: str, seq: int) -> bytes:
    """The chain value after one entry; the one before the first entry for 0."""
    if seq == 0:
        return GENESIS
    return bytes(JournalEntry.objects.values_list("chain_hash", flat=True).get(tenant_id=tenant_id, seq=seq))


def _entry(row: JournalEntry) -> Entry:
    return Entry(row.seq, row.event_type, row.at, row.workarea_id, json.loads(row.canonical))

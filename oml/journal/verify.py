"""Reads a tenant's journal from the database and checks it whole (``manage.py verify_journal``).

Rows and head come out of one statement, so entries that are appended meanwhile cannot look like tampering. What an
intact answer means, and what it cannot mean, stands in ``chain_check.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import transaction
from django.db.models import Subquery

from oml.journal.chain_check import Break, ChainCheck, Head, Row
from oml.journal.models import JournalEntry, JournalHead

_CHUNK = 5_000


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found.

    Attributes:
        tenant_id: whose journal.
        entries: how many were found intact, from the first on.
        head: the last intact entry; worth keeping somewhere else.
        broken: the first break, None if the journal is intact.
        seconds: time spent.
    """

    tenant_id: str
    entries: int
    head: Head
    broken: Break | None
    seconds: float


def journalled_tenants() -> list[str]:
    """Every tenant with a head or an entry, sorted: a tenant of which only one of the two is left counts too."""
    with_entries = JournalEntry.objects.values_list("tenant_id", flat=True).distinct()
    return sorted({*JournalHead.objects.values_list("tenant_id", flat=True), *with_entries})


def entry_count(tenant_id: str) -> int:
    """How many entries there are to check, for a progress bar."""
    return JournalEntry.objects.filter(tenant_id=tenant_id).count()


def verify_tenant(
    tenant_id: str,
    *,
    kept: Mapping[int, bytes] | None = None,
    advance: Callable[[int], Any] = lambda count: None,
) -> Verified:
    """Check one tenant's chain from its first entry to its head.

    Args:
        tenant_id: the tenant.
        kept: chain hashes by number that were written down earlier; the chain must still go through them.
        advance: told how many more entries were checked, every few thousand.
    """
    start = perf_counter()
    check = ChainCheck(tenant_id, kept or {})
    # Read first: a head that was committed before the rows are read has its rows committed too.
    head = _head(JournalHead.objects.filter(pk=tenant_id).values_list("seq", "chain_hash").first())
    broken: Break | None = None
    told = 0
    with transaction.atomic():  # a server-side cursor lives in a transaction
        for row, head_now in _rows(tenant_id):
            head = head_now
            broken = check.next_row(row)
            if broken:
                break
            if check.head.seq - told >= _CHUNK:
                advance(check.head.seq - told)
                told = check.head.seq
    advance(check.head.seq - told)
    return Verified(tenant_id, check.head.seq, check.head, broken or check.end(head), seconds=perf_counter() - start)


def _rows(tenant_id: str) -> Iterator[tuple[Row, Head | None]]:
    heads = JournalHead.objects.filter(pk=tenant_id)
    rows = (
        JournalEntry.objects.filter(tenant_id=tenant_id)
        .order_by("seq", "id")
        .annotate(head_seq=Subquery(heads.values("seq")), head_hash=Subquery(heads.values("chain_hash")))
        .values_list(*Row._fields, "head_seq", "head_hash")
    )
    for seq, canonical, leaf, chain, *columns, head_seq, head_hash in rows.iterator(chunk_size=_CHUNK):
        row = Row(seq, canonical, bytes(leaf), bytes(chain), *columns)
        yield row, None if head_seq is None else Head(head_seq, bytes(head_hash))


def _head(columns: tuple[int, Any] | None) -> Head | None:
    return None if columns is None else Head(columns[0], bytes(columns[1]))

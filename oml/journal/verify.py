"""Reads a tenant's journal from the database and checks it whole (``manage.py verify_journal``).

Rows and head come out of one statement, so entries that are appended meanwhile cannot look like tampering. What an
intact answer means, and what it cannot mean, stands in ``chain_check.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import connection, transaction
from django.db.models import Subquery
from psycopg import ServerCursor

from oml.crypto.notes import NoteInvalid
from oml.journal import note, outside
from oml.journal.chain_check import Break, ChainCheck, Fault, Head, Row
from oml.journal.models import Checkpoint, JournalEntry, JournalHead

_CHUNK = 5_000


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found.

    Attributes:
        tenant_id: whose journal.
        entries: how many were found intact, from the first on.
        head: the last intact entry; worth keeping somewhere else.
        broken: the first break, None if the journal is intact.
        confirmed: how many of the entries a signed checkpoint vouches for.
        seconds: time spent.
    """

    tenant_id: str
    entries: int
    head: Head
    broken: Break | None
    confirmed: int
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
    notes: Iterable[str] = (),
    advance: Callable[[int], Any] = lambda count: None,
) -> Verified:
    """Check one tenant's chain from its first entry to its head.

    Args:
        tenant_id: the tenant.
        kept: chain hashes by number that were written down earlier; the chain must still go through them.
        notes: signed checkpoints that were kept elsewhere. Those in the database and in the folder outside it
            (``OML_CHECKPOINT_DIR``) are always compared.
        advance: told how many more entries were checked, every few thousand.
    """
    start = perf_counter()
    signed, forged = signed_roots(tenant_id, notes)
    check = ChainCheck(tenant_id, kept or {}, signed)
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
    broken = broken or check.end(head) or forged
    return Verified(tenant_id, check.head.seq, check.head, broken, check.confirmed, perf_counter() - start)


def signed_roots(tenant_id: str, notes: Iterable[str] = ()) -> tuple[dict[int, set[bytes]], Break | None]:
    """Roots by size of a tenant's signed checkpoints: from the database, from the folder outside, and as given.

    A note that this deployment did not sign vouches for nothing; the smallest such size comes back as a break.
    """
    stored = Checkpoint.objects.filter(tenant_id=tenant_id).order_by("size").values_list("size", "root", "note")
    outside_notes = [kept.text for kept in outside.all_kept(tenant_id)]
    roots: dict[int, set[bytes]] = defaultdict(set)
    forged: list[int] = []
    rows: list[tuple[int, bytes | None, str]] = [(size, bytes(root), text) for size, root, text in stored]
    for size, root, text in [*rows, *((0, None, text) for text in (*outside_notes, *notes))]:
        try:
            said = note.verified(text)
        except NoteInvalid:
            forged.append(size)
            continue
        if not said.origin.endswith(f"/{tenant_id}") or (root is not None and (said.size, said.root) != (size, root)):
            forged.append(size)
            continue
        roots[said.size].add(said.root)
    return dict(roots), Break(min(forged), Fault.NOTE) if forged else None


def _rows(tenant_id: str) -> Iterator[tuple[Row, Head | None]]:
    """Rows in order, each with the head as the same statement saw it.

    Past the ORM, since it is most of the time there is: a server-side cursor of the driver, in the binary format, whose
    tuples are the rows as they are.
    """
    heads = JournalHead.objects.filter(pk=tenant_id)
    rows = (
        JournalEntry.objects.filter(tenant_id=tenant_id)
        .order_by("seq", "id")
        .annotate(head_seq=Subquery(heads.values("seq")), head_hash=Subquery(heads.values("chain_hash")))
        .values_list(*Row._fields, "head_seq", "head_hash")
    )
    statement, values = rows.query.sql_with_params()
    connection.ensure_connection()
    width = len(Row._fields)
    with ServerCursor(connection.connection, "verify_journal") as cursor:
        cursor.execute(statement, values, binary=True)
        while chunk := cursor.fetchmany(_CHUNK):
            *_, head_seq, head_hash = chunk[-1]  # one statement, one snapshot: the same in every row
            head = None if head_seq is None else Head(head_seq, head_hash)
            for columns in chunk:
                yield Row._make(columns[:width]), head


def _head(columns: tuple[int, Any] | None) -> Head | None:
    return None if columns is None else Head(columns[0], bytes(columns[1]))

"""Reads a tenant's journal from the database and checks it whole (``manage.py verify_journal``).

Rows and head come out of one statement, so entries that are appended meanwhile cannot look like tampering. What an
intact answer means, and what it cannot mean, stands in ``chain_check.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import transaction

from oml.crypto.notes import NoteInvalid
from oml.journal import note, outside
from oml.journal.blocks import BLOCK, check_blocks
from oml.journal.chain_check import Break, ChainCheck, Fault, Head
from oml.journal.models import Checkpoint, JournalEntry, JournalHead
from oml.journal.rows import CHUNK, stream


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
    workers: Executor | None = None,
    block: int = BLOCK,
) -> Verified:
    """Check one tenant's chain from its first entry to its head.

    Args:
        tenant_id: the tenant.
        kept: chain hashes by number that were written down earlier; the chain must still go through them.
        notes: signed checkpoints that were kept elsewhere. Those in the database and in the folder outside it
            (``OML_CHECKPOINT_DIR``) are always compared.
        advance: told how many more entries were checked, every few thousand.
        workers: check whole blocks of a long journal at once; what is answered is the same without them.
        block: entries of a block; a power of two.
    """
    start = perf_counter()
    signed, forged = signed_roots(tenant_id, notes)
    check = ChainCheck(tenant_id, kept or {}, signed)
    # Read first: a head that was committed before the rows are read has its rows committed too.
    head = _head(JournalHead.objects.filter(pk=tenant_id).values_list("seq", "chain_hash").first())
    if workers is not None and head is not None:
        check_blocks(check, head.seq, workers, block=block, advance=advance)
    broken: Break | None = None
    told = check.head.seq
    with transaction.atomic():  # a server-side cursor lives in a transaction
        for row, head_now in stream(tenant_id, after=check.head.seq):
            head = head_now
            broken = check.next_row(row)
            if broken:
                break
            if check.head.seq - told >= CHUNK:
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


def _head(columns: tuple[int, Any] | None) -> Head | None:
    return None if columns is None else Head(columns[0], bytes(columns[1]))

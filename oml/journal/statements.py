"""The two statements of an append, written out: lock the head, then write entries and head in one.

Every entry of a tenant waits for the statement after the lock and for the COMMIT that ends it, so what lies between is
kept to one round trip and to no object mapping (ADR-0013: about a third of the processor time of the ORM's three).
Only ``append.py`` calls this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from oml.journal.hashing import GENESIS

COLUMNS = (
    "tenant_id",
    "seq",
    "event_type",
    "canonical",
    "leaf_hash",
    "chain_hash",
    "at",
    "workarea_id",
    "far_workarea_id",
    "simulation_id",
    "subject_id",
    "tail",
    "owner_id",
)
_LOCK = "SELECT seq, chain_hash, permission_epoch FROM journal_journalhead WHERE tenant_id = %s FOR NO KEY UPDATE"
_FIRST = (
    "INSERT INTO journal_journalhead (tenant_id, seq, chain_hash, permission_epoch) VALUES (%s, 0, %s, 0) "
    "ON CONFLICT DO NOTHING"
)
_PLACES = f"({', '.join(['%s'] * len(COLUMNS))})"
_WRITE = (  # only names of this module are put in
    "WITH moved AS (UPDATE journal_journalhead SET seq = %s, chain_hash = %s, permission_epoch = %s "  # noqa: S608
    f"WHERE tenant_id = %s) INSERT INTO journal_journalentry ({', '.join(COLUMNS)}) VALUES "
)


@dataclass(slots=True)
class Head:
    """A tenant's head row while its lock is held."""

    tenant_id: str
    seq: int
    chain_hash: bytes
    permission_epoch: int


def lock_head(tenant_id: str) -> Head:
    """Lock the tenant's head row, making it for the tenant's first event."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [tenant_id])
        row = cursor.fetchone()
        if row is None:  # two firsts at once meet at the primary key
            cursor.execute(_FIRST, [tenant_id, GENESIS])
            cursor.execute(_LOCK, [tenant_id])
            row = cursor.fetchone()
    seq, chain, epoch = row
    return Head(tenant_id, seq, bytes(chain), epoch)


def write(head: Head, rows: Sequence[Sequence[Any]]) -> None:
    """Write entries, in order, and the head that they lead to; each row has the values of :data:`COLUMNS`."""
    values: list[Any] = [head.seq, head.chain_hash, head.permission_epoch, head.tenant_id]
    for row in rows:
        values.extend(row)
    with connection.cursor() as cursor:
        cursor.execute(_WRITE + ", ".join([_PLACES] * len(rows)), values)

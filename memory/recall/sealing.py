"""The read log, sealed into the journal once a minute and checked against its seals.

Reads are many and must not queue at the tenant's journal head, so they go to a table of their own that only grows,
and once a minute their Merkle root enters the journal. What is not sealed yet, at most about a minute of reads, is
protected by the append-only table alone.

A seal must never cover a range into which a row may still commit: ids are given before rows commit, out of order.
Every inserting statement therefore holds a shared lock (a trigger, migration ``read_log_append_only``) from before
its ids are drawn until it commits; whoever gets that lock alone knows that nothing below the newest id is in flight.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import Max

from memory.claims.actions.end import system_actor
from memory.recall.events import READ_LOG, ReadLogSealed
from memory.recall.models import ReadLog
from oml.core.canonical import canonical_json
from oml.core.clock import rfc3339
from oml.journal.append import append, journalled
from oml.journal.hashing import leaf_hash
from oml.journal.merkle import Frontier
from oml.journal.selectors import Entry, newest_of, stream_of
from workareas.selectors.tenants import tenant_ids

IN_FLIGHT_LOCK = 1450020105899554247  # the trigger of the migration takes the same one
_WAIT = "250ms"
_CHUNK = 2000


@dataclass(frozen=True, slots=True)
class SealBreak:
    """A seal that its rows no longer match, by the journal entry that sealed them."""

    seq: int
    first: int
    last: int
    sealed: int
    found: int


@dataclass(frozen=True, slots=True)
class SealsChecked:
    """What checking a tenant's read log found."""

    tenant_id: str
    seals: int
    reads: int
    unsealed: int
    broken: list[SealBreak]


def seal_read_logs() -> int:
    """Seal every tenant's reads up to now; returns how many seals were made.

    When reads are in flight for longer than a moment, nothing is sealed: the next minute seals both.
    """
    boundary = settled_boundary()
    if boundary is None:
        return 0
    return sum(seal_tenant(tenant_id, boundary) for tenant_id in tenant_ids())


def settled_boundary() -> int | None:
    """The newest row id below which no insert is still in flight; None when that could not be learnt quickly."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{_WAIT}'")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [IN_FLIGHT_LOCK])
            newest: int | None = ReadLog.objects.aggregate(newest=Max("id"))["newest"]
            return newest or 0
    except OperationalError:
        return None


@journalled
def seal_tenant(tenant_id: str, boundary: int) -> bool:
    """Seal one tenant's reads after its last seal, up to a settled boundary; False when there are none."""
    _take_turn(tenant_id)
    before = newest_of(tenant_id, READ_LOG)
    rows = _rows(tenant_id, before.record["payload"]["to"] if before else 0, boundary)
    frontier, first, last = Frontier(), 0, 0
    for row in rows:
        frontier.push(leaf_of(row))
        first, last = first or row.pk, row.pk
    if not frontier.size:
        return False
    sealed = ReadLogSealed(first=first, last=last, count=frontier.size, merkle_root=frontier.root().hex())
    append(system_actor(tenant_id), [sealed], epoch=None)
    return True


def check_seals(tenant_id: str, *, advance: Callable[[int], Any] = lambda count: None) -> SealsChecked:
    """Compute every seal of a tenant anew from the rows as they are.

    Args:
        tenant_id: whose read log.
        advance: told how many more seals were checked.
    """
    seals = reads = last = 0
    broken: list[SealBreak] = []
    for entry in stream_of(tenant_id, READ_LOG):
        found = _broken(tenant_id, last, entry)
        if found is not None:
            broken.append(found)
        payload = entry.record["payload"]
        seals, reads, last = seals + 1, reads + payload["count"], payload["to"]
        advance(1)
    unsealed = ReadLog.objects.filter(tenant_id=tenant_id, id__gt=last).count()
    return SealsChecked(tenant_id, seals, reads, unsealed, broken)


def leaf_of(row: ReadLog) -> bytes:
    """The Merkle leaf of one read: over its RFC 8785 JSON, every column of it."""
    return leaf_hash(
        canonical_json(
            {
                "id": row.pk,
                "tenant": row.tenant_id,
                "key": row.key_id,
                "principal": row.principal_id,
                "channel": row.channel,
                "surface": row.surface,
                "workarea": row.workarea_id,
                "query_digest": row.query_digest,
                "returned": row.returned,
                "at": rfc3339(row.at),
            }
        )
    )


def _broken(tenant_id: str, after: int, entry: Entry) -> SealBreak | None:
    payload = entry.record["payload"]
    frontier = Frontier()
    # From the last seal on, not from its own first row: a row slipped in between would be seen by no seal.
    for row in _rows(tenant_id, after, payload["to"]):
        frontier.push(leaf_of(row))
    if (frontier.size, frontier.root().hex()) == (payload["count"], payload["merkle_root"]):
        return None
    return SealBreak(entry.seq, payload["from"], payload["to"], payload["count"], frontier.size)


def _rows(tenant_id: str, after: int, until: int) -> Iterator[ReadLog]:
    rows = ReadLog.objects.filter(tenant_id=tenant_id, id__gt=after, id__lte=until).order_by("id")
    return rows.iterator(chunk_size=_CHUNK)


def _take_turn(tenant_id: str) -> None:
    """Two sealers of one tenant, one after the other; the lock ends with the transaction."""
    lock = hashlib.sha256(b"memory.seal_read_log\0" + tenant_id.encode()).digest()[:8]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(lock, "big", signed=True)])

"""The one door of the ledger: an entry, its content and the cache of the head, in one transaction.

A change is made under the lock of the record's cache row, from the latest entry, and adds exactly one entry. The
cache (:class:`~memory.records.models.Record`, properties) is written from the entry's row by ``statements.py``, for a
rebuild too.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.records import content, derive, rules, statements
from memory.records.errors import RecordNotFound, Tombstoned
from memory.records.lanes import engine_id
from memory.records.models import Lane, Record, RecordEntry
from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.ids import new_id
from oml.core.spooled import LargeText, measure
from oml.crypto.digest import new_salt


@dataclass(slots=True)
class Draft:
    """The next state of a record, made from its latest."""

    record: Record
    head: RecordEntry
    state: dict[str, Any]
    new_content: LargeText | None = None
    change: list[str] = field(default_factory=list)

    @property
    def properties(self) -> list[rules.Property]:
        return [(label, value) for label, value in self.state["properties"]]


def new_sr_id() -> str:
    return f"sr_{uuid.uuid4().hex}"


def lock(actor: Actor, sr_id: str) -> Draft:
    """A live record of the actor's principal, locked, with the state that a change starts from.

    Raises:
        RecordNotFound: ``access.not_found``; unknown, malformed, foreign, another principal's.
        Tombstoned: ``record.tombstoned``.
    """
    draft = lock_any(actor, sr_id)
    if draft.record.deleted:
        raise Tombstoned(sr_id)
    return draft


def lock_any(actor: Actor, sr_id: str) -> Draft:
    """As :func:`lock`, a removed record too."""
    record = None
    if rules.SR_ID.match(sr_id):
        own = Record.objects.own(actor.tenant_id, actor.principal_id)
        record = (
            own.select_for_update(of=("self",), no_key=True).select_related("lane__workarea").filter(pk=sr_id).first()
        )
    if record is None:
        raise RecordNotFound(sr_id)
    head = RecordEntry.objects.get(pk=record.head_id)
    return Draft(record, head, dict(head.state))


def require_live(actor: Actor, sr_id: str, *, param: str) -> Record:
    """A live record of the actor's principal, for what only refers to it.

    Raises:
        RecordNotFound: ``access.not_found``.
        Tombstoned: ``record.tombstoned``.
    """
    record = None
    if rules.SR_ID.match(sr_id):
        record = Record.objects.own(actor.tenant_id, actor.principal_id).filter(pk=sr_id).first()
    if record is None:
        raise RecordNotFound(sr_id, param=param)
    if record.deleted:
        raise Tombstoned(sr_id)
    return record


def commit(actor: Actor, draft: Draft, *, note: str | None, deleted: bool = False) -> tuple[RecordEntry, bytes | None]:
    """Append the next entry and bring the cache to it.

    Returns:
        The entry, and the salt of a new content.
    """
    record = draft.record
    sha256, size, salt = draft.head.content_sha256, draft.head.size, None
    if draft.new_content is not None:
        sha256, size, salt = content.store(record.tenant_id, record.pk, draft.new_content)
    entry = RecordEntry.objects.create(
        tenant_id=record.tenant_id,
        owner_id=record.owner_id,
        sr_id=record.pk,
        version=record.version + 1,
        engine_id=engine_id(),
        event_id=new_id("ev"),
        # Clocks step back; a ledger's times do not.
        written_at=max(now(), draft.head.written_at),
        author_key_id=actor.key_id,
        state=draft.state,
        content_sha256=sha256,
        size=size,
        deleted=deleted,
        change=draft.change,
        note=note,
    )
    statements.cache([entry.pk], fresh=False)
    if salt is not None or deleted:
        derive.later([entry.sr_id])
    return entry, salt


@dataclass(frozen=True, slots=True)
class First:
    """A record about to exist; every check has been made."""

    lane: Lane
    content: LargeText
    source_type: str
    authority: int
    source_system: str
    properties: tuple[rules.Property, ...]
    note: str | None = None
    connections: tuple[tuple[str, str], ...] = ()


def begin(actor: Actor, firsts: Sequence[First], *, engine: str | None = None) -> list[tuple[RecordEntry, bytes]]:
    """Write first entries, in order; one statement for small contents however many records.

    Args:
        actor: whose records.
        firsts: at least one.
        engine: this installation's identity, where it was read already.

    Returns:
        Entries with the salts of their contents.
    """
    engine, at = engine or engine_id(), now()
    rows: list[statements.NewRecord] = []
    for one in firsts:
        sha256, size = measure(one.content)
        entry = RecordEntry(
            tenant_id=actor.tenant_id,
            owner_id=actor.principal_id,
            sr_id=new_sr_id(),
            version=0,
            engine_id=engine,
            event_id=new_id("ev"),
            written_at=at,
            author_key_id=actor.key_id,
            state=_first_state(one, engine, at),
            content_sha256=sha256,
            size=size,
            change=["ingested"],
            note=one.note,
        )
        rows.append(statements.NewRecord(entry, new_salt(), content.small(one.content)))
    blobs = statements.begin(rows)
    for row, one in zip(rows, firsts, strict=True):
        if row.content is None:
            content.pour(blobs[row.entry.sr_id], one.content)
    derive.later([row.entry.sr_id for row in rows])
    return [(row.entry, row.salt) for row in rows]


def _first_state(one: First, engine: str, at: datetime) -> dict[str, Any]:
    return {
        "lane": str(one.lane.pk),
        "source_type": one.source_type,
        "authority": one.authority,
        "source_system": one.source_system,
        "first_engine": engine,
        "ingested_at": at.isoformat(),
        "properties": [list(item) for item in dict.fromkeys(one.properties)],
        "connections": [list(item) for item in one.connections],
    }

"""The one door of the ledger: an entry, its content and the cache of the head, in one transaction.

A change is made under the lock of the record's cache row, from the latest entry, and adds exactly one entry. The
cache (:class:`~memory.records.models.Record`, properties) is written from the entry by :func:`cache`, which a rebuild
calls too, so there is one way that it can come about.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.records import content, derive, rules
from memory.records.errors import RecordNotFound, Tombstoned
from memory.records.lanes import engine_id
from memory.records.models import Lane, Record, RecordEntry, RecordProperty
from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.ids import new_id
from oml.core.spooled import LargeText, measure


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
    cache([entry])
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


def begin(actor: Actor, firsts: Sequence[First]) -> list[tuple[RecordEntry, bytes]]:
    """Write first entries, in order; constant statements for small contents however many records.

    Returns:
        Entries with the salts of their contents.
    """
    engine, at = engine_id(), now()
    entries: list[RecordEntry] = []
    for one in firsts:
        sha256, size = measure(one.content)
        entries.append(
            RecordEntry(
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
        )
    RecordEntry.objects.bulk_create(entries)
    salts = content.store_many(
        actor.tenant_id,
        [
            (entry.sr_id, one.content, entry.content_sha256, entry.size)
            for entry, one in zip(entries, firsts, strict=True)
        ],
    )
    cache(entries, fresh=True)
    derive.later([entry.sr_id for entry in entries])
    return [(entry, salts[entry.sr_id]) for entry in entries]


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


def cache(heads: Sequence[RecordEntry], *, fresh: bool = False) -> None:
    """Write the cache rows of records from their latest entries.

    Args:
        heads: one entry per record.
        fresh: whether none of the records has rows yet.
    """
    rows = [_row(entry) for entry in heads]
    if fresh:
        Record.objects.bulk_create(rows)
    else:
        names = [column.name for column in Record._meta.concrete_fields if not column.primary_key]
        Record.objects.bulk_create(rows, update_conflicts=True, unique_fields=["sr_id"], update_fields=names)
        RecordProperty.objects.filter(record__in=[entry.sr_id for entry in heads]).delete()
    RecordProperty.objects.bulk_create(
        RecordProperty(record_id=entry.sr_id, ordinal=ordinal, label=label, value=value)
        for entry in heads
        for ordinal, (label, value) in enumerate(entry.state["properties"])
    )


def _row(entry: RecordEntry) -> Record:
    state = entry.state
    return Record(
        sr_id=entry.sr_id,
        tenant_id=entry.tenant_id,
        owner_id=entry.owner_id,
        lane_id=uuid.UUID(state["lane"]),
        source_type=state["source_type"],
        authority=state["authority"],
        source_system=state["source_system"],
        first_engine=state["first_engine"],
        ingested_at=datetime.fromisoformat(state["ingested_at"]),
        version=entry.version,
        written_at=entry.written_at,
        head_id=entry.pk,
        content_sha256=entry.content_sha256,
        size=entry.size,
        deleted=entry.deleted,
    )

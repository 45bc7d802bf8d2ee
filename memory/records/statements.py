"""The hot statements of source records, written out: one for a first entry, one for a read.

Keeping a record is one round trip beside access, lane and journal, and reading one is one beside the read log; by the
object mapping it was five and five, and most of the time of both. The cache is written from the ledger's own rows here,
for a new record, a change and a rebuild alike, so there is one way that it can come about. Only ``ledger.py`` and the
selectors call this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

from memory.records.models import RecordEntry
from oml.core.spooled import PIECE

_ENTRY = (
    "tenant_id, owner_id, sr_id, version, engine_id, event_id, written_at, author_key_id, state, content_sha256, size, "
    "deleted, change, note"
)
_CACHE = (
    "sr_id, tenant_id, owner_id, lane_id, source_type, authority, source_system, first_engine, ingested_at, version, "
    "written_at, head_id, content_sha256, size, deleted"
)
#: The cache row of an entry ``e``.
_CACHED = (
    "e.sr_id, e.tenant_id, e.owner_id, (e.state->>'lane')::uuid, e.state->>'source_type', "
    "(e.state->>'authority')::smallint, e.state->>'source_system', e.state->>'first_engine', "
    "(e.state->>'ingested_at')::timestamptz, e.version, e.written_at, e.id, e.content_sha256, e.size, e.deleted"
)
_PROPERTIES = """
INSERT INTO memory_recordproperty (record_id, ordinal, label, value)
SELECT e.sr_id, p.ordinal - 1, p.pair->>0, p.pair->>1
FROM {entries} e, jsonb_array_elements(e.state->'properties') WITH ORDINALITY AS p (pair, ordinal)
"""
# Foreign keys between these rows are checked at the commit, so one statement can write them all.
_BEGIN = f"""
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        %(sr_ids)s::text[], %(event_ids)s::text[], %(states)s::jsonb[], %(digests)s::text[], %(sizes)s::bigint[],
        %(notes)s::text[], %(salts)s::bytea[], %(contents)s::bytea[]
    ) WITH ORDINALITY AS g (sr_id, event_id, state, sha256, size, note, salt, content, at)
), entry AS (
    INSERT INTO memory_recordentry ({_ENTRY})
    SELECT %(tenant)s, %(owner)s, sr_id, 0, %(engine)s, event_id, %(written_at)s, %(key)s, state, sha256, size,
           false, '{{ingested}}', note
    FROM given ORDER BY at RETURNING *
), blob AS (
    INSERT INTO memory_contentblob (tenant_id, sr_id, sha256, size, salt)
    SELECT %(tenant)s, sr_id, sha256, size, salt FROM given ORDER BY at RETURNING id, sr_id
), piece AS (
    INSERT INTO memory_contentpiece (blob_id, ordinal, data)
    SELECT blob.id, 0, given.content FROM blob JOIN given USING (sr_id) WHERE given.content IS NOT NULL
), cached AS (
    INSERT INTO memory_record ({_CACHE}) SELECT {_CACHED} FROM entry e
), properties AS ({_PROPERTIES.format(entries="entry")})
SELECT entry.sr_id, entry.id, blob.id FROM entry JOIN blob USING (sr_id)
"""  # noqa: S608  (only names of this module are put in, here and below)
_CACHE_HEADS = f"""
INSERT INTO memory_record ({_CACHE})
SELECT {_CACHED} FROM memory_recordentry e WHERE e.id = ANY(%(heads)s)
ON CONFLICT (sr_id) DO UPDATE
SET ({_CACHE.removeprefix("sr_id, ")}) = ROW({", ".join(f"excluded.{name}" for name in _CACHE.split(", ")[1:])})
"""  # noqa: S608
# A statement of its own: what one statement deletes, it cannot insert again.
_FORGET_PROPERTIES = """
DELETE FROM memory_recordproperty
WHERE record_id IN (SELECT sr_id FROM memory_recordentry WHERE id = ANY(%(heads)s))
"""
_PROPERTIES_OF_HEADS = _PROPERTIES.format(
    entries="(SELECT sr_id, state FROM memory_recordentry WHERE id = ANY(%(heads)s))"
)
_WHICH = {
    "head": "e.id = r.head_id",
    "version": "e.version = %(version)s",
    "as_of": "e.written_at <= %(as_of)s",
}
# The order is that of rules.rank: engine_id and event_id have the collation "C".
_READ = """
SELECT {entry}, lane.label, blob.id, piece.data, links.found, erasure.erased_at
FROM memory_record r
JOIN LATERAL (
    SELECT * FROM memory_recordentry e WHERE e.sr_id = r.sr_id AND {which}
    ORDER BY e.version DESC, e.engine_id DESC, e.event_id DESC LIMIT 1
) AS e ON true
LEFT JOIN memory_lane lane ON lane.uuid = (e.state->>'lane')::uuid
LEFT JOIN memory_contentblob blob ON blob.sr_id = e.sr_id AND blob.sha256 = e.content_sha256
LEFT JOIN memory_contentpiece piece ON piece.blob_id = blob.id AND piece.ordinal = 0 AND e.size <= {small}
LEFT JOIN memory_recorderasure erasure ON erasure.sr_id = e.sr_id
LEFT JOIN LATERAL (
    SELECT array_agg(ARRAY[l.kind, l.from_sr]::text[] ORDER BY l.id) AS found
    FROM memory_recordlink l WHERE l.to_sr = r.sr_id AND (%(as_of)s::timestamptz IS NULL OR l.linked_at <= %(as_of)s)
) AS links ON true
WHERE r.sr_id = %(sr_id)s AND r.tenant_id = %(tenant)s AND r.owner_id = %(owner)s
"""
_ENTRY_FIELDS = ["id", *_ENTRY.split(", ")]
_READS = {
    name: _READ.format(entry=", ".join(f"e.{one}" for one in _ENTRY_FIELDS), which=which, small=PIECE)
    for name, which in _WHICH.items()
}


@dataclass(frozen=True, slots=True)
class NewRecord:
    """An entry not written yet and what is written with it.

    Attributes:
        entry: version 0, without its number.
        salt: of its content.
        content: the bytes of a small content; None where its pieces follow one by one.
    """

    entry: RecordEntry
    salt: bytes
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Found:
    """An entry of a record as its owner asked for it.

    Attributes:
        entry: the entry.
        lane: label of its lane.
        blob: number of its content; None once that was erased.
        content: its bytes where it is small.
        links: kind and record of what is pinned to the record, oldest first.
        erased_at: when it was erased, if it was.
    """

    entry: RecordEntry
    lane: str
    blob: int | None
    content: bytes | None
    links: list[tuple[str, str]]
    erased_at: datetime | None


def begin(rows: Sequence[NewRecord]) -> dict[str, int]:
    """Write first entries of one author with their contents and caches, in order; one statement.

    The entries get their numbers.

    Returns:
        The content's number by record.
    """
    first = rows[0].entry
    values: dict[str, Any] = {
        "tenant": first.tenant_id,
        "owner": first.owner_id,
        "engine": first.engine_id,
        "written_at": first.written_at,
        "key": first.author_key_id,
        "sr_ids": [row.entry.sr_id for row in rows],
        "event_ids": [row.entry.event_id for row in rows],
        "states": [Jsonb(row.entry.state) for row in rows],
        "digests": [row.entry.content_sha256 for row in rows],
        "sizes": [row.entry.size for row in rows],
        "notes": [row.entry.note for row in rows],
        "salts": [row.salt for row in rows],
        "contents": [row.content for row in rows],
    }
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN, values)
        numbers = {sr_id: (entry, blob) for sr_id, entry, blob in cursor.fetchall()}
    for row in rows:
        row.entry.pk, row.entry._state.adding = numbers[row.entry.sr_id][0], False
    return {sr_id: blob for sr_id, (_, blob) in numbers.items()}


def cache(heads: Iterable[int], *, fresh: bool) -> None:
    """Write the cache rows of the entries with these numbers, one per record.

    Args:
        heads: numbers of entries.
        fresh: whether none of the records has rows yet.
    """
    values = {"heads": list(heads)}
    with connection.cursor() as cursor:
        cursor.execute(_CACHE_HEADS, values)
        if not fresh:
            cursor.execute(_FORGET_PROPERTIES, values)
        cursor.execute(_PROPERTIES_OF_HEADS, values)


def find(
    tenant_id: str, owner_id: str, sr_id: str, *, version: int | None = None, as_of: datetime | None = None
) -> Found | None:
    """A principal's record at its head, at a version, or as of a time; one statement."""
    which = "version" if version is not None else "as_of" if as_of is not None else "head"
    values = {"tenant": tenant_id, "owner": owner_id, "sr_id": sr_id, "version": version, "as_of": as_of}
    with connection.cursor() as cursor:
        cursor.execute(_READS[which], values)
        row = cursor.fetchone()
    if row is None:
        return None
    *columns, lane, blob, content, links, erased_at = row
    return Found(
        entry_of(columns),
        lane,
        blob,
        None if content is None else bytes(content),
        [(kind, source) for kind, source in links or ()],
        erased_at,
    )


def entry_of(values: Sequence[Any]) -> RecordEntry:
    """An entry from its columns, in the order of this module's statements."""
    named = dict(zip(_ENTRY_FIELDS, values, strict=True))
    named["state"] = json.loads(named["state"])  # the driver hands jsonb out as its text
    return RecordEntry.from_db(connection.alias, list(named), list(named.values()))

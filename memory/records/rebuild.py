"""The caches from the ledger, and entries of another engine into it: both end in the same rows by the head rule."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction

from memory.records import content, derive, lanes, rules, statements
from memory.records.errors import RecordNotFound
from memory.records.events import Imported
from memory.records.models import Lane, Record, RecordEntry, RecordErasure, SourceType
from oml.core.actor import Actor
from oml.core.clock import parse_rfc3339, rfc3339
from oml.core.errors import Validation
from oml.journal.append import append, journalled

_STEP = 100
FORMAT = 1


def count_records() -> int:
    """How many records the ledger knows."""
    return RecordEntry.objects.values("sr_id").distinct().count()


def rebuild() -> Iterator[int]:
    """Drop the cache and write it again from the ledger; yields how many records each step did.

    One transaction: readers see the old rows until it commits.
    """
    with transaction.atomic():
        Record.objects.all().delete()
        after = ""
        while True:
            ids = list(
                RecordEntry.objects.filter(sr_id__gt=after)
                .order_by("sr_id")
                .values_list("sr_id", flat=True)
                .distinct()[:_STEP]
            )
            if not ids:
                return
            statements.cache([head.pk for head in _heads(ids)], fresh=True)
            derive.derive(ids)
            after = ids[-1]
            yield len(ids)


def exported(actor: Actor) -> Iterator[str]:
    """A principal's whole ledger as JSON lines: lanes first, then entries with their contents once each."""
    mine = {"tenant_id": actor.tenant_id, "owner_id": actor.principal_id}
    for lane in Lane.objects.filter(**mine).order_by("created_at", "pk"):
        yield _line(
            {
                "format": FORMAT,
                "lane": str(lane.pk),
                "label": lane.label,
                "default_source_type": lane.default_source_type,
                "source_types": dict(lane.source_types.order_by("name").values_list("name", "authority")),
            }
        )
    told: set[tuple[str, str]] = set()
    for entry in RecordEntry.objects.filter(**mine).order_by("id").iterator(chunk_size=200):
        line = {
            "sr_id": entry.sr_id,
            "version": entry.version,
            "engine_id": entry.engine_id,
            "event_id": entry.event_id,
            "written_at": rfc3339(entry.written_at),
            "author_key": entry.author_key_id,
            "state": entry.state,
            "content_sha256": entry.content_sha256,
            "size": entry.size,
            "deleted": entry.deleted,
            "change": entry.change,
            "note": entry.note,
        }
        if (entry.sr_id, entry.content_sha256) not in told:
            told.add((entry.sr_id, entry.content_sha256))
            text = content.stored(entry.sr_id, entry.content_sha256, entry.size)
            if text is not None:
                whole = text if isinstance(text, str) else "".join(text.text())
                line["content"] = base64.b64encode(whole.encode()).decode()
        yield _line(line)


@journalled
def import_entries(actor: Actor, lines: Iterable[str]) -> dict[str, int]:
    """Take in another engine's entries of the same principal; whatever order they come in, the head is the same.

    Args:
        actor: a key of the principal that they belong to here.
        lines: as :func:`exported` wrote them.

    Returns:
        ``records``, ``entries`` new here, ``known`` ones that were here already, ``erased``: entries of records that
        were erased here, of which nothing is taken.

    Raises:
        Validation: ``request.validation``; a line that is not an entry, or content that is not what its digest says.
        RecordNotFound: ``access.not_found``; an entry of a record that is another principal's here.
    """
    epoch = lanes.writable(actor)
    fresh: dict[str, int] = {}
    seen = gone = 0
    for number, line in enumerate(lines, start=1):
        row = _parsed(line, number)
        if "label" in row:
            _take_lane(actor, row)
        elif RecordErasure.objects.filter(pk=row["sr_id"]).exists():
            gone += 1
        elif _take_entry(actor, row, number):
            fresh[row["sr_id"]] = fresh.get(row["sr_id"], 0) + 1
        else:
            seen += 1
    if fresh:
        heads = _heads(list(fresh))
        statements.cache([head.pk for head in heads], fresh=False)
        derive.later([head.sr_id for head in heads])
        events = [Imported(sr_id=head.sr_id, entries=fresh[head.sr_id], version=head.version) for head in heads]
        append(actor, events, epoch=epoch)
    return {"records": len(fresh), "entries": sum(fresh.values()), "known": seen, "erased": gone}


def _heads(ids: list[str]) -> list[RecordEntry]:
    by_record: dict[str, list[RecordEntry]] = {}
    for entry in RecordEntry.objects.filter(sr_id__in=ids):
        by_record.setdefault(entry.sr_id, []).append(entry)
    heads = [rules.head_of(entries) for _, entries in sorted(by_record.items())]
    return [head for head in heads if head is not None]


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _parsed(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        return dict(row)
    except ValueError:
        raise Validation(f"line {number} is not a JSON object") from None


def _take_lane(actor: Actor, row: dict[str, Any]) -> None:
    """A lane keeps its UUID; a label that is taken here gets the UUID behind it."""
    identity = uuid.UUID(row["lane"])
    if Lane.objects.filter(pk=identity).exists():
        lanes.find_lane(actor, str(identity), param="lane")
        return
    mine = Lane.objects.filter(tenant_id=actor.tenant_id, owner_id=actor.principal_id)
    label = row["label"] if not mine.filter(label=row["label"]).exists() else f"{row['label'][:60]}/{identity.hex}"
    lane = Lane.objects.create(
        uuid=identity,
        tenant_id=actor.tenant_id,
        owner_id=actor.principal_id,
        label=label,
        default_source_type=row["default_source_type"],
    )
    SourceType.objects.bulk_create(
        SourceType(lane=lane, name=name, authority=authority) for name, authority in row["source_types"].items()
    )


def _take_entry(actor: Actor, row: dict[str, Any], number: int) -> bool:
    sr_id = row["sr_id"]
    if not rules.SR_ID.match(sr_id):
        raise Validation(f"line {number} names no record")
    present = RecordEntry.objects.filter(sr_id=sr_id)
    # The lock that every change takes, so that nobody writes the head that this one moves.
    Record.objects.select_for_update(no_key=True).filter(pk=sr_id).first()
    stranger = present.exclude(tenant_id=actor.tenant_id, owner_id=actor.principal_id)
    if stranger.exists():
        raise RecordNotFound(sr_id)
    if "content" in row:
        text = base64.b64decode(row["content"]).decode()
        if hashlib.sha256(text.encode()).hexdigest() != row["content_sha256"]:
            raise Validation(f"line {number} has content that is not what its digest says")
        content.store(actor.tenant_id, sr_id, text)
    identity = {"version": row["version"], "engine_id": row["engine_id"], "event_id": row["event_id"]}
    if present.filter(**identity).exists():
        return False
    lanes.find_lane(actor, row["state"]["lane"], param="state.lane")
    RecordEntry.objects.create(
        tenant_id=actor.tenant_id,
        owner_id=actor.principal_id,
        sr_id=sr_id,
        written_at=parse_rfc3339(row["written_at"]),
        author_key_id=row["author_key"],
        state=row["state"],
        content_sha256=row["content_sha256"],
        size=row["size"],
        deleted=row["deleted"],
        change=row["change"],
        note=row["note"],
        **identity,
    )
    return True

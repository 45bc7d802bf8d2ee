"""Erasure of a record: a tenant's administrator destroys what it said, in every version, for good.

Bytes, chunks, vectors, tags and whatever a caller worded (properties, connections, notes, source systems) go in one
transaction; entries keep their digests, and the ledger, the journal and every signature still verify. The owner finds
the record removed; a claim that cites it still says so, and its readers get the version without content. What must
never happen here: a word of the record in an answer, an event or a log, or one that an import could bring back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import Sum

from memory.records import ledger, rules
from memory.records.errors import AlreadyErased, RecordNotFound
from memory.records.events import Erased
from memory.records.models import (
    ContentBlob,
    ContentPiece,
    Record,
    RecordChunk,
    RecordEntry,
    RecordErasure,
    RecordGroupMember,
    RecordLink,
    RecordTag,
)
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.journal.append import append, journalled
from workareas import access, reasons
from workareas.models import IdempotencyRecord
from workareas.verbs import Verb

#: A room above that refers to records: ``sr_id -> how many of its things show the record's absence from now on``.
Citing = Callable[[str], int]
_citing: list[Citing] = []


def on_erase(citing: Citing) -> Citing:
    """Register who cites records, for previews and receipts."""
    _citing.append(citing)
    return citing


@journalled
def erase_record(actor: Actor, *, sr_id: str, reason: str, preview: bool = False) -> dict[str, Any]:
    """Destroy a record's content and words for good; ids, digests, ledger and journal stay, and still verify.

    Args:
        actor: an administrator of the root: a record stands in no workarea, so nobody below it is asked.
        sr_id: as sent; of any principal of the tenant, removed or not.
        reason: why; its commitment is journalled, the words are not kept: they may repeat what is erased.
        preview: change nothing, only say what would go.

    Returns:
        ``sr_id``, ``versions``, ``preview``, ``destroyed``: counts by what they are counts of, ``citing_claims``,
        ``pinned``: corrections and adjustments of it, which are records of their own and stay; ``erased_at``.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``; who does not administer the root, whatever the id.
        RecordNotFound: ``access.not_found``.
        AlreadyErased: ``record.tombstoned``.
    """
    decision = access.require_everywhere(actor, Verb.ERASE)
    record = None
    if rules.SR_ID.match(sr_id):
        rows = Record.objects.select_for_update(of=("self",), no_key=True).select_related("lane__workarea")
        record = rows.filter(pk=sr_id, tenant_id=actor.tenant_id).first()
    if record is None:
        raise RecordNotFound(sr_id)
    if RecordErasure.objects.filter(pk=sr_id).exists():
        raise AlreadyErased(sr_id)
    receipt = _counted(record)
    if preview:
        return receipt
    erasure = RecordErasure.objects.create(sr_id=sr_id, tenant_id=actor.tenant_id)
    _destroy(record)
    head = RecordEntry.objects.get(pk=record.head_id)
    draft = ledger.Draft(record, head, {**head.state, **rules.WORDLESS}, change=["erased"])
    entry, _ = ledger.commit(actor, draft, note=None, deleted=True)
    erased = Erased(
        workarea_id=record.lane.workarea_id,
        sr_id=sr_id,
        version=entry.version,
        principal=record.owner_id,
        reason_commitment=reasons.forgotten(reason),
    )
    append(actor, [erased], epoch=decision.epoch)
    return {**receipt, "preview": False, "erased_at": rfc3339_seconds(erasure.erased_at)}


def _counted(record: Record) -> dict[str, Any]:
    """What an erasure takes, and what it leaves that speaks of the record."""
    entries = list(RecordEntry.objects.filter(sr_id=record.pk).only("state", "note"))
    blobs = ContentBlob.objects.filter(sr_id=record.pk)
    return {
        "sr_id": record.pk,
        "versions": len(entries),
        "preview": True,
        "destroyed": {
            "contents": blobs.count(),
            "content_bytes": blobs.aggregate(size=Sum("size"))["size"] or 0,
            "properties": sum(len(one.state["properties"]) for one in entries),
            "connections": sum(len(one.state["connections"]) for one in entries),
            "notes": sum(one.note is not None for one in entries),
            "search_chunks": RecordChunk.objects.filter(record=record).count(),
            "tags": RecordTag.objects.filter(record=record).count(),
            "group_memberships": RecordGroupMember.objects.filter(sr_id=record.pk).count(),
            "idempotency_answers": len(_answers(record)),
        },
        "citing_claims": sum(citing(record.pk) for citing in _citing),
        "pinned": list(RecordLink.objects.filter(to_sr=record.pk).order_by("id").values_list("from_sr", flat=True)),
    }


def _destroy(record: Record) -> None:
    IdempotencyRecord.objects.filter(pk__in=_answers(record)).update(fingerprint=bytes(32))
    ContentPiece.objects.filter(blob__sr_id=record.pk).delete()
    ContentBlob.objects.filter(sr_id=record.pk).delete()
    RecordChunk.objects.filter(record=record).delete()
    RecordTag.objects.filter(record=record).delete()
    RecordGroupMember.objects.filter(sr_id=record.pk).delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT record_entries_forget(%s)", [record.pk])


def _answers(record: Record) -> list[int]:
    """Batches that wrote the record: their rows stay, so that a late retry writes nothing, and lose their fingerprint,
    a digest of what was sent."""
    keys = RecordEntry.objects.filter(sr_id=record.pk, version=0).values_list("author_key_id", flat=True)
    mine = IdempotencyRecord.objects.filter(key_id__in=list(keys), response__records__contains=[{"sr_id": record.pk}])
    return list(mine.values_list("pk", flat=True))

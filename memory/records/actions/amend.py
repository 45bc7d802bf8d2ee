"""Corrections and adjustments: a new record pinned to an older one, which itself gets no entry."""

from __future__ import annotations

from typing import Any

from memory.records import lanes, ledger
from memory.records.actions.ingest import answer_of, ingested, source_system
from memory.records.commands import AmendCommand
from memory.records.events import Adjusted, Corrected
from memory.records.ledger import First
from memory.records.models import RecordLink
from oml.core.actor import Actor
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import quota


def correct_record(actor: Actor, *, command: AmendCommand) -> dict[str, Any]:
    """Say that a record was wrong, and what is right; reading the record names the correction from then on.

    Returns:
        As ingest, with ``corrects``.

    Raises:
        RecordNotFound: ``access.not_found``.
        Tombstoned: ``record.tombstoned``.
        As ingest.
    """
    return _amend(actor, command, "correction")


def adjust_record(actor: Actor, *, command: AmendCommand) -> dict[str, Any]:
    """Say that the world changed since a record was right; as :func:`correct_record`, with ``adjusts``."""
    return _amend(actor, command, "adjustment")


@journalled
def _amend(actor: Actor, command: AmendCommand, kind: str) -> dict[str, Any]:
    epoch = lanes.writable(actor)
    target = ledger.lock(actor, command.sr_id).record
    lanes.check_place(actor, target.lane)
    quota.take(actor, quota.Quota.WRITE)
    first = First(
        lane=target.lane,
        content=command.content,
        source_type=target.source_type,
        authority=target.authority,
        source_system=source_system(actor, command.source_system),
        properties=command.properties,
        note=command.note,
    )
    ((entry, salt),) = ledger.begin(actor, [first])
    RecordLink.objects.create(
        tenant_id=actor.tenant_id, kind=kind, from_sr=entry.sr_id, to_sr=target.pk, linked_at=entry.written_at
    )
    place = target.lane.workarea_id
    pinned: Event
    if kind == "correction":
        pinned = Corrected(workarea_id=place, sr_id=target.pk, correction=entry.sr_id)
    else:
        pinned = Adjusted(workarea_id=place, sr_id=target.pk, adjustment=entry.sr_id)
    append(actor, [ingested(target.lane, entry, salt), pinned], epoch=epoch)
    return {**answer_of(entry), "corrects" if kind == "correction" else "adjusts": target.pk}

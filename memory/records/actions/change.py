"""Changes of a record: update, properties, connections, tombstone. Each appends one whole-state entry, or nothing."""

from __future__ import annotations

from typing import Any

from memory.records import content, lanes, ledger, rules
from memory.records.actions.ingest import index_of
from memory.records.commands import UpdateCommand
from memory.records.errors import VersionConflict
from memory.records.events import Connected, PropertyAdded, PropertyRemoved, RecordEvent, Removed, Updated
from memory.records.ledger import Draft
from memory.records.models import RecordEntry
from memory.records.rules import Property
from oml.core.actor import Actor
from oml.core.clock import rfc3339
from oml.core.errors import Validation
from oml.core.spooled import measure
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import quota


def update_record(actor: Actor, *, command: UpdateCommand) -> dict[str, Any]:
    """Append the next version of a record: whole new content, properties merged by label, or both.

    Connections, groups and adjustment links stay; an update that changes nothing writes nothing.

    Args:
        actor: a writer key of the record's principal.
        command: what is new, a note that says why, and the version expected to be the latest.

    Returns:
        ``sr_id``, ``version``, ``content_hash``, ``changed``: what this call changed, empty when nothing.

    Raises:
        Validation: ``request.validation``; neither content nor properties.
        RecordNotFound: ``access.not_found``.
        Tombstoned: ``record.tombstoned``.
        VersionConflict: ``record.version_conflict``.
        VerbCeiling, AccessForbidden, Frozen, QuotaExceeded: as ingest.
    """
    answer = _update(actor, command)
    return answer | index_of(command.sr_id) if command.sync else answer


@journalled
def _update(actor: Actor, command: UpdateCommand) -> dict[str, Any]:
    if command.content is None and not command.properties:
        raise Validation("an update has content, properties, or both", param="content")
    epoch, draft = _open(actor, command.sr_id)
    if command.expected_version is not None and command.expected_version != draft.record.version:
        raise VersionConflict(command.sr_id, draft.record.version)
    if command.content is not None and measure(command.content)[0] != draft.head.content_sha256:
        draft.new_content = command.content
        draft.change.append("content")
    _set_properties(draft, rules.merged(draft.properties, command.properties))
    if not draft.change:
        return _unchanged(draft)
    entry, salt = ledger.commit(actor, draft, note=command.note)
    updated = Updated(
        workarea_id=draft.record.lane.workarea_id,
        sr_id=entry.sr_id,
        version=entry.version,
        changed=tuple(draft.change),
        content_commitment=content.committed(salt, entry.content_sha256) if salt else None,
    )
    append(actor, [updated], epoch=epoch)
    return _changed(entry)


@journalled
def add_property(actor: Actor, *, sr_id: str, prop: Property) -> dict[str, Any]:
    """Put one edge property on a record; one that is there already writes nothing. Errors as :func:`update_record`."""
    epoch, draft = _open(actor, sr_id)
    if prop not in draft.properties:
        if len(draft.properties) >= rules.MAX_PROPERTIES:
            raise Validation(f"a record has at most {rules.MAX_PROPERTIES} properties", param="property")
        _set_properties(draft, [*draft.properties, prop], "property added")
    return _finish(actor, epoch, draft, PropertyAdded)


@journalled
def remove_property(actor: Actor, *, sr_id: str, prop: Property) -> dict[str, Any]:
    """Take one edge property off a record; one that is not there writes nothing. Errors as :func:`update_record`."""
    epoch, draft = _open(actor, sr_id)
    _set_properties(draft, [one for one in draft.properties if one != prop], "property removed")
    return _finish(actor, epoch, draft, PropertyRemoved)


@journalled
def connect(actor: Actor, *, sr_id: str, to: str, label: str, connected: bool = True) -> dict[str, Any]:
    """Connect a record to another, or take the connection away; the entry goes to the *from* record alone.

    Args:
        actor: a writer key of both records' principal.
        sr_id: the record the connection starts from.
        to: where it leads; live and readable when connecting.
        label: what it says, read from → to.
        connected: False takes it away.

    Raises:
        RecordNotFound: ``access.not_found``; either end.
        Validation: ``request.validation``; a record connected to itself.
        As :func:`update_record`.
    """
    epoch, draft = _open(actor, sr_id)
    if to == sr_id:
        raise Validation("a record is not connected to itself", param="to")
    if connected:
        ledger.require_live(actor, to, param="to")
    present: list[list[str]] = draft.state["connections"]
    wanted = [one for one in present if one != [label, to]] + ([[label, to]] if connected else [])
    if ([label, to] in present) is not connected:
        draft.state["connections"] = wanted
        draft.change.append("connection added" if connected else "connection removed")
    return _finish(actor, epoch, draft, Connected, to=to, connected=connected)


@journalled
def tombstone(actor: Actor, *, sr_id: str, note: str | None = None) -> dict[str, Any]:
    """Remove a record: an entry that says so. ``as_of`` before it still answers; a second one writes nothing.

    Returns:
        ``sr_id``, ``version``, ``removed_at``.

    Raises:
        RecordNotFound: ``access.not_found``.
        VerbCeiling, AccessForbidden, Frozen, QuotaExceeded: as ingest.
    """
    epoch = lanes.writable(actor)
    draft = ledger.lock_any(actor, sr_id)
    if draft.record.deleted:
        return _removed(draft.head)
    lanes.check_place(actor, draft.record.lane)
    quota.take(actor, quota.Quota.WRITE)
    draft.change.append("removed")
    entry, _ = ledger.commit(actor, draft, note=note, deleted=True)
    removed = Removed(workarea_id=draft.record.lane.workarea_id, sr_id=entry.sr_id, version=entry.version)
    append(actor, [removed], epoch=epoch)
    return _removed(entry)


def _open(actor: Actor, sr_id: str) -> tuple[int, Draft]:
    """Role, record, place, quota: what every change of a live record asks first."""
    epoch = lanes.writable(actor)
    draft = ledger.lock(actor, sr_id)
    lanes.check_place(actor, draft.record.lane)
    quota.take(actor, quota.Quota.WRITE)
    return epoch, draft


def _set_properties(draft: Draft, properties: list[Property], change: str = "properties") -> None:
    if len(properties) > rules.MAX_PROPERTIES:
        raise Validation(f"a record has at most {rules.MAX_PROPERTIES} properties", param="properties")
    if properties != draft.properties:
        draft.state["properties"] = [list(one) for one in properties]
        draft.change.append(change)


def _finish(actor: Actor, epoch: int, draft: Draft, kind: type[RecordEvent], **fields: Any) -> dict[str, Any]:
    if not draft.change:
        return _unchanged(draft)
    entry, _ = ledger.commit(actor, draft, note=None)
    events: list[Event] = [
        kind(workarea_id=draft.record.lane.workarea_id, sr_id=entry.sr_id, version=entry.version, **fields)
    ]
    append(actor, events, epoch=epoch)
    return _changed(entry)


def _changed(entry: RecordEntry) -> dict[str, Any]:
    return {
        "sr_id": entry.sr_id,
        "version": entry.version,
        "content_hash": entry.content_sha256,
        "changed": list(entry.change),
    }


def _unchanged(draft: Draft) -> dict[str, Any]:
    return {
        "sr_id": draft.record.pk,
        "version": draft.record.version,
        "content_hash": draft.record.content_sha256,
        "changed": [],
    }


def _removed(entry: RecordEntry) -> dict[str, Any]:
    return {"sr_id": entry.sr_id, "version": entry.version, "removed_at": rfc3339(entry.written_at)}

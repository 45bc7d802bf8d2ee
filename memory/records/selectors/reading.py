"""One record, as it is, was, or was at a version; and its whole history. Its principal's alone (see also evidence)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory.records import content, rules
from memory.records.commands import ReadCommand
from memory.records.errors import RecordNotFound, Tombstoned
from memory.records.models import Lane, Record, RecordEntry, RecordLink
from oml.core.actor import Actor
from oml.core.clock import rfc3339
from oml.core.errors import Validation
from workareas import access
from workareas.verbs import Verb


def own_record(actor: Actor, sr_id: str) -> Record:
    """A record of the actor's principal, removed or not.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; an operator.
        RecordNotFound: ``access.not_found``; unknown, malformed, foreign, another principal's, one body.
    """
    access.require_role(actor, Verb.READ)
    record = None
    if rules.SR_ID.match(sr_id):
        record = Record.objects.own(actor.tenant_id, actor.principal_id).filter(pk=sr_id).first()
    if record is None:
        raise RecordNotFound(sr_id)
    return record


def read_own(actor: Actor, *, command: ReadCommand) -> dict[str, Any]:
    """The seed's fields of a record; corrections and adjustments where it has any.

    Args:
        actor: a key of the record's principal.
        command: the record, and optionally a time or a version.

    Raises:
        Validation: ``request.validation``; both a time and a version.
        RecordNotFound: ``access.not_found``; also ``as_of`` before it existed, and a version it never had.
        Tombstoned: ``record.tombstoned``.
    """
    if command.as_of is not None and command.version is not None:
        raise Validation("as_of and version exclude each other", param="version")
    record = own_record(actor, command.sr_id)
    entry = _entry(record, command)
    if entry is None:
        raise RecordNotFound(command.sr_id)
    if entry.deleted:
        raise Tombstoned(command.sr_id)
    body = body_of(entry)
    connections = entry.state["connections"]
    if connections:
        body["connections"] = [{"label": label, "to": to} for label, to in connections]
    return body | _links(record.pk, command.as_of)


def body_of(entry: RecordEntry, *, with_content: bool = True) -> dict[str, Any]:
    """The seed's table of an entry, whoever reads it; ``content`` is null once it was erased."""
    state = entry.state
    body: dict[str, Any] = {
        "sr_id": entry.sr_id,
        "content": content.stored(entry.sr_id, entry.content_sha256, entry.size) if with_content else None,
        "lane": Lane.objects.values_list("label", flat=True).get(pk=state["lane"]),
        "lane_uuid": state["lane"],
        "source_type": state["source_type"],
        "authority_level": state["authority"],
        "source_system": state["source_system"],
        "ingested_at": rfc3339(datetime.fromisoformat(state["ingested_at"])),
        "version": entry.version,
    }
    if state["properties"]:
        body["properties"] = rules.spelled(state["properties"])
    return body


def history_of(actor: Actor, *, sr_id: str) -> dict[str, Any]:
    """Every version of a record: when it was written, what changed, its note; losers of a fork marked superseded.

    Raises:
        RecordNotFound: ``access.not_found``.
    """
    record = own_record(actor, sr_id)
    entries = sorted(RecordEntry.objects.filter(sr_id=record.pk), key=rules.rank)
    winners = {entry.version: entry.pk for entry in entries}  # the last of a version is its winner
    return {
        "sr_id": record.pk,
        "versions": [
            {
                "version": entry.version,
                "written_at": rfc3339(entry.written_at),
                "changed": list(entry.change),
                "note": entry.note,
                "content_hash": entry.content_sha256,
                "engine_id": entry.engine_id,
                "author_key": entry.author_key_id,
                "deleted": entry.deleted,
                "superseded": winners[entry.version] != entry.pk,
            }
            for entry in entries
        ],
    }


def _entry(record: Record, command: ReadCommand) -> RecordEntry | None:
    entries = RecordEntry.objects.filter(sr_id=record.pk)
    if command.as_of is not None:
        return rules.head_of(entries.filter(written_at__lte=command.as_of))
    if command.version is not None:
        if not 0 <= command.version < 2**31:
            return None
        return rules.head_of(entries.filter(version=command.version))
    return entries.get(pk=record.head_id)


def _links(sr_id: str, as_of: datetime | None) -> dict[str, Sequence[str]]:
    rows = RecordLink.objects.filter(to_sr=sr_id).order_by("id")
    if as_of is not None:
        rows = rows.filter(linked_at__lte=as_of)
    found: dict[str, list[str]] = {}
    for kind, source in rows.values_list("kind", "from_sr"):
        found.setdefault(f"{kind}s", []).append(source)
    return {name: found[name] for name in ("corrections", "adjustments") if name in found}

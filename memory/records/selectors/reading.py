"""One record, as it is, was, or was at a version; and its whole history. Its principal's alone (see also evidence)."""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from typing import Any

from memory.records import content, rules, statements
from memory.records.commands import ReadCommand
from memory.records.errors import RecordNotFound, Tombstoned
from memory.records.models import Lane, Record, RecordEntry, RecordErasure
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
    access.require_role(actor, Verb.READ)
    found = _find(actor, command)
    if found is None:
        raise RecordNotFound(command.sr_id)
    entry = found.entry
    if entry.deleted:
        raise Tombstoned(command.sr_id)
    body = _body(entry, found.lane, _content(found), found.erased_at)
    connections = entry.state["connections"]
    if connections:
        body["connections"] = [{"label": label, "to": to} for label, to in connections]
    return body | _links(found.links)


def body_of(entry: RecordEntry) -> dict[str, Any]:
    """The seed's table of an entry, whoever reads it; ``content`` is null and ``erased_at`` says since when
    once it was erased."""
    return bodies_of([entry], {entry.pk})[0]


def bodies_of(entries: Sequence[RecordEntry], whole: Container[int]) -> list[dict[str, Any]]:
    """As :func:`body_of` for entries of different records, in their order; a constant number of statements.

    Args:
        entries: what to show.
        whole: numbers of the entries whose content is shown; the others' is null.
    """
    lane_ids = {uuid.UUID(entry.state["lane"]) for entry in entries}
    labels = {str(pk): label for pk, label in Lane.objects.filter(pk__in=lane_ids).values_list("pk", "label")}
    shown = [entry for entry in entries if entry.pk in whole]
    small = content.stored_many([(one.sr_id, one.content_sha256) for one in shown if one.size <= content.SMALL])
    contents: dict[int, content.Stored | None] = {
        one.pk: small.get(one.sr_id)
        if one.size <= content.SMALL
        else content.stored(one.sr_id, one.content_sha256, one.size)
        for one in shown
    }
    gone = erased_among(one.sr_id for one in shown if contents[one.pk] is None)
    return [
        _body(entry, labels[entry.state["lane"]], contents.get(entry.pk), gone.get(entry.sr_id)) for entry in entries
    ]


def erased_among(sr_ids: Iterable[str]) -> dict[str, datetime]:
    """When each of these records was erased, of those that were; no statement for none."""
    asked = list(sr_ids)
    if not asked:
        return {}
    return dict(RecordErasure.objects.filter(pk__in=asked).values_list("sr_id", "erased_at"))


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


def _find(actor: Actor, command: ReadCommand) -> statements.Found | None:
    if not rules.SR_ID.match(command.sr_id):
        return None
    if command.version is not None and not 0 <= command.version < 2**31:
        return None
    return statements.find(
        actor.tenant_id, actor.principal_id, command.sr_id, version=command.version, as_of=command.as_of
    )


def _content(found: statements.Found) -> content.Stored | None:
    if found.blob is None:
        return None
    return content.StoredText(found.blob, found.entry.size) if found.content is None else found.content.decode()


def _body(entry: RecordEntry, lane: str, stored: content.Stored | None, erased_at: datetime | None) -> dict[str, Any]:
    state = entry.state
    body: dict[str, Any] = {
        "sr_id": entry.sr_id,
        "content": stored,
        "lane": lane,
        "lane_uuid": state["lane"],
        "source_type": state["source_type"],
        "authority_level": state["authority"],
        "source_system": state["source_system"],
        "ingested_at": rfc3339(datetime.fromisoformat(state["ingested_at"])),
        "version": entry.version,
    }
    if state["properties"]:
        body["properties"] = rules.spelled(state["properties"])
    if erased_at is not None:
        body["erased_at"] = rfc3339(erased_at)
    return body


def _links(pinned: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for kind, source in pinned:
        found.setdefault(f"{kind}s", []).append(source)
    return {name: found[name] for name in ("corrections", "adjustments") if name in found}

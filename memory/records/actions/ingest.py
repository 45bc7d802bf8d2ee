"""Ingest: keep what was sent, one record or a batch, exactly as sent (seed: e_ingest, POST /api/v2/ingest/batch).

A record is private to its principal, so it is there at once and needs no admission. Content sent twice is two
records. What must never happen here: a part of a batch.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from memory.records import content, derive, lanes, ledger, rules
from memory.records.commands import IngestCommand
from memory.records.errors import BatchSize
from memory.records.events import Ingested
from memory.records.ledger import First
from memory.records.models import Lane, RecordEntry
from oml.core.actor import Actor
from oml.core.clock import rfc3339
from oml.core.errors import OmlError
from oml.core.spooled import measure
from oml.journal.append import append, journalled
from workareas import access, quota
from workareas.idempotency import fingerprint, run_once

logger = logging.getLogger(__name__)


def ingest_record(actor: Actor, *, command: IngestCommand) -> dict[str, Any]:
    """Keep one record.

    Args:
        actor: a writer key; the record belongs to its principal.
        command: the content and what is declared of it.

    Returns:
        ``sr_id``, ``content_hash``, ``ingested_at``; with ``sync`` also ``index``, see :func:`index_of`.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; a role that never writes.
        LaneNotFound: ``access.not_found``; ``assign_lane`` is no lane of this principal.
        AccessForbidden, Frozen: the lane's workarea takes no record from this key.
        UnknownSourceType: ``record.unknown_source_type``.
        QuotaExceeded: ``limit.quota``.
    """
    answer = _ingest(actor, command)
    return answer | index_of(answer["sr_id"]) if command.sync else answer


@journalled
def _ingest(actor: Actor, command: IngestCommand) -> dict[str, Any]:
    epoch = lanes.writable(actor)
    places: Places = {}
    first = prepare(actor, command, places)
    quota.take(actor, quota.Quota.WRITE)
    ((entry, salt),) = ledger.begin(actor, [first], engine=places[command.assign_lane].engine)
    append(actor, [ingested(first.lane, entry, salt)], epoch=epoch)
    return answer_of(entry)


@journalled
def ingest_batch(
    actor: Actor, *, commands: Sequence[IngestCommand], idempotency_key: str | None = None
) -> dict[str, Any]:
    """Keep up to 200 records in one transaction, or none of them.

    Args:
        actor: a writer key.
        commands: in order; the answer has their order.
        idempotency_key: a retry with it answers again and writes nothing, since content never tells a retry apart.

    Raises:
        BatchSize: ``limit.batch_size``; none, or more than 200.
        As :func:`ingest_record`, with ``records[i]`` in ``param``.
        IdempotencyMismatch, IdempotencyInFlight: ``request.*``.
    """
    if not 1 <= len(commands) <= rules.MAX_BATCH:
        raise BatchSize(len(commands))
    epoch = lanes.writable(actor)
    events: list[Ingested] = []

    def first_time() -> tuple[dict[str, Any], str]:
        firsts: list[First] = []
        places: Places = {}
        for position, command in enumerate(commands):
            try:
                firsts.append(prepare(actor, command, places))
            except OmlError as refusal:
                raise at_position(refusal, position) from None
        quota.take(actor, quota.Quota.WRITE)
        written = ledger.begin(actor, firsts, engine=places[commands[0].assign_lane].engine)
        events.extend(ingested(one.lane, entry, salt) for one, (entry, salt) in zip(firsts, written, strict=True))
        return {"records": [answer_of(entry) for entry, _ in written]}, written[0][0].sr_id

    # The tenant's root, where nothing is ever submitted, is the place that batch keys are unique in.
    root = access.find(actor, "universe")
    answer, replay = run_once(
        actor,
        workarea_id=root.pk if root else None,
        idempotency_key=idempotency_key,
        # Only ever compared under a key, and a digest of every content is not for nothing.
        request_fingerprint=_fingerprint(commands) if idempotency_key is not None else b"",
        run=first_time,
    )
    if not replay:
        append(actor, events, epoch=epoch)
    return answer | {"idempotent_replay": True} if replay else answer


def index_of(sr_id: str) -> dict[str, Any]:
    """Derive a record that was just committed, and say how far: a failure here undoes nothing.

    Returns:
        ``index``: ``state`` ready or pending, ``chunks``, ``vectors``: what lies past the last vector is found by
        its words alone.
    """
    try:
        derive.derive([sr_id])
    except Exception as error:  # the record is kept; its task is still in the outbox
        logger.warning("a record was not derived at once: %s", type(error).__name__)
        return {"index": {"state": "pending", "chunks": 0, "vectors": 0}}
    counts = derive.coverage([sr_id]).get(sr_id, {"chunks": 0, "vectors": 0})
    ready = counts["vectors"] == min(counts["chunks"], settings.EMBED_MAX_CHUNKS)
    return {"index": {"state": "ready" if ready else "pending", **counts}}


#: Lanes by reference, as far as one call has looked them up.
Places = dict[str | None, lanes.Place]


def prepare(actor: Actor, command: IngestCommand, places: Places) -> First:
    """Check one record and settle what its caller left open."""
    if command.assign_lane not in places:
        place = _place(actor, command)
        lanes.check_place(actor, place.lane)
        places[command.assign_lane] = place
    place = places[command.assign_lane]
    source_type = command.source_type or place.lane.default_source_type
    return First(
        lane=place.lane,
        content=command.content,
        source_type=source_type,
        authority=lanes.authority_among(place.types, source_type, param="source_type"),
        source_system=source_system(actor, command.source_system),
        properties=command.properties,
    )


def source_system(actor: Actor, stated: str | None) -> str:
    """The request's, else what the calling client reported of itself, else the name of this host."""
    if stated is not None:
        return stated
    reported = "".join(character for character in actor.client or "" if character.isprintable()).strip()
    return reported[: rules.MAX_SOURCE_SYSTEM] or socket.gethostname()


def ingested(lane: Lane, entry: RecordEntry, salt: bytes) -> Ingested:
    """The event of a first entry."""
    return Ingested(
        workarea_id=lane.workarea_id,
        sr_id=entry.sr_id,
        version=entry.version,
        lane=str(lane.pk),
        content_commitment=content.committed(salt, entry.content_sha256),
    )


def answer_of(entry: RecordEntry) -> dict[str, Any]:
    """The seed's answer of e_ingest."""
    return {
        "sr_id": entry.sr_id,
        "content_hash": entry.content_sha256,
        "ingested_at": rfc3339(entry.written_at),
    }


def at_position(refusal: OmlError, position: int) -> OmlError:
    """A refusal that names its record in the batch."""
    param = f"records[{position}]" + (f".{refusal.param}" if refusal.param else "")
    refusal.param = param
    refusal.message = f"records[{position}]: {refusal.message}"
    return refusal


def _place(actor: Actor, command: IngestCommand) -> lanes.Place:
    if command.assign_lane is None:
        return lanes.home(actor)
    return lanes.place_of(lanes.find_lane(actor, command.assign_lane, param="assign_lane"))


def _fingerprint(commands: Sequence[IngestCommand]) -> bytes:
    return fingerprint("ingest_batch", {"records": [_print(one) for one in commands]})


def _print(command: IngestCommand) -> dict[str, Any]:
    sha256, size = measure(command.content)
    return {
        "content": sha256,
        "size": size,
        "source_type": command.source_type,
        "properties": [list(one) for one in command.properties],
        "assign_lane": command.assign_lane,
        "source_system": command.source_system,
        "sync": command.sync,
    }

"""Operations of source records, once for ``/v1/records``, ``/api/v2`` and ``/mcp/records`` (D13)."""

from __future__ import annotations

from functools import partial
from typing import Any

from memory import record_reads
from memory.api import record_answers as answers
from memory.api import record_shapes as shapes
from memory.records.actions import amend, change, ingest, intake, places
from memory.records.commands import AmendCommand, IngestCommand, ReadCommand, UpdateCommand
from memory.records.content import StoredText
from memory.records.selectors.gather import GatherQuery, TimelineQuery
from memory.records.selectors.lanes import own_lanes
from oml.core.actor import Actor
from oml.core.errors import SizeExceeded
from oml.core.spooled import LargeText, pieces_of
from oml.http.operations import Operation

Values = dict[str, Any]
#: Largest content, in bytes, that a face hands out in one piece: a tool result is in memory a few times over, and no
#: model reads more. The seed's e_read has no range, so what is larger is read over HTTP, which streams it.
MAX_WHOLE = 16 * 1024 * 1024


def _ingest_command(values: Values) -> IngestCommand:
    return IngestCommand(**{**values, "properties": tuple(values.get("properties", ()))})


def _ingest(actor: Actor, values: Values) -> Values:
    return ingest.ingest_record(actor, command=_ingest_command(values))


def _batch(actor: Actor, values: Values) -> Values:
    commands = [_ingest_command(one) for one in values["records"]]
    return ingest.ingest_batch(actor, commands=commands, idempotency_key=values.get("idempotency_key"))


def _read(actor: Actor, values: Values) -> Values:
    return record_reads.record(actor, command=ReadCommand(**values))


def _read_whole(actor: Actor, values: Values) -> Values:
    """As :func:`_read`, for a face that cannot stream."""
    body = _read(actor, values)
    if isinstance(body["content"], StoredText):
        if body["content"].size > MAX_WHOLE:
            raise SizeExceeded(
                f"the content has {body['content'].size} bytes, a tool result at most {MAX_WHOLE}; "
                f"GET /v1/records/{body['sr_id']}?version={body['version']} streams it"
            )
        body["content"] = "".join(body["content"].text())
    return body


def _update(actor: Actor, values: Values) -> Values:
    command = UpdateCommand(**{**values, "properties": tuple(values.get("properties", ()))})
    return change.update_record(actor, command=command)


def _add_property(actor: Actor, values: Values) -> Values:
    return change.add_property(actor, sr_id=values["sr_id"], prop=values["property"])


def _remove_property(actor: Actor, values: Values) -> Values:
    return change.remove_property(actor, sr_id=values["sr_id"], prop=values["property"])


def _property(actor: Actor, values: Values) -> Values:
    return (_add_property if values["action"] == "add" else _remove_property)(actor, values)


def _connect(actor: Actor, values: Values) -> Values:
    connected = values.pop("action", "add") == "add"
    return change.connect(actor, **values, connected=connected)


def _disconnect(actor: Actor, values: Values) -> Values:
    return change.connect(actor, **values, connected=False)


def _amendment(values: Values) -> AmendCommand:
    return AmendCommand(**{**values, "properties": tuple(values.get("properties", ()))})


def _correct(actor: Actor, values: Values) -> Values:
    return amend.correct_record(actor, command=_amendment(values))


def _adjust(actor: Actor, values: Values) -> Values:
    return amend.adjust_record(actor, command=_amendment(values))


def _tombstone(actor: Actor, values: Values) -> Values:
    return change.tombstone(actor, sr_id=values["sr_id"], note=values.get("note"))


def _history(actor: Actor, values: Values) -> Values:
    return record_reads.history(actor, sr_id=values["sr_id"])


def _gather(actor: Actor, values: Values) -> Values:
    query = {**values, "properties": tuple(values.get("properties", ())), "lanes": tuple(values.get("lanes", ()))}
    return record_reads.gathered(actor, query=GatherQuery(**query))


def _timeline(actor: Actor, values: Values) -> Values:
    query = {**values, "properties": tuple(values.get("properties", ())), "lanes": tuple(values.get("lanes", ()))}
    return record_reads.timeline_page(actor, query=TimelineQuery(**query))


def _group(actor: Actor, values: Values) -> Values:
    return places.change_group(actor, **values)


def _whole(text: LargeText) -> bytes:
    return b"".join(pieces_of(text))


def _intake(actor: Actor, values: Values) -> Values:
    files = [intake.IncomingFile(one["path"], partial(_whole, one["content"])) for one in values["files"]]
    steps = list(intake.intake_folder(actor, folder=values["folder"], files=files))
    return {
        "folder": steps[0].sr_id,
        "files": [{"path": step.path, "sr_id": step.sr_id, "outcome": step.outcome} for step in steps[1:]],
    }


def _open_lane(actor: Actor, values: Values) -> Values:
    types = {one["name"]: one["authority"] for one in values.pop("source_types", ())}
    return places.open_lane(actor, source_types=types, **values)


def _lanes(actor: Actor, values: Values) -> Values:
    return own_lanes(actor)


ingest_one = Operation("record_ingest", shapes.IngestShape, _ingest, answers.INGESTED, True, "Keep one source record")
ingest_batch = Operation(
    "record_ingest_batch", shapes.BatchShape, _batch, answers.BATCH, True, "Keep up to 200 source records, or none"
)
read = Operation(
    "record_read", shapes.ReadShape, _read, answers.RECORD, summary="A source record now, as of a time, or at a version"
)
read_whole = Operation("record_read", shapes.ReadShape, _read_whole, answers.RECORD)
update = Operation(
    "record_update", shapes.UpdateShape, _update, answers.CHANGED, summary="The next version of a source record"
)
property_add = Operation(
    "record_property_add", shapes.PropertyShape, _add_property, answers.CHANGED, summary="Add an edge property"
)
property_remove = Operation(
    "record_property_remove", shapes.PropertyShape, _remove_property, answers.CHANGED, summary="Remove an edge property"
)
property_change = Operation("record_property", shapes.PropertyChangeShape, _property, answers.CHANGED)
connect = Operation(
    "record_connect", shapes.ConnectionShape, _connect, answers.CHANGED, summary="Connect a record to another"
)
disconnect = Operation(
    "record_disconnect", shapes.ConnectionShape, _disconnect, answers.CHANGED, summary="Take a connection away"
)
connection_change = Operation("record_connection", shapes.ConnectionChangeShape, _connect, answers.CHANGED)
correct = Operation(
    "record_correct",
    shapes.AmendShape,
    _correct,
    answers.CORRECTED,
    True,
    "Say that a record was wrong, and what is right",
)
adjust = Operation(
    "record_adjust", shapes.AmendShape, _adjust, answers.ADJUSTED, True, "Say that the world changed since a record"
)
tombstone = Operation(
    "record_tombstone", shapes.TombstoneShape, _tombstone, answers.REMOVED, summary="Remove a record from live reads"
)
history = Operation(
    "record_history", shapes.HistoryShape, _history, answers.HISTORY, summary="Every version of a record"
)
gather = Operation(
    "record_gather",
    shapes.GatherShape,
    _gather,
    answers.GATHERED,
    summary="Search your records; newest first without a query",
)
timeline = Operation(
    "record_timeline",
    shapes.TimelineShape,
    _timeline,
    answers.TIMELINE,
    summary="Your records by when they were ingested",
)
group = Operation(
    "record_group", shapes.GroupShape, _group, answers.GROUP, summary="A named set of records: change it or see it"
)
folder_intake = Operation(
    "record_intake", shapes.IntakeShape, _intake, answers.TAKEN_IN, summary="Take a folder in, or bring it up to date"
)
open_lane = Operation("lane_open", shapes.LaneShape, _open_lane, answers.LANE, True, "Open a lane of your own")
lanes = Operation("lanes", shapes.LanesShape, _lanes, answers.LANES, summary="Your lanes and their source types")

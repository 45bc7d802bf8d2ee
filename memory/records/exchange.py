"""A principal's ledger as JSON lines, out of one engine and into another: both end in the same heads by the head rule.

Lanes come first, then entries in the order they were written, then what is pinned to what. A large content comes in
pieces before the first entry that has it, so neither side holds one whole. A line is believed only as far as it can be
checked: its shape, its content's digest, whose record and lane it names. What must never happen here: another
principal's record changed, or the words of an erased one brought back.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.records import content, derive, lanes, rules, statements
from memory.records.errors import RecordNotFound
from memory.records.events import Imported
from memory.records.models import Lane, Record, RecordEntry, RecordErasure, RecordLink, SourceType
from memory.records.rebuild import heads_of
from oml.core.actor import Actor
from oml.core.clock import parse_rfc3339, rfc3339
from oml.core.errors import Validation
from oml.core.spooled import LargeText, Scratch, Spooled
from oml.journal.append import append, journalled

FORMAT = 2

Row = dict[str, Any]


# --- out ------------------------------------------------------------------------------------------------


def exported(actor: Actor) -> Iterator[str]:
    """A principal's whole ledger as JSON lines, each content once; none is much longer than a megabyte."""
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
        inline: Row = {}
        if (entry.sr_id, entry.content_sha256) not in told:
            told.add((entry.sr_id, entry.content_sha256))
            text = content.stored(entry.sr_id, entry.content_sha256, entry.size)
            if isinstance(text, str):
                inline = {"content": _encoded(text)}
            elif text is not None:
                for ordinal, part in enumerate(filter(None, text.text())):
                    identity = {"sr_id": entry.sr_id, "content_sha256": entry.content_sha256}
                    yield _line({"piece": ordinal, **identity, "data": _encoded(part)})
        yield _line(_told(entry) | inline)
    own = Record.objects.own(actor.tenant_id, actor.principal_id).values("pk")
    for link in RecordLink.objects.filter(to_sr__in=own).order_by("id").iterator():
        said = {"link": link.kind, "from": link.from_sr, "to": link.to_sr, "linked_at": rfc3339(link.linked_at)}
        yield _line(said)


def _told(entry: RecordEntry) -> Row:
    return {
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


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _line(value: Row) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# --- in -------------------------------------------------------------------------------------------------


@journalled
def import_entries(actor: Actor, lines: Iterable[str]) -> dict[str, int]:
    """Take in another engine's entries of the same principal; whatever order they come in, the head is the same.

    Args:
        actor: a key of the principal that they belong to here.
        lines: as :func:`exported` wrote them, of this format or the one before.

    Returns:
        ``records``, ``entries`` new here, ``known`` ones that were here already, ``erased``: lines about records that
        were erased here, of which nothing is taken.

    Raises:
        Validation: ``request.validation``; a line that is none of these, or content that is not what its digest says.
        LaneNotFound, RecordNotFound: ``access.not_found``; another principal's here.
    """
    epoch = lanes.writable(actor)
    taking = _Taking(actor)
    for number, line in enumerate(lines, start=1):
        taking.take(_Line(line, number))
    events: list[Imported] = []
    names = sorted(taking.fresh)
    for at in range(0, len(names), rules.MAX_BATCH):
        heads = heads_of(names[at : at + rules.MAX_BATCH])
        statements.cache([head.pk for head in heads], fresh=False)
        derive.later([head.sr_id for head in heads])
        events += [Imported(sr_id=one.sr_id, entries=taking.fresh[one.sr_id], version=one.version) for one in heads]
    taking.pin()
    if events:
        append(actor, events, epoch=epoch)
    return {
        "records": len(taking.fresh),
        "entries": sum(taking.fresh.values()),
        "known": taking.known,
        "erased": taking.erased,
    }


class _Line:
    """One line, read field by field; what is not as it must be is refused by its number and the field's name."""

    def __init__(self, text: str, number: int) -> None:
        self.number = number
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise Validation(f"line {number} is not a JSON object")
        self.row: Row = row

    def get(self, name: str, check: Callable[[Any], bool]) -> Any:
        value = self.row.get(name)
        try:
            good = check(value)
        except (ValueError, TypeError, OverflowError, AttributeError):
            good = False
        if not good:
            raise self.refusal(name)
        return value

    def refusal(self, name: str) -> Validation:
        return Validation(f"line {self.number} has no usable {name}", param=name)


def _text(most: int, least: int = 1) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and least <= len(value) <= most and _storable(value)


def _storable(value: str) -> bool:
    value.encode()  # half a surrogate pair is a ValueError
    return "\0" not in value


def _whole(most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 0 <= value <= most


def _moment(value: Any) -> bool:
    parse_rfc3339(value)
    return True


def _uuid(value: Any) -> bool:
    return bool(str(uuid.UUID(value)) == value)


def _sr_id(value: Any) -> bool:
    return bool(rules.SR_ID.match(value))


def _pairs(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len({tuple(one) for one in value}) == len(value)
        and all(isinstance(one, list) and len(one) == 2 and all(map(_text(rules.MAX_VALUE), one)) for one in value)
    )


def _properties(value: Any) -> bool:
    return _pairs(value) and len(value) <= rules.MAX_PROPERTIES and all(rules.LABEL.match(one[0]) for one in value)


def _types(value: Any) -> bool:
    return isinstance(value, dict) and all(_text(rules.MAX_NAME)(one) and _whole(100)(value[one]) for one in value)


_STATE: dict[str, Callable[[Any], bool]] = {
    "lane": _uuid,
    "source_type": _text(rules.MAX_NAME),
    "authority": _whole(100),
    "source_system": _text(rules.MAX_SOURCE_SYSTEM, 0),
    "first_engine": _text(64),
    "ingested_at": _moment,
    "properties": _properties,
    "connections": _pairs,
}


def _state(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == set(_STATE) and all(_STATE[one](value[one]) for one in value)


_DIGEST = _text(64, 64)
_ENTRY: dict[str, Callable[[Any], bool]] = {
    "version": _whole(2**31 - 1),
    "engine_id": _text(64),
    "event_id": _text(40),
    "written_at": _moment,
    "author_key": _text(40),
    "state": _state,
    "content_sha256": _DIGEST,
    "size": _whole(2**62),
    "deleted": lambda value: isinstance(value, bool),
    "change": lambda value: isinstance(value, list) and all(map(_text(40), value)),
    "note": lambda value: value is None or _text(rules.MAX_NOTE)(value),
}


@dataclass
class _Incoming:
    """A large content while its pieces arrive."""

    key: tuple[str, str]
    scratch: Scratch = field(default_factory=Scratch)
    size: int = 0
    pieces: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    utf8: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    def add(self, data: bytes) -> None:
        self.utf8.decode(data)
        self.scratch.file.write(data)
        self.digest.update(data)
        self.size += len(data)
        self.pieces += 1

    def done(self) -> Spooled:
        self.utf8.decode(b"", True)
        return Spooled(self.scratch, 0, self.size, self.digest.hexdigest())


class _Taking:
    """The state of one import."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.fresh: dict[str, int] = {}
        self.known = self.erased = 0
        self._incoming: _Incoming | None = None
        self._links: list[_Line] = []

    def take(self, line: _Line) -> None:
        if "label" in line.row:
            self._lane(line)
        elif "link" in line.row:
            self._links.append(line)
        elif RecordErasure.objects.filter(pk=line.get("sr_id", _sr_id)).exists():
            self.erased += 1
        elif "piece" in line.row:
            self._piece(line)
        elif self._entry(line):
            self.fresh[line.row["sr_id"]] = self.fresh.get(line.row["sr_id"], 0) + 1
        else:
            self.known += 1

    def _lane(self, line: _Line) -> None:
        """A lane keeps its UUID; a label that is taken here gets the UUID behind it."""
        identity = uuid.UUID(line.get("lane", _uuid))
        label, types = line.get("label", _text(100)), line.get("source_types", _types)
        default = line.get("default_source_type", _text(rules.MAX_NAME))
        if Lane.objects.filter(pk=identity).exists():
            lanes.find_lane(self.actor, str(identity), param="lane")
            return
        mine = Lane.objects.filter(tenant_id=self.actor.tenant_id, owner_id=self.actor.principal_id)
        lane = Lane.objects.create(
            uuid=identity,
            tenant_id=self.actor.tenant_id,
            owner_id=self.actor.principal_id,
            label=label if not mine.filter(label=label).exists() else f"{label[:60]}/{identity.hex}",
            default_source_type=default,
        )
        SourceType.objects.bulk_create(
            SourceType(lane=lane, name=name, authority=authority) for name, authority in types.items()
        )

    def _piece(self, line: _Line) -> None:
        key = line.row["sr_id"], line.get("content_sha256", _DIGEST)
        if self._incoming is None or self._incoming.key != key:
            self._incoming = _Incoming(key)
        if line.row["piece"] != self._incoming.pieces:
            raise line.refusal("piece")
        try:
            self._incoming.add(_decoded(line, "data"))
        except UnicodeDecodeError:
            raise line.refusal("data") from None

    def _entry(self, line: _Line) -> bool:
        row = {name: line.get(name, check) for name, check in _ENTRY.items()}
        sr_id = line.row["sr_id"]
        present = RecordEntry.objects.filter(sr_id=sr_id)
        # The lock that every change takes, so that nobody writes the head that this one moves.
        Record.objects.select_for_update(no_key=True).filter(pk=sr_id).first()
        if present.exclude(tenant_id=self.actor.tenant_id, owner_id=self.actor.principal_id).exists():
            raise RecordNotFound(sr_id)
        self._keep(line, row)
        identity = {name: row[name] for name in ("version", "engine_id", "event_id")}
        if present.filter(**identity).exists():
            return False
        lanes.find_lane(self.actor, row["state"]["lane"], param="state.lane")
        RecordEntry.objects.create(
            tenant_id=self.actor.tenant_id,
            owner_id=self.actor.principal_id,
            sr_id=sr_id,
            author_key_id=row.pop("author_key"),
            written_at=parse_rfc3339(row.pop("written_at")),
            **row,
        )
        return True

    def _keep(self, line: _Line, row: Row) -> None:
        """The content that came with an entry, or in pieces before it; most entries have none of their own."""
        key = line.row["sr_id"], row["content_sha256"]
        text: LargeText
        try:
            if "content" in line.row:
                text = _decoded(line, "content").decode()
                digest, size = hashlib.sha256(text.encode()).hexdigest(), len(text.encode())
            elif self._incoming is not None and self._incoming.key == key:
                text = self._incoming.done()
                digest, size = text.sha256, text.size
                self._incoming = None
            else:
                return
        except UnicodeDecodeError:
            raise line.refusal("content") from None
        if (digest, size) != (row["content_sha256"], row["size"]):
            raise Validation(f"line {line.number} has content that is not what its digest says", param="content_sha256")
        content.store(self.actor.tenant_id, line.row["sr_id"], text)

    def pin(self) -> None:
        """What is new here and pinned to a record of this principal that is here."""
        own = Record.objects.own(self.actor.tenant_id, self.actor.principal_id)
        for line in self._links:
            kind = line.get("link", lambda value: value in ("correction", "adjustment"))
            source, target = line.get("from", _sr_id), line.get("to", _sr_id)
            at = parse_rfc3339(line.get("linked_at", _moment))
            if source in self.fresh and source != target and own.filter(pk=target).exists():
                RecordLink.objects.get_or_create(
                    from_sr=source,
                    defaults={"tenant_id": self.actor.tenant_id, "kind": kind, "to_sr": target, "linked_at": at},
                )


def _decoded(line: _Line, name: str) -> bytes:
    value = line.row[name]
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        raise line.refusal(name) from None

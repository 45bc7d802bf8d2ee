"""Folder intake: a record for the folder, one per file, one per part of its text (seed: Folder Intake).

Each file is one transaction with its parts, so an intake that was killed is resumed by running it again: what is there
with the same digest is left alone, a changed file is an update under the same sr_id, a file that is gone is removed.
Records are found again by the properties that the intake puts on them. What must never happen here: a file half in.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from memory.records import content, lanes, ledger, rules
from memory.records.actions.ingest import ingested, source_system
from memory.records.chunks import chunks
from memory.records.events import RecordEvent, Removed, Updated
from memory.records.ledger import First
from memory.records.models import Lane, Record
from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import quota

#: Characters of a part at most; cut at a paragraph, else a sentence.
PART = 8_000
KIND = "intake"
SOURCE_TYPE = "documentary"


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file of the folder: its path there, and how to read it."""

    path: str
    read: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one file (or of the folder's own record, with an empty path)."""

    path: str
    sr_id: str
    outcome: str


def intake_folder(actor: Actor, *, folder: str, files: Sequence[IncomingFile]) -> Iterator[Step]:
    """Take a folder in, file by file; what it yields is committed.

    Args:
        actor: a writer key; the records go to its home lane.
        folder: its name, the same on every run.
        files: all of its files, in any order.

    Raises:
        Validation: ``request.validation``; a path twice, or a name or path that no property can hold.
        VerbCeiling, QuotaExceeded: as ingest.
    """
    _check(folder, files)
    ordered = sorted(files, key=lambda file: file.path)
    root = _intake_root(actor, folder=folder, paths=[file.path for file in ordered])
    yield root
    for file in ordered:
        yield _intake_file(actor, folder=folder, root=root.sr_id, path=file.path, data=file.read())
    kept = {file.path for file in ordered}
    for path in _paths_of(actor, folder):
        if path not in kept:
            yield _remove_file(actor, folder=folder, path=path)


def _check(folder: str, files: Sequence[IncomingFile]) -> None:
    _check_name("folder", folder, "folder")
    seen: set[str] = set()
    for position, file in enumerate(files):
        param = f"files[{position}].path"
        _check_name(f"path ({param})", file.path, param)
        if file.path in seen:
            raise Validation(f"{param} stands there twice", param=param)
        seen.add(file.path)


def _check_name(what: str, value: str, param: str) -> None:
    try:
        value.encode()  # a file system may have names that are no text
    except UnicodeEncodeError:
        raise Validation(f"a {what} is UTF-8", param=param) from None
    if not 1 <= len(value.strip()) <= rules.MAX_VALUE or value != value.strip() or "\x00" in value:
        raise Validation(f"a {what} has 1 to {rules.MAX_VALUE} characters and no blanks at its ends", param=param)


@journalled
def _intake_root(actor: Actor, *, folder: str, paths: Sequence[str]) -> Step:
    text = json.dumps({"folder": folder, "files": list(paths)}, ensure_ascii=False, indent=1)
    return _Transaction(actor, folder).write("", "folder", text, [("folder", folder)])


@journalled
def _intake_file(actor: Actor, *, folder: str, root: str, path: str, data: bytes) -> Step:
    try:
        parts = list(chunks([data.decode()], PART)) if data else []
    except UnicodeDecodeError:
        parts = []
    about = {
        "path": path,
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "media_type": mimetypes.guess_type(path)[0] or ("text/plain" if parts else "application/octet-stream"),
        "parts": len(parts),
    }
    running = _Transaction(actor, folder)
    mine = [("folder", folder), ("file", path)]
    text = json.dumps(about, ensure_ascii=False, indent=1)
    step = running.write(path, "file", text, mine, (("part_of", root),), commit=False)
    if step.outcome != "unchanged":
        for number, part in enumerate(parts, start=1):
            of_part = [*mine, ("part", str(number))]
            running.write(path, "part", part, of_part, (("part_of", step.sr_id),), commit=False)
        for record in running.find("part", mine):
            (named,) = record.properties.filter(label="part").values_list("value", flat=True)
            if int(named) > len(parts):
                running.remove(record)
    running.commit()
    return step


@journalled
def _remove_file(actor: Actor, *, folder: str, path: str) -> Step:
    running = _Transaction(actor, folder)
    mine = [("folder", folder), ("file", path)]
    gone = [*running.find("part", mine), *running.find("file", mine)]
    for record in gone:
        running.remove(record)
    running.commit()
    return Step(path, gone[-1].pk, "removed")


def _paths_of(actor: Actor, folder: str) -> list[str]:
    rows = _with_properties(actor, [(KIND, "file"), ("folder", folder)])
    return [path for record in rows for path in record.properties.filter(label="file").values_list("value", flat=True)]


def _with_properties(actor: Actor, properties: Sequence[rules.Property]) -> list[Record]:
    rows = Record.objects.own(actor.tenant_id, actor.principal_id).filter(deleted=False)
    for label, value in properties:
        rows = rows.filter(properties__label=label, properties__value=value)
    return list(rows.order_by("ingested_at", "sr_id"))


class _Transaction:
    """The writes of one file, its events appended at the end; two intakes of one folder wait for each other."""

    def __init__(self, actor: Actor, folder: str) -> None:
        self.actor = actor
        self.epoch = lanes.writable(actor)
        quota.take(actor, quota.Quota.WRITE)
        place = lanes.home(actor)
        self.lane: Lane = place.lane
        self.authority = lanes.authority_among(place.types, SOURCE_TYPE, param="source_type")
        self.events: list[Event] = []
        key = int.from_bytes(
            hashlib.sha256(f"{actor.principal_id}\0{folder}".encode()).digest()[:8], "big", signed=True
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])

    def find(self, kind: str, properties: Sequence[rules.Property]) -> list[Record]:
        return _with_properties(self.actor, [(KIND, kind), *properties])

    def write(
        self,
        path: str,
        kind: str,
        text: str,
        properties: Sequence[rules.Property],
        connections: tuple[tuple[str, str], ...] = (),
        *,
        commit: bool = True,
    ) -> Step:
        """Make the record of these properties, or bring it to this content."""
        found = self.find(kind, properties)
        if found:
            step = Step(path, found[0].pk, self._update(found[0], text))
        else:
            first = First(
                lane=self.lane,
                content=text,
                source_type=SOURCE_TYPE,
                authority=self.authority,
                source_system=source_system(self.actor, "folder intake"),
                properties=((KIND, kind), *properties),
                connections=connections,
            )
            ((entry, salt),) = ledger.begin(self.actor, [first])
            self.events.append(ingested(self.lane, entry, salt))
            step = Step(path, entry.sr_id, "created")
        if commit:
            self.commit()
        return step

    def remove(self, record: Record) -> None:
        draft = ledger.lock(self.actor, record.pk)
        draft.change.append("removed")
        entry, _ = ledger.commit(self.actor, draft, note="no longer in the folder", deleted=True)
        self._note(Removed, entry.sr_id, entry.version)

    def commit(self) -> None:
        """Journal what was written; nothing when nothing was."""
        if self.events:
            append(self.actor, self.events, epoch=self.epoch)

    def _update(self, record: Record, text: str) -> str:
        if record.content_sha256 == hashlib.sha256(text.encode()).hexdigest():
            return "unchanged"
        draft = ledger.lock(self.actor, record.pk)
        draft.new_content = text
        draft.change.append("content")
        entry, salt = ledger.commit(self.actor, draft, note="changed in the folder")
        commitment = content.committed(salt, entry.content_sha256) if salt else None
        self._note(Updated, entry.sr_id, entry.version, changed=("content",), content_commitment=commitment)
        return "updated"

    def _note(self, kind: type[RecordEvent], sr_id: str, version: int, **fields: Any) -> None:
        self.events.append(kind(workarea_id=self.lane.workarea_id, sr_id=sr_id, version=version, **fields))

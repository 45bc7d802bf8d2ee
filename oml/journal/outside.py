"""Checkpoints in a folder outside the database: one file per tenant, notes one after the other, synced to disk.

A database that is put back to an older copy, or rewritten, cannot take these files with it; so what they say is
compared before the next checkpoint is signed. They are worth most on another machine: copy them there
(docs/operations/checkpoints-and-evidence.md). What must never happen here: a note overwritten, or a torn last write
that hides a note.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from oml.crypto.notes import NoteInvalid
from oml.journal.note import Note, parse

_TENANT = re.compile(r"[A-Za-z0-9_]{1,64}")
_TAIL_BYTES = 16_384
_GAP = b"\n"


def file_of(tenant_id: str) -> Path:
    """Where a tenant's notes are kept.

    Raises:
        ValueError: not an id that may name a file.
    """
    if not _TENANT.fullmatch(tenant_id):
        raise ValueError("not a tenant id")
    return Path(settings.OML_CHECKPOINT_DIR) / f"{tenant_id}.log"


def keep(tenant_id: str, note: str) -> None:
    """Append a signed note and return once it is on disk.

    Raises:
        OSError: the folder cannot be written; nothing may count as kept then.
    """
    path = file_of(tenant_id)
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    fresh = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        # A write that a crash cut short must not run into this one.
        torn = size > 0 and os.pread(descriptor, 2, max(0, size - 2)) != b"\n\n"
        _write_all(descriptor, (b"\n\n" if torn else b"") + note.encode() + _GAP)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if fresh:
        _sync_folder(path.parent)


def newest(tenant_id: str) -> Note | None:
    """The last whole note of a tenant's file, None when there is none."""
    path = file_of(tenant_id)
    if not path.exists():
        return None
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
        notes = notes_in(file.read())
    return notes[-1] if notes else None


def all_kept(tenant_id: str) -> list[Note]:
    """Every note of a tenant's file, oldest first."""
    path = file_of(tenant_id)
    return notes_in(path.read_bytes()) if path.exists() else []


_NOTE = re.compile(r"^[^\n]+\n[0-9]+\n[A-Za-z0-9+/]{43}=\n\n(?:— [^\n]+\n)+", re.MULTILINE)


def notes_in(raw: bytes) -> list[Note]:
    """The whole notes in a file's bytes, in order; the torn start of a tail, or a torn end, is none."""
    notes: list[Note] = []
    for found in _NOTE.finditer(raw.decode("utf-8", "replace")):
        with suppress(NoteInvalid):
            notes.append(parse(found.group()))
    return notes


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

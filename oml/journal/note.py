"""A checkpoint's text (C2SP tlog-checkpoint): origin, size, root; one place that writes and reads it. Pure."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from oml.crypto.notes import NoteInvalid, SignedNote, Verifier, checkpoint_public_keys, open_note, sign_note, split_note


@dataclass(frozen=True, slots=True)
class Note:
    """What a checkpoint says; believed only after :func:`verified`."""

    origin: str
    size: int
    root: bytes
    text: str


def sign(origin: str, size: int, root: bytes) -> SignedNote:
    """A signed checkpoint over the tree of ``size`` entries.

    Raises:
        SecretUnusable: the checkpoint key cannot be used.
    """
    return sign_note(origin, f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n")


def parse(note: str) -> Note:
    """Read a checkpoint without verifying it.

    Raises:
        NoteInvalid: not a checkpoint as this deployment writes them.
    """
    text, _ = split_note(note)
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] or not lines[0]:
        raise NoteInvalid("not a checkpoint: origin, size and root are its lines")
    origin, size, root = lines[:3]
    try:
        digest = base64.b64decode(root, validate=True)
    except (binascii.Error, ValueError):
        raise NoteInvalid("not a checkpoint: the root is not base64") from None
    plain = size.isascii() and size.isdigit() and (size == "0" or size[0] != "0")
    if not plain or len(digest) != 32 or base64.b64encode(digest).decode() != root:
        raise NoteInvalid("not a checkpoint: origin, size and root are its lines")
    return Note(origin, int(size), digest, note)


def verified(note: str) -> Note:
    """Read a checkpoint that this deployment's checkpoint key signed, now or before a rotation.

    Raises:
        NoteInvalid: malformed, or signed by another key.
        SecretUnusable: the key file cannot be used.
    """
    found = parse(note)
    open_note(note, verifiers(found.origin))
    return found


def verifiers(origin: str) -> list[Verifier]:
    """This deployment's checkpoint keys under the name of one log, oldest first."""
    return [Verifier(origin, key) for key in checkpoint_public_keys()]

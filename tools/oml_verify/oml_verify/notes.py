"""C2SP signed notes and tlog checkpoints: read, and believed only under a trusted key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from oml_verify.strict import Malformed, unbase64

_DASH = "— "
_ED25519 = b"\x01"
_NOTE = re.compile(r"[^\n]+\n[0-9]+\n[A-Za-z0-9+/]{43}=\n\n(?:— [^\n]+\n)+")


@dataclass(frozen=True)
class Verifier:
    """A public key under a key name."""

    name: str
    key: bytes

    @property
    def key_id(self) -> bytes:
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.key).digest()[:4]


@dataclass(frozen=True)
class Checkpoint:
    """What a signed checkpoint says: the log, how many entries, the root over them."""

    origin: str
    size: int
    root: bytes


def verifier(line: str) -> Verifier:
    """A C2SP verifier key, ``name+id+base64(0x01 ‖ key)``.

    Raises:
        Malformed: not one, or of another algorithm.
    """
    name, _, rest = line.partition("+")
    claimed, _, encoded = rest.partition("+")
    raw = unbase64(encoded, 33)
    found = Verifier(name, raw[1:])
    if raw[:1] != _ED25519 or found.key_id.hex() != claimed:
        raise Malformed("not an Ed25519 verifier key")
    return found


def open_checkpoint(note: str, verifiers_of: Callable[[str], Iterable[Verifier]]) -> Checkpoint:
    """Read a checkpoint that a trusted key signed.

    Args:
        note: the signed note.
        verifiers_of: gives the trusted verifiers for an origin (``Trusted.verifiers``).

    Raises:
        Malformed: not a checkpoint, or signed by nobody trusted.
    """
    text, signatures = _split(note)
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] or not lines[0]:
        raise Malformed("not a checkpoint")
    origin, size, root = lines[:3]
    if not re.fullmatch(r"0|[1-9][0-9]*", size):
        raise Malformed("not a checkpoint: its size is not a plain number")
    _verify(text, signatures, verifiers_of(origin))
    return Checkpoint(origin, int(size), unbase64(root, 32))


def notes_in(text: str) -> list[str]:
    """The notes of a file that holds several, in order."""
    return _NOTE.findall(text)


def _split(note: str) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    head, gap, tail = note.rpartition("\n\n")
    lines = tail.split("\n")
    if not gap or lines.pop() or not 1 <= len(lines) <= 16:
        raise Malformed("not a signed note")
    if any(character < " " and character != "\n" for character in note):
        raise Malformed("not a signed note")
    return head + "\n", [_signature(line) for line in lines]


def _signature(line: str) -> tuple[str, bytes, bytes]:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    raw = unbase64(encoded)
    if not line.startswith(_DASH) or not name or len(raw) < 5:
        raise Malformed("not a signed note")
    return name, raw[:4], raw[4:]


def _verify(text: str, signatures: list[tuple[str, bytes, bytes]], verifiers: Iterable[Verifier]) -> None:
    known = {(one.name, one.key_id): one for one in verifiers}
    good = False
    for name, key_id, signature in signatures:
        one = known.get((name, key_id))
        if one is None:
            continue  # the format: signatures of unknown keys are ignored
        try:
            Ed25519PublicKey.from_public_bytes(one.key).verify(signature, text.encode())
        except InvalidSignature:
            raise Malformed("its signature does not verify") from None
        good = True
    if not good:
        raise Malformed("it is signed by none of the trusted keys")

"""Signed notes: C2SP's signed-note format with plain Ed25519 (signature type 0x01), for the journal's checkpoints.

A note is a text that ends in a newline, an empty line, then signature lines ``— <key name> <base64>`` whose bytes
are four of key id and sixty-four of signature over the text. The key id is the first four bytes of
SHA-256(key name ‖ 0x0A ‖ 0x01 ‖ public key). Tools of the transparency-log world read and write the same bytes.

The checkpoint key signs notes and nothing else. What must never happen here: a key taken from the note itself, or a
note accepted because one of its signatures came from nobody we know.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from oml.crypto.secrets import SecretName, load

_ED25519: Final = b"\x01"
_DASH: Final = "— "
_MAX_SIGNATURES: Final = 16


class NoteInvalid(ValueError):
    """A note is malformed or no trusted key signed it. Fail closed: no line of it may be believed."""


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A signed note, and the id of the key that signed it."""

    text: str
    keyid: str


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key under a name; :attr:`encoded` is the form that people configure (``name+id+key``)."""

    name: str
    public_key: bytes

    @property
    def key_id(self) -> bytes:
        """Four bytes that tell keys of one name apart; no proof of anything."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public_key).digest()[:4]

    @property
    def encoded(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(_ED25519 + self.public_key).decode()}"


def sign_note(name: str, text: str) -> SignedNote:
    """Sign ``text`` with the deployment's current checkpoint key.

    Args:
        name: the key's name in the signature line; the log's origin.
        text: ends in a newline, no other control character.

    Raises:
        ValueError: a name or a text that a note cannot carry.
        SecretUnusable: the checkpoint key cannot be used.
    """
    return sign_with(load(SecretName.CHECKPOINT_SIGNING).current().seed, name, text)


def sign_with(seed: bytes, name: str, text: str) -> SignedNote:
    """:func:`sign_note` with a named 32-byte seed; for the published vectors.

    Raises:
        ValueError: a name or a text that a note cannot carry.
    """
    if not name or any(character.isspace() or character == "+" for character in name):
        raise ValueError("a key name has no spaces and no plus")
    if not text.endswith("\n") or any(character < " " and character != "\n" for character in text):
        raise ValueError("a note's text ends in a newline and has no other control character")
    signer = _signer(seed)
    verifier = Verifier(name, signer.public_key().public_bytes_raw())
    signature = base64.b64encode(verifier.key_id + signer.sign(text.encode())).decode()
    return SignedNote(f"{text}\n{_DASH}{name} {signature}\n", verifier.key_id.hex())


def open_note(note: str, verifiers: Iterable[Verifier]) -> str:
    """The text of a note that one of ``verifiers`` signed.

    Signatures of unknown keys are ignored, as the format demands; one that claims a known key and does not verify
    ends it.

    Raises:
        NoteInvalid: malformed, or signed by none of them.
    """
    text, signatures = split_note(note)
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    good = False
    for name, key_id, signature in signatures:
        verifier = known.get((name, key_id))
        if verifier is None:
            continue
        try:
            Ed25519PublicKey.from_public_bytes(verifier.public_key).verify(signature, text.encode())
        except InvalidSignature:
            raise NoteInvalid("a signature under a trusted key's name does not verify") from None
        good = True
    if not good:
        raise NoteInvalid("signed by none of the trusted keys")
    return text


def split_note(note: str) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """A note's text and its (key name, key id, signature) lines; nothing is verified.

    Raises:
        NoteInvalid: malformed.
    """
    head, gap, tail = note.rpartition("\n\n")
    lines = tail.split("\n")
    if not gap or lines.pop() or not 1 <= len(lines) <= _MAX_SIGNATURES:
        raise NoteInvalid("not a signed note")
    if any(character < " " and character != "\n" for character in note):
        raise NoteInvalid("not a signed note")
    return head + "\n", [_signature(line) for line in lines]


def checkpoint_public_keys() -> list[bytes]:
    """Every checkpoint key of this deployment, oldest first, as 32 raw bytes: past notes must go on verifying.

    Raises:
        SecretUnusable: the key file cannot be used.
    """
    return [_signer(key.seed).public_key().public_bytes_raw() for key in load(SecretName.CHECKPOINT_SIGNING).keys]


def _signature(line: str) -> tuple[str, bytes, bytes]:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise NoteInvalid("not a signed note") from None
    # The text form must be the only one of these bytes, or a changed character could go unnoticed.
    if not line.startswith(_DASH) or not name or len(raw) < 5 or base64.b64encode(raw).decode() != encoded:
        raise NoteInvalid("not a signed note")
    return name, raw[:4], raw[4:]


@lru_cache(maxsize=16)
def _signer(seed: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seed)

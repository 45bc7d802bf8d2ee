"""DSSE envelopes signed with the deployment's Ed25519 key (D3; design: integrity, Signatures).

An envelope is the JSON text ``{"payload", "payloadType", "signatures": [{"keyid", "sig"}]}`` in RFC 8785
form; the signature is over DSSE's pre-authentication encoding of type and payload bytes. ``keyid`` is the
hex of the first 16 bytes of SHA-256 over the raw 32-byte public key. It is a hint for people: which key is
tried does not depend on it.

Stricter than DSSE in two ways, because every envelope we read is one that we wrote: exactly one signature,
and the text must be byte for byte what :func:`sign_envelope` would have written, so a changed byte never
verifies, not even one outside the signed part. What must never happen here: parsing other bytes than those
that were verified.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from oml.core.canonical import canonical_json
from oml.crypto.errors import EnvelopeInvalid
from oml.crypto.secrets import SecretName, load

ALGORITHM: Final = "ed25519"


class PayloadType(StrEnum):
    """What an envelope may say. A type is part of what is signed, so none can be passed off as another."""

    SUBMISSION = "application/vnd.oml.submission.v1+json"
    VERDICT = "application/vnd.oml.verdict.v1+json"
    EVIDENCE = "application/vnd.oml.evidence.v1+json"


@dataclass(frozen=True, slots=True)
class Envelope:
    """A signed envelope: the text to keep as it is, and the id of the key that signed it."""

    text: str
    keyid: str


def pae(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding: ``DSSEv1 <len> <type> <len> <payload>``, lengths in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def keyid_of(public_key: bytes) -> str:
    """Hex of the first 16 bytes of SHA-256 over the raw public key."""
    return hashlib.sha256(public_key).digest()[:16].hex()


def sign_envelope(payload_type: PayloadType, payload: Mapping[str, Any]) -> Envelope:
    """Sign ``payload`` with the deployment's current key.

    Args:
        payload_type: a member of :class:`PayloadType`; the key signs nothing else.
        payload: a JSON object without floats; its RFC 8785 bytes are what is signed and kept.

    Raises:
        ValueError: another payload type, or a payload that RFC 8785 cannot carry.
        SecretUnusable: the signing key cannot be used.
    """
    kind = PayloadType(payload_type)
    body = canonical_json(dict(payload))
    signer = _signer(load(SecretName.ENVELOPE_SIGNING).current().seed)
    keyid = keyid_of(signer.public_key().public_bytes_raw())
    return Envelope(text=_text(kind, body, keyid, signer.sign(pae(kind, body))), keyid=keyid)


def verify_envelope(
    text: str, public_keys: Iterable[Mapping[str, Any]], *, payload_type: PayloadType
) -> dict[str, Any]:
    """Return the payload of an envelope that one of ``public_keys`` signed.

    Args:
        text: the envelope as it was kept.
        public_keys: the keys to trust, in the form of :func:`public_keys`; never taken from the envelope.
        payload_type: what the caller expects; a verdict is never read as a submission.

    Raises:
        EnvelopeInvalid: not an envelope, another type, signed by none of these keys, or changed in any byte.
    """
    kind = PayloadType(payload_type)
    body, signature = _open(text, kind)
    for key in public_keys:
        raw = base64.b64decode(key["public_key"], validate=True)
        try:
            Ed25519PublicKey.from_public_bytes(raw).verify(signature, pae(kind, body))
        except InvalidSignature:
            continue
        if _text(kind, body, keyid_of(raw), signature) != text:
            raise EnvelopeInvalid("the signature is good, the envelope around it was changed")
        return _parse(body)
    raise EnvelopeInvalid("signed by none of the trusted keys")


def public_keys() -> list[dict[str, str]]:
    """Every envelope key of this deployment, oldest first: ``[{"keyid", "algorithm", "public_key"}]``.

    Past keys stay in the list: what they signed must go on verifying. ``public_key`` is base64 of 32 raw
    bytes.

    Raises:
        SecretUnusable: the signing key file cannot be used.
    """
    rows = []
    for key in load(SecretName.ENVELOPE_SIGNING).keys:
        raw = _signer(key.seed).public_key().public_bytes_raw()
        rows.append({"keyid": keyid_of(raw), "algorithm": ALGORITHM, "public_key": base64.b64encode(raw).decode()})
    return rows


@lru_cache(maxsize=16)
def _signer(seed: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seed)


def _text(kind: PayloadType, body: bytes, keyid: str, signature: bytes) -> str:
    return canonical_json(
        {
            "payload": base64.b64encode(body).decode(),
            "payloadType": kind.value,
            "signatures": [{"keyid": keyid, "sig": base64.b64encode(signature).decode()}],
        }
    ).decode()


def _open(text: str, kind: PayloadType) -> tuple[bytes, bytes]:
    try:
        document = json.loads(text)
        if document["payloadType"] != kind.value:
            raise EnvelopeInvalid("another payload type than the one expected")
        (only,) = document["signatures"]
        return (
            base64.b64decode(document["payload"], validate=True),
            base64.b64decode(only["sig"], validate=True),
        )
    except EnvelopeInvalid:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        # `from None`: the message of a parser may quote the payload.
        raise EnvelopeInvalid("not an envelope with one signature") from None


def _parse(body: bytes) -> dict[str, Any]:
    """Parse verified bytes; ours are canonical, so anything that would not come out the same is refused."""
    try:
        payload = json.loads(body)
        if isinstance(payload, dict) and canonical_json(payload) == body:
            return payload
    except (ValueError, RecursionError):
        pass
    raise EnvelopeInvalid("the signed payload is not a canonical JSON object")

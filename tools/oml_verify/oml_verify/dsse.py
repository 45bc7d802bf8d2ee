"""DSSE envelopes: exactly one signature, exactly one spelling, and only the bytes that were verified are parsed."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from oml_verify.strict import Malformed, canonical, parse_object, unbase64

SUBMISSION = "application/vnd.oml.submission.v1+json"
VERDICT = "application/vnd.oml.verdict.v1+json"
EVIDENCE = "application/vnd.oml.evidence.v1+json"


def open_envelope(text: str, kind: str, keys: list[bytes]) -> dict[str, Any]:
    """The payload of an envelope of one type that a trusted key signed.

    Raises:
        Malformed: another type, another spelling, or signed by nobody trusted.
    """
    document = parse_object(text)
    try:
        payload_type, encoded = document["payloadType"], document["payload"]
        (only,) = document["signatures"]
        signature = unbase64(only["sig"])
    except (KeyError, TypeError, ValueError):
        raise Malformed("not an envelope with one signature") from None
    if payload_type != kind:
        raise Malformed("another payload type")
    body = unbase64(encoded)
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
    for key in keys:
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        except InvalidSignature:
            continue
        if text.encode() != _spelled(kind, body, key, signature):
            raise Malformed("the envelope around a good signature was changed")
        payload = parse_object(body)
        if canonical(payload) != body:
            raise Malformed("the signed payload is not canonical")
        return payload
    raise Malformed("signed by none of the trusted keys")


def _spelled(kind: str, body: bytes, key: bytes, signature: bytes) -> bytes:
    keyid = hashlib.sha256(key).digest()[:16].hex()
    return canonical(
        {
            "payload": base64.b64encode(body).decode(),
            "payloadType": kind,
            "signatures": [{"keyid": keyid, "sig": base64.b64encode(signature).decode()}],
        }
    )

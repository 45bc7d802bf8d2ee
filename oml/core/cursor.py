"""Signed list cursors: base64url of keyset, filter digest and key id under an HMAC (design: http-api, Cursors).

A cursor that was tampered with, made for another key or for another filter is ``request.validation``: the
server never guesses where a page should start.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from typing import Any

from oml.core.canonical import canonical_json
from oml.core.errors import Validation

_MAC_BYTES = 16


def seal(secret: bytes, *, keyset: list[Any], filters: dict[str, Any], key_id: str) -> str:
    """Return an opaque cursor that continues after ``keyset`` for this key and these filters."""
    body = json.dumps(keyset, separators=(",", ":")).encode()
    return _encoded(_mac(secret, body, filters, key_id) + body)


def open_(secret: bytes, cursor: str, *, filters: dict[str, Any], key_id: str) -> list[Any]:
    """Return the keyset inside ``cursor``.

    Raises:
        Validation: ``request.validation``; not a cursor of this key for these filters.
    """
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        if _encoded(raw) != cursor:  # the decoder skips foreign characters and spare bits; one cursor, one spelling
            raise ValueError
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, _mac(secret, body, filters, key_id)):
            raise ValueError
        keyset = json.loads(body)
    except (ValueError, binascii.Error):
        raise Validation(
            "cursor is not one that this key was given for these filters; start again without it",
            param="cursor",
        ) from None
    if not isinstance(keyset, list):
        raise Validation("cursor is not one that this key was given for these filters", param="cursor")
    return keyset


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _mac(secret: bytes, body: bytes, filters: dict[str, Any], key_id: str) -> bytes:
    scope = hashlib.sha256(canonical_json([filters, key_id])).digest()
    return hmac.new(secret, scope + body, hashlib.sha256).digest()[:_MAC_BYTES]

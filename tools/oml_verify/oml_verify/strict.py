"""Strict JSON: no key twice, no floats, no NaN; and the one canonical form of it (RFC 8785)."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any


class Malformed(ValueError):
    """Not the JSON, base64 or text that was expected."""


def parse(raw: bytes | str) -> Any:
    """Parse one JSON value.

    Raises:
        Malformed: not UTF-8, not JSON, a key twice, a float.
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        return json.loads(text, object_pairs_hook=_no_key_twice, parse_float=_refuse, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Malformed("not strict JSON") from None


def parse_object(raw: bytes | str) -> dict[str, Any]:
    """Parse one JSON object; errors as :func:`parse`."""
    value = parse(raw)
    if not isinstance(value, dict):
        raise Malformed("not a JSON object")
    return value


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value without floats."""
    return json.dumps(_ordered(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def unbase64(text: Any, length: int | None = None) -> bytes:
    """Decode base64 that is spelled the one right way.

    Raises:
        Malformed: another spelling, or another length.
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise Malformed("not base64") from None
    if base64.b64encode(raw).decode() != text or (length is not None and len(raw) != length):
        raise Malformed("not base64 of the right length")
    return raw


def unhex(text: Any, length: int = 32) -> bytes:
    """Decode lower-case hex of a stated length.

    Raises:
        Malformed: anything else.
    """
    try:
        raw = bytes.fromhex(text)
    except (ValueError, TypeError):
        raise Malformed("not hex") from None
    if len(raw) != length or raw.hex() != text:
        raise Malformed("not hex of the right length")
    return raw


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _refuse(text: str) -> Any:
    raise ValueError("no floats")

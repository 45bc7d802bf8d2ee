"""RFC 8785 (JCS) bytes: the only form that is ever hashed or signed."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value.

    Floats are refused: their text form differs between writers, and nothing that we sign needs one.

    Raises:
        ValueError: a float, an integer beyond ±(2^53−1), a lone surrogate or a non-JSON value.
    """
    _refuse_floats(value)
    return bytes(rfc8785.dumps(value))


def sha256_hex(data: bytes) -> str:
    """Lower-case hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def _refuse_floats(value: Any) -> None:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, float):
            raise ValueError("canonical JSON carries no floats")
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)

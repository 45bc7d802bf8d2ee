"""Ids that we make: a prefix and a ULID. Ids that we read are opaque strings to every check (design: access).

A malformed id takes the same path as an unknown one, so there is no parser here on purpose.
"""

from __future__ import annotations

from ulid import ULID


def new_id(prefix: str) -> str:
    """Return ``{prefix}_{ULID}``: 26 Crockford base-32 characters, time-ordered, so indexes grow at one end."""
    return f"{prefix}_{ULID()}"

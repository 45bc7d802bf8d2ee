"""Time: aware UTC inside, RFC 3339 with ``Z`` outside."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# Python reads all of ISO 8601 (weeks, basic form, hours alone); RFC 3339 is one form of it.
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})\Z"
)


def now() -> datetime:
    """The current time, aware, UTC."""
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """``2026-10-27T14:11:08Z``; microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def rfc3339_seconds(moment: datetime) -> str:
    """The seed's form, whole seconds: ``2026-10-27T14:11:08Z``."""
    return rfc3339(moment.replace(microsecond=0))


def parse_rfc3339(text: str) -> datetime:
    """Parse an RFC 3339 time with an offset.

    Raises:
        ValueError: not RFC 3339, or no offset: a naive time has no place on a line of history.
    """
    if not _RFC3339.match(text):
        raise ValueError("not RFC 3339 with an offset")
    return datetime.fromisoformat(text.upper()).astimezone(UTC)

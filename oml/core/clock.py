"""Time: aware UTC inside, RFC 3339 with ``Z`` outside."""

from __future__ import annotations

from datetime import UTC, datetime


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
    if "T" not in text and "t" not in text and " " not in text:
        raise ValueError("a date alone is not a time")
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("no UTC offset")
    return moment.astimezone(UTC)

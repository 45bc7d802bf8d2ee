"""Pages of a list: the range a size may have, one row too many to know that more follow, the cursor that goes on.

What must never happen here: a page that starts anywhere but behind the last row of the page before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from oml.core.cursor import open_, seal
from oml.core.errors import CeilingExceeded, Validation

Row = TypeVar("Row")


def check_range(param: str, value: int, *, least: int = 1, most: int) -> None:
    """Refuse a number outside of what the page of its parameter says.

    Raises:
        Validation: ``request.validation``; below ``least``.
        CeilingExceeded: ``limit.ceiling``; above ``most``.
    """
    if value < least:
        raise Validation(f"{param} is at least {least}", param=param)
    if value > most:
        raise CeilingExceeded(f"{param} is at most {most}", param=param)


@dataclass(frozen=True, slots=True)
class Pages(Generic[Row]):
    """The pages of one list, as one key sees it under one set of filters."""

    secret: bytes
    key_id: str
    filters: dict[str, Any]
    keyset: Callable[[Row], list[Any]]

    def behind(self, cursor: str | None) -> list[Any] | None:
        """The keyset of the row that the page before ended with; None at the start.

        Raises:
            Validation: ``request.validation``; not a cursor of this key for these filters.
        """
        if cursor is None:
            return None
        return open_(self.secret, cursor, filters=self.filters, key_id=self.key_id)

    def cut(self, rows: Iterable[Row], limit: int) -> tuple[list[Row], str | None]:
        """The page out of ``limit + 1`` rows, and the cursor behind it when there was one row too many."""
        page = list(rows)
        more = len(page) > limit
        page = page[:limit]
        return page, self.following(page) if more else None

    def following(self, page: list[Row]) -> str:
        """The cursor that goes on behind ``page``."""
        return seal(self.secret, keyset=self.keyset(page[-1]), filters=self.filters, key_id=self.key_id)

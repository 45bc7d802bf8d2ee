"""Whose part of the tenant somebody administers: its rows are all that a delegated administrator's pages show.

The room of access brings the answer, as it brings the gate. What must never happen here: a row shown to somebody who
administers only a part, without a place that lies in that part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from django.db.models import Q
from django.http import HttpRequest


class Part(Protocol):
    """The subtrees that somebody administers."""

    def under(self, column: str) -> Q:
        """Rows whose workarea path, in this column, lies in the part."""

    def nodes(self, column: str) -> Q:
        """Rows whose workarea id, in this column, is a node of the part."""


#: From a request to the part, or None where somebody administers the whole tenant.
PartOf = Callable[[HttpRequest], Part | None]


class _Nowhere:
    """Before the room of access has spoken there is nothing to show."""

    def under(self, column: str) -> Q:
        return Q(pk__in=[])

    def nodes(self, column: str) -> Q:
        return Q(pk__in=[])


_part_of: PartOf = lambda request: _Nowhere()  # noqa: E731


def set_part_of(part_of: PartOf) -> None:
    """Bring the one function that says who administers what; ``workareas.admin`` does."""
    global _part_of
    _part_of = part_of


def part_of(request: HttpRequest) -> Part | None:
    """What the signed-in administrator administers; None for the whole tenant."""
    return _part_of(request)

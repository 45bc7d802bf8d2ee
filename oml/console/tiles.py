"""Numbers on the console's start page. Each room brings its own; here they are only collected and drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Tile:
    """One number with its word; ``attention`` is said in words too, never by colour alone.

    Attributes:
        label: what is counted.
        value: number or words.
        detail: a sentence beside it.
        attention: why somebody should look, empty when nobody needs to.
        address: where the list behind the number is.
    """

    label: str
    value: str
    detail: str = ""
    attention: str = ""
    address: str = ""


Source = Callable[[HttpRequest], list[Tile]]

_sources: list[tuple[int, Source]] = []


def register(source: Source, *, order: int) -> None:
    """Add a room's tiles.

    Args:
        source: from a request of somebody whom the gate let in to tiles of their tenant.
        order: position among the rooms, low first.
    """
    _sources.append((order, source))
    _sources.sort(key=lambda pair: pair[0])


def for_request(request: HttpRequest) -> list[Tile]:
    """Every room's tiles."""
    return [tile for _, source in _sources for tile in source(request)]

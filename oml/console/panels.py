"""Further tables on a row's page: what belongs to the row and is no row of its own kind. Read-only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Panel:
    """One table under a row's fields.

    Attributes:
        title: its heading.
        columns: headings of its columns.
        rows: ``(request, row) -> cells``, at most what a page can hold.
        none: what to say where there is none.
    """

    title: str
    columns: tuple[str, ...]
    rows: Callable[[HttpRequest, Any], list[tuple[str, ...]]]
    none: str = "None."


@dataclass(frozen=True, slots=True)
class DrawnPanel:
    """A panel with its rows, as the template prints it."""

    name: str
    panel: Panel
    rows: list[tuple[str, ...]]


def draw(panels: tuple[Panel, ...], request: HttpRequest, row: Any) -> list[DrawnPanel]:
    """Ask every panel for its rows."""
    return [DrawnPanel(f"panel-{number}", one, one.rows(request, row)) for number, one in enumerate(panels)]

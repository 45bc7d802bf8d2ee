"""Where a reviewer goes on: the next item or edge that is theirs to judge, of the same kind first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from oml.core.actor import Actor
from review.selectors.edge_queue import next_edge
from review.selectors.queue import next_turn
from review.wording import edge_title, item_kind, item_title


@dataclass(frozen=True, slots=True)
class Following:
    """What waits next, by name, and where it is opened."""

    title: str
    words: str
    address: str


def after_item(actor: Actor, artifact: str) -> Following | None:
    """The next item after this one; an edge when no item is left."""
    return _item(next_turn(actor, after=artifact)) or _edge(next_edge(actor))


def after_edge(actor: Actor, edge: str) -> Following | None:
    """The next edge after this one; an item when no edge is left."""
    return _edge(next_edge(actor, after=edge)) or _item(next_turn(actor))


def _item(found: dict[str, Any] | None) -> Following | None:
    if found is None:
        return None
    words = f"{item_kind(found)} in {found['workarea_path']}"
    return Following(item_title(found), words, reverse("open-item", args=[found["artifact_id"]]))


def _edge(found: dict[str, Any] | None) -> Following | None:
    if found is None:
        return None
    words = "edge between workareas" if found["kind"] == "workarea" else "edge between claims"
    return Following(edge_title(found), words, reverse("open-edge", args=[found["edge_id"]]))

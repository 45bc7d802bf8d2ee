"""Show a reviewer one part of what was served; it counts as served when its last byte was handed over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memory.records.content import StoredText
from memory.records.selectors.reading import body_of
from oml.core.actor import Actor
from review.parts import entry_of, mark_served
from review.selectors.served import live_serve
from workareas.errors import AccessNotFound


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part's body, and what to call once it was sent."""

    body: dict[str, Any]
    mark: Callable[[], None]


def serve_part(actor: Actor, *, serve_id: str, part: str) -> ShownPart:
    """A cited source-record entry, to the reviewer of the claim that cites it.

    Args:
        actor: the reviewer the serve was made for.
        serve_id, part: as sent.

    Raises:
        AccessNotFound: ``access.not_found``; not this key's serve, or it has no such part.
        ServeConsumed, ServeExpired, Stale: ``review.*``.
    """
    serve, _ = live_serve(actor, serve_id=serve_id)
    entry = entry_of(serve, part)
    if entry is None:
        raise AccessNotFound(f"serve {serve_id} has no part {part}")
    return ShownPart(body_of(entry), lambda: mark_served(serve, part))


def whole(content: Any) -> str:
    """A part's content in one piece, for a page; the erased one is empty."""
    if isinstance(content, StoredText):
        return "".join(content.text())
    return content or ""

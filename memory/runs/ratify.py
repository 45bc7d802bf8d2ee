"""Where the review's room says how an agent's own shared write takes effect at once (D8, relaxed review).

The rule is the ceremony's, which stands above this room; it registers itself here, as it must not be imported.
"""

from __future__ import annotations

from collections.abc import Callable

from memory.claims.models import Artifact
from oml.core.actor import Actor
from oml.journal.registry import Event

#: ``(actor, artifact) -> events``: scan and self-sign a held artifact where the policy of its workarea allows that.
SelfSign = Callable[[Actor, Artifact], list[Event]]
_doors: list[SelfSign] = []


def on_self_sign(door: SelfSign) -> SelfSign:
    """Register the ceremony's door."""
    _doors[:] = [door]
    return door


def self_sign(actor: Actor, artifact: Artifact) -> list[Event]:
    """Ask the ceremony; the artifact stays held where relaxed review does not apply."""
    (door,) = _doors
    return door(actor, artifact)

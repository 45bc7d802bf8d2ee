"""A principal's lanes."""

from __future__ import annotations

from typing import Any

from memory.records.actions.places import lane_body
from memory.records.models import Lane
from oml.core.actor import Actor
from workareas import access
from workareas.verbs import Verb


def own_lanes(actor: Actor) -> dict[str, Any]:
    """Every lane of the actor's principal, in the order they were made.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; an operator.
    """
    access.require_role(actor, Verb.READ)
    rows = Lane.objects.filter(tenant_id=actor.tenant_id, owner_id=actor.principal_id)
    return {"items": [lane_body(lane) for lane in rows.order_by("created_at", "pk")], "next_cursor": None}

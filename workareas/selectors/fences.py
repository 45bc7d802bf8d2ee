"""The simulation fence as a predicate (D10): which simulations a key may see into. Closed ones open for nobody."""

from __future__ import annotations

from django.db.models import Q

from oml.core.actor import Actor
from workareas.models import Simulation


def fence_of(actor: Actor) -> frozenset[str]:
    """Ids of the open simulations whose audience the actor's key is in."""
    rows = Simulation.objects.filter(tenant_id=actor.tenant_id, closed_at=None, audience=actor.key_id)
    return frozenset(rows.values_list("pk", flat=True))


def inside_fence(actor: Actor, simulation_id: str | None) -> bool:
    """Whether a row of this simulation, or of none, exists for the actor at all."""
    return simulation_id is None or simulation_id in fence_of(actor)


def still_open() -> Q:
    """Rows of no simulation, or of one that is open: what a closed one left behind can be judged by nobody."""
    closed = Simulation.objects.filter(closed_at__isnull=False)
    return Q(simulation_id=None) | ~Q(simulation_id__in=closed.values("pk"))

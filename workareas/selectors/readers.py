"""Who could read what is promoted at a node: the effect of a ratification, told before it happens."""

from __future__ import annotations

from dataclasses import dataclass

from workareas import access
from workareas.models import Simulation, Workarea
from workareas.verbs import Capability


@dataclass(frozen=True, slots=True)
class Readership:
    """How many keys read a node, and how many workareas their access comes from."""

    keys: int
    workareas: int


def readership(node: Workarea, *, simulation_id: str | None = None) -> Readership:
    """Count the live keys that read a node; only numbers, for a reviewer has no right to a list of keys.

    Args:
        node: where the item would be promoted.
        simulation_id: the fence that the item stands behind; then only keys of its audience count (D10).
    """
    holders = access.holders(node, Capability.READER)
    if simulation_id is not None:
        audience = set(Simulation.objects.filter(pk=simulation_id).values_list("audience", flat=True))
        holders = {key: paths for key, paths in holders.items() if key in audience}
    return Readership(len(holders), len({path for paths in holders.values() for path in paths}))

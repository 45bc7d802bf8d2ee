"""Simulations (D10): created, given an audience and closed by an admin of the root."""

from __future__ import annotations

from collections.abc import Sequence

from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from workareas import access
from workareas.errors import AccessNotFound
from workareas.events import SimulationAudienceChanged, SimulationClosed, SimulationCreated
from workareas.models import Key, Simulation
from workareas.verbs import Verb


@journalled
def create_simulation(actor: Actor, *, name: str, audience: Sequence[str]) -> Simulation:
    """Open a fence for an audience of keys.

    Raises:
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        AccessNotFound: ``access.not_found``; an unknown key.
        Validation: ``request.validation``; an empty name.
    """
    decision = access.require_everywhere(actor, Verb.SIMULATE)
    if not name.strip():
        raise Validation("a simulation has a name", param="name")
    keys = _keys(actor, audience, "audience")
    simulation = Simulation.objects.create(tenant_id=actor.tenant_id, name=name.strip(), created_by_id=actor.key_id)
    simulation.audience.set(keys)
    created = SimulationCreated(simulation=simulation.pk, audience=tuple(sorted(key.pk for key in keys)))
    append(actor, [created], epoch=decision.epoch, raise_epoch=True)
    return simulation


@journalled
def change_audience(
    actor: Actor, *, simulation: str, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Simulation:
    """Let keys into the fence, or out.

    Raises:
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        AccessNotFound: ``access.not_found``; no such simulation.
        Validation: ``request.validation``; the simulation is closed.
    """
    decision = access.require_everywhere(actor, Verb.SIMULATE)
    row = _open(actor, simulation)
    added, removed = _keys(actor, add, "add"), _keys(actor, remove, "remove")
    row.audience.add(*added)
    row.audience.remove(*removed)
    changed = SimulationAudienceChanged(
        simulation=row.pk,
        added=tuple(sorted(key.pk for key in added)),
        removed=tuple(sorted(key.pk for key in removed)),
    )
    append(actor, [changed], epoch=decision.epoch, raise_epoch=True)
    return row


@journalled
def close_simulation(actor: Actor, *, simulation: str) -> Simulation:
    """Close the fence for good: nothing more enters, and what is inside is served to nobody.

    Raises:
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        AccessNotFound: ``access.not_found``; no such simulation.
        Validation: ``request.validation``; it is closed already.
    """
    decision = access.require_everywhere(actor, Verb.SIMULATE)
    row = _open(actor, simulation)
    row.closed_at = now()
    row.save(update_fields=["closed_at"])
    append(actor, [SimulationClosed(simulation=row.pk)], epoch=decision.epoch, raise_epoch=True)
    return row


def _open(actor: Actor, simulation: str) -> Simulation:
    row = None
    if "\x00" not in simulation:
        row = Simulation.objects.select_for_update(no_key=True).filter(pk=simulation, tenant_id=actor.tenant_id).first()
    if row is None:
        raise AccessNotFound(f"no simulation {simulation} for this key")
    if row.closed_at is not None:
        raise Validation(f"simulation {simulation} is closed", param="simulation")
    return row


def _keys(actor: Actor, ids: Sequence[str], param: str) -> list[Key]:
    found = {key.pk: key for key in Key.objects.filter(pk__in=ids, tenant_id=actor.tenant_id)}
    for position, key_id in enumerate(ids):
        if key_id not in found:
            raise AccessNotFound(f"{param}[{position}] names no key of this tenant", param=f"{param}[{position}]")
    return [found[key_id] for key_id in ids]

"""What a submission refers to: lineage, evidence, simulation, attachments, in the design's order of checks.

Each refusal names the 0-based position, and says the same of what is unknown and what is unreadable.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from memory.claims.commands import EvidenceRef
from memory.claims.errors import (
    LineageNotFound,
    SimulationConflict,
    SimulationRequired,
    UploadNotFound,
)
from memory.claims.evidence import cited_by_submission
from memory.claims.models import Artifact
from memory.records.models import RecordEntry
from oml.core.actor import Actor
from workareas.access import Access
from workareas.errors import SimulationNotFound
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability


def check_references(
    actor: Actor,
    known: Access,
    *,
    derives_from: Sequence[str],
    evidence: Sequence[EvidenceRef],
    simulation_id: str | None,
    attachments: Sequence[str],
) -> tuple[RecordEntry, ...]:
    """Refuse what does not exist for this key, and what crosses a simulation's fence (D10).

    Returns:
        The entries that ``evidence`` names.

    Raises:
        LineageNotFound, EvidenceNotFound, SimulationNotFound: ``access.not_found``.
        SimulationRequired, SimulationConflict: ``simulation.required``, ``simulation.conflict``.
        UploadNotFound: ``upload.not_found``.
    """
    fence = fence_of(actor) if derives_from or simulation_id is not None else frozenset()
    _check_fence(_simulations_of(actor, known, derives_from, fence), simulation_id, fence)
    entries = cited_by_submission(actor, known, evidence)
    if attachments:
        raise UploadNotFound(0)
    return entries


def _simulations_of(actor: Actor, known: Access, derives_from: Sequence[str], fence: frozenset[str]) -> set[str]:
    """The simulations that the sources belong to, once every source is known to be readable and stays so.

    Each is locked against its demotion and erasure until the submission is journalled, and not against others who cite
    it too; in the order of their ids, as every act that takes several of these rows does.
    """
    if not derives_from:
        return set()
    rows = (
        Artifact.objects.readable(actor.tenant_id, known.scope(Capability.READER), fence=fence)
        .filter(pk__in=derives_from)
        .order_by("pk")
        .values_list("pk", "simulation_id")
    )
    readable = dict(_held(rows))
    for position, source in enumerate(derives_from):
        if source not in readable:
            raise LineageNotFound(position)
    return {simulation for simulation in readable.values() if simulation is not None}


def _held(rows: QuerySet[Artifact, tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """The rows, under the one lock that the ORM has no word for."""
    try:
        sql, params = rows.query.sql_with_params()
    except EmptyResultSet:  # a key that reads nowhere: there is nothing to ask
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} FOR SHARE OF memory_artifact", params)
        return [(pk, simulation) for pk, simulation in cursor.fetchall()]


def _check_fence(simulated: set[str], simulation_id: str | None, fence: frozenset[str]) -> None:
    if simulation_id is not None and simulation_id not in fence:
        raise SimulationNotFound(simulation_id)
    if len(simulated) > 1 or (simulation_id is not None and simulated - {simulation_id}):
        raise SimulationConflict
    if simulated and simulation_id is None:
        raise SimulationRequired(simulated.pop())

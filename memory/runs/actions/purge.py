"""What becomes of an actor's private state when the actor is removed (design: agent-state): it is destroyed.

The rule is ``workareas.actions.removal``'s, where ``memory.apps`` registers this. What must never happen here: a
private row, checkpoint or result that is left, or one that turns shared for want of an owner.
"""

from __future__ import annotations

from collections import defaultdict

from memory.runs.actions.presence import clear
from memory.runs.events import RunCancelled, StateDeleted
from memory.runs.models import AgentMemory, Run
from memory.runs.rules import CHECKPOINT, RUN, Scope, Status
from oml.core.clock import now
from oml.journal.registry import Event
from workareas.models import IdempotencyRecord


def purge_actor(principal_id: str) -> list[Event]:
    """Cancel the actor's runs, destroy what they kept privately, and say so once per agent and space.

    The order of the locks is that of a write: first whoever starts a run, then the runs, then the rows. A write that
    is under way ends before; a later one finds its run cancelled.

    Returns:
        The events for the removal to append.
    """
    clear(principal_id)
    runs = Run.objects.filter(actor_id=principal_id)
    running = list(runs.filter(status=Status.RUNNING).select_for_update(no_key=True).order_by("pk"))
    for run in running:
        run.status = RUN.next(Status(run.status), Status.CANCELLED)
        run.finished_at = now()
    Run.objects.bulk_update(running, ["status", "finished_at"])
    runs.exclude(checkpoint=None, result=None).update(checkpoint=None, result=None)
    IdempotencyRecord.objects.filter(subject_id__in=runs.values("pk")).update(fingerprint=bytes(32))
    events: list[Event] = [
        RunCancelled(workarea_id=run.space_id, run_id=run.pk, actor_principal=principal_id) for run in running
    ]
    rows = AgentMemory.objects.filter(actor_id=principal_id, scope=Scope.ACTOR)
    places: dict[tuple[str, str], list[AgentMemory]] = defaultdict(list)
    for row in rows.select_for_update(no_key=True).defer("content", "salt").order_by("pk"):
        places[(row.agent_id, row.space_id)].append(row)
    rows.delete()
    return events + [
        StateDeleted(
            workarea_id=space,
            agent_id=agent,
            scope=Scope.ACTOR,
            actor_principal=principal_id,
            memory_ids=tuple(row.pk for row in mine),
            checkpoint=any(row.key == CHECKPOINT for row in mine),
        )
        for (agent, space), mine in places.items()
    ]

"""Start a run and finish it."""

from __future__ import annotations

from typing import Any

from memory.runs.actions.presence import enter
from memory.runs.content import as_text
from memory.runs.context import render
from memory.runs.errors import RunOver
from memory.runs.events import RunFinished, RunStarted
from memory.runs.models import Run
from memory.runs.rules import MAX_RESULT_BYTES, RUN, RuntimeTool, Status
from memory.runs.selectors.agents import find_agent
from memory.runs.selectors.runs import own_run, pins, shown
from memory.runs.tokens import new_token
from oml.core.actor import Actor
from oml.core.clock import now
from oml.journal.append import append, journalled
from workareas import access, quota
from workareas.authentication import digest_of
from workareas.verbs import Verb


@journalled
def start_run(actor: Actor, *, agent: str, space: str) -> dict[str, Any]:
    """Start a run that executes as the actor's identity, whatever becomes of anybody later.

    Args:
        actor: a key with reader access on the space; a shared write of the run needs writer access too.
        agent: ``@scope/name``.
        space: a workarea's id or path.

    Returns:
        ``run_id``, ``run_token`` (this once) and ``context``, the text for the run's prompt.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``; an operator is refused, it has no content (D9).
        QuotaExceeded: ``limit.quota``.
    """
    known = access.load(actor)
    node = access.require_node(known.decide(Verb.READ, access.find(actor, space), space))
    found = find_agent(actor, agent)
    quota.take(actor, quota.Quota.WRITE)
    enter(actor.principal_id)
    token = new_token()
    run = Run.objects.create(
        tenant_id=actor.tenant_id,
        agent=found,
        space=node,
        actor_id=actor.principal_id,
        key_id=actor.key_id,
        tools=sorted(found.runtime_tools & set(RuntimeTool)),
        token_digest=digest_of(token),
    )
    append(actor, [RunStarted(workarea_id=node.pk, run_id=run.pk, agent_id=found.pk)], epoch=known.epoch)
    return {"run_id": run.pk, "run_token": token, "context": render(pins(run))}


@journalled
def finish_run(actor: Actor, *, run: str, status: str = Status.SUCCESS, result: Any = None) -> dict[str, Any]:
    """End a run; its token works no longer. Finishing it again with the same status changes nothing.

    Args:
        actor: the run itself, or a key of the identity that it executes as.
        status: ``success``, ``failed`` or ``cancelled``; only successful runs are history for later ones.
        result: any JSON value to keep with the run.

    Raises:
        RunNotFound: ``access.not_found``.
        RunOver: ``access.forbidden``; it ended already, otherwise.
        MemoryTooLarge: ``memory.too_large``; a result above 64 KiB.
    """
    known = access.load(actor)
    row = own_run(actor, known, run, lock=True)
    text = as_text(result, param="result", most=MAX_RESULT_BYTES) if result is not None else None
    if row.status != Status.RUNNING:
        if row.status == status and (text is None or row.result == text):
            return shown(row)
        raise RunOver(f"run {run} ended already: {row.status}")
    row.status = RUN.next(Status(row.status), Status(status))
    row.result, row.finished_at = text, now()
    row.save(update_fields=["status", "result", "finished_at"])
    append(actor, [RunFinished(workarea_id=row.space_id, run_id=row.pk, status=row.status)], epoch=known.epoch)
    return shown(row)

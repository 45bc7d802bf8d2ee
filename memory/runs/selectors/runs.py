"""Runs, as the identity that they execute as sees them: one run, its prompt context, the history of earlier ones."""

from __future__ import annotations

import json
from typing import Any

from memory.runs import kept
from memory.runs.commands import HistoryQuery
from memory.runs.context import Pin, flat, render
from memory.runs.errors import RunNotFound
from memory.runs.models import Run
from memory.runs.rules import CHECKPOINT, HISTORY_MOST, Status
from memory.runs.selectors.agents import find_agent
from memory.runs.tokens import RunActor
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access, quota
from workareas.access import Access
from workareas.verbs import Capability, Verb

MAX_LIMIT = 100


def own_run(actor: Actor, known: Access, reference: str, *, lock: bool = False) -> Run:
    """A run of the actor's identity in a space that it may read; a run itself knows itself alone.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; an operator.
        RunNotFound: ``access.not_found``; unknown, malformed, another's, or in a space out of reach.
    """
    access.require_role(actor, Verb.READ)
    row = None
    if "\x00" not in reference:
        rows = Run.objects.select_related("space__tenant", "agent").filter(
            pk=reference, tenant_id=actor.tenant_id, actor_id=actor.principal_id
        )
        row = (rows.select_for_update(of=("self",), no_key=True) if lock else rows).first()
    if row is None or (isinstance(actor, RunActor) and actor.run_id != row.pk):
        raise RunNotFound(reference)
    if Capability.READER not in known.effective(row.space.path):
        raise RunNotFound(reference)
    return row


def run_info(actor: Actor, *, run: str) -> dict[str, Any]:
    """One run: where, what became of it, and its checkpoint.

    Raises:
        see :func:`own_run`.
    """
    return shown(own_run(actor, access.load(actor), run))


def own_runs(
    actor: Actor, *, agent: str | None = None, space: str | None = None, limit: int = 20, cursor: str | None = None
) -> dict[str, Any]:
    """Runs of the actor's identity in spaces that it may read, newest first, in pages.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; an operator.
        AccessNotFound: ``access.not_found``; an agent or a space that is asked for.
        Validation, CeilingExceeded: ``request.validation``, ``limit.ceiling``; limit or cursor.
        QuotaExceeded: ``limit.quota``.
    """
    access.require_role(actor, Verb.READ)
    check_range("limit", limit, most=MAX_LIMIT)
    known = access.load(actor)
    rows = Run.objects.filter(
        known.scope(Capability.READER).predicate("space__path"), tenant_id=actor.tenant_id, actor_id=actor.principal_id
    )
    if agent is not None:
        rows = rows.filter(agent=find_agent(actor, agent))
    if space is not None:
        rows = rows.filter(space=access.require_node(known.decide(Verb.READ, access.find(actor, space), space)))
    quota.take(actor, quota.Quota.READ)
    filters = {"list": "runs", "agent": agent, "space": space}
    pages: Pages[Run] = Pages(cursor_key(), actor.key_id, filters, lambda run: [run.pk])
    if (behind := pages.behind(cursor)) is not None:
        rows = rows.filter(pk__lt=behind[0])
    page, following = pages.cut(rows.select_related("agent").order_by("-pk")[: limit + 1], limit)
    return {"items": [shown(run) for run in page], "next_cursor": following}


def run_context(actor: Actor, *, run: str) -> dict[str, Any]:
    """What a run's prompt is given, as it stands now: the text, and the flat view that it was made of.

    Raises:
        see :func:`own_run`; QuotaExceeded: ``limit.quota``.
    """
    row = own_run(actor, access.load(actor), run)
    quota.take(actor, quota.Quota.READ)
    mine = pins(row)
    view = flat(mine)
    checkpoint = view.pop(CHECKPOINT, None)
    return {
        "run_id": row.pk,
        "context": render(mine),
        "checkpoint": checkpoint.content if checkpoint else None,
        "slots": [
            {
                "key": key,
                "content": view[key].content,
                "scope": str(view[key].scope),
                "self_signed": view[key].self_signed,
            }
            for key in sorted(view)
        ],
        "memory": [{"content": memo.content, "scope": str(memo.scope)} for memo in mine if memo.key is None],
    }


def pins(run: Run) -> list[Pin]:
    """What is pinned for a run: own rows and promoted shared ones, in the order of their writing."""
    own = kept.private(kept.own_rows(run.agent_id, run.space_id, run.actor_id).filter(pinned=True))
    shared = kept.shared(kept.served_writes(run.agent_id, run.space_id).filter(memory__pinned=True))
    rows = sorted([*own, *shared], key=lambda row: (row.created_at, row.id))
    return [Pin(row.key, row.content, row.scope, row.self_signed) for row in rows]


def run_history(actor: RunActor, *, query: HistoryQuery) -> dict[str, Any]:
    """Earlier successful runs of the same agent, space and identity, newest first.

    Raises:
        Validation: ``request.validation``; limit below 1.
        CeilingExceeded: ``limit.ceiling``; limit above 50.
        RunNotFound: ``access.not_found``; the space is out of reach by now.
        QuotaExceeded: ``limit.quota``.
    """
    check_range("limit", query.limit, most=HISTORY_MOST)
    run = own_run(actor, access.load(actor), actor.run_id)
    quota.take(actor, quota.Quota.READ)
    earlier = Run.objects.filter(
        agent_id=run.agent_id, space_id=run.space_id, actor_id=run.actor_id, status=Status.SUCCESS, pk__lt=run.pk
    ).order_by("-pk")[: query.limit + 1]
    rows = list(earlier)
    return {
        "runs": [_past(row, query.fields) for row in rows[: query.limit]],
        "has_more": len(rows) > query.limit,
    }


def shown(run: Run) -> dict[str, Any]:
    """A run as faces print it."""
    body = {
        "run_id": run.pk,
        "agent": run.agent.reference,
        "space": run.space_id,
        "status": str(run.status),
        "started_at": rfc3339_seconds(run.started_at),
        "checkpoint": _value(run.checkpoint),
        "result": _value(run.result),
    }
    if run.finished_at is not None:
        body["finished_at"] = rfc3339_seconds(run.finished_at)
    return body


def _past(run: Run, fields: tuple[str, ...]) -> dict[str, Any]:
    assert run.finished_at is not None  # it succeeded, so it ended
    body: dict[str, Any] = {
        "run_id": run.pk,
        "status": str(run.status),
        "started_at": rfc3339_seconds(run.started_at),
        "finished_at": rfc3339_seconds(run.finished_at),
    }
    return body | {name: _value(getattr(run, name)) for name in fields}


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)

"""``recall_memory``: the archive notes that a run may see, searched by a plain piece of text."""

from __future__ import annotations

from typing import Any

from memory.recall import readlog
from memory.runs import kept
from memory.runs.commands import RecallQuery
from memory.runs.rules import MAX_QUERY, RECALL_MOST
from memory.runs.selectors.runs import own_run
from memory.runs.tokens import RunActor
from oml.core.clock import rfc3339_seconds
from oml.core.errors import SizeExceeded
from oml.core.paging import check_range
from workareas import access, quota


def recall_memory(actor: RunActor, *, query: RecallQuery) -> dict[str, Any]:
    """Notes that hold the query, whatever its case, newest first: the run's own and the shared ones.

    The query is literal: ``%`` and ``_`` mean themselves. At most 200 notes are visible to a run (two archives of 100),
    so they are compared here, by full case folding, at a cost that does not grow.

    Raises:
        Validation: ``request.validation``; limit below 1.
        SizeExceeded: ``limit.size``; a query above 8,192 characters.
        CeilingExceeded: ``limit.ceiling``; limit above 50.
        RunNotFound: ``access.not_found``; the space is out of reach by now.
        QuotaExceeded: ``limit.quota``.
    """
    check_range("limit", query.limit, most=RECALL_MOST)
    if len(query.query) > MAX_QUERY:
        raise SizeExceeded(f"query has {len(query.query)} characters, at most {MAX_QUERY}", param="query")
    run = own_run(actor, access.load(actor), actor.run_id)
    quota.take(actor, quota.Quota.READ)
    own = kept.private(kept.own_rows(run.agent_id, run.space_id, run.actor_id).filter(key=None, pinned=False))
    shared = kept.shared(kept.served_writes(run.agent_id, run.space_id).filter(memory__key=None, memory__pinned=False))
    asked = query.query.casefold()
    found = [row for row in kept.newest_first([*own, *shared]) if asked in str(row.content).casefold()]
    page = found[: query.limit]
    readlog.record(
        actor,
        surface="recall_memory",
        workarea_id=run.space_id,
        query=query.query,
        returned=[str(row.id) for row in page],
    )
    return {"memories": [_shown(row) for row in page]}


def _shown(row: kept.Kept) -> dict[str, Any]:
    body = {
        "id": row.id,
        "content": row.content,
        "scope": str(row.scope),
        "run_id": row.run_id,
        "created_at": rfc3339_seconds(row.created_at),
    }
    if row.self_signed:
        body["self_signed"] = True
    return body

"""What is kept for an agent in a space, as one run or one person may see it; the one place that joins the two halves.

Private rows carry their content. A shared row shows the content of its promoted artifact, and nothing while it has
none: held, rejected and demoted writes are not there (R3).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from memory.claims.states import State
from memory.runs.content import from_review
from memory.runs.models import AgentMemory, SharedWrite
from memory.runs.rules import Scope
from oml.core.clock import now


@dataclass(frozen=True, slots=True)
class Kept:
    """One row with its content."""

    id: int
    scope: Scope
    key: str | None
    pinned: bool
    content: Any
    run_id: str | None
    actor_id: str | None
    actor_kind: str | None
    artifact_id: str | None
    state: str
    self_signed: bool
    created_at: datetime
    updated_at: datetime


def private(rows: QuerySet[AgentMemory]) -> list[Kept]:
    """Private rows of a query over :class:`AgentMemory`."""
    return [
        Kept(
            id=row.pk,
            scope=Scope.ACTOR,
            key=row.key,
            pinned=row.pinned,
            content=json.loads(row.content or "null"),
            run_id=row.run_id,
            actor_id=row.actor_id,
            actor_kind=row.actor.kind if row.actor else None,
            artifact_id=None,
            state="stored",
            self_signed=False,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        for row in rows.filter(scope=Scope.ACTOR).select_related("actor")
    ]


def shared(writes: QuerySet[SharedWrite]) -> list[Kept]:
    """Shared rows, of a query over the writes that carry their content."""
    return [
        Kept(
            id=write.memory_id,
            scope=Scope.SHARED,
            key=write.memory.key,
            pinned=write.memory.pinned,
            content=from_review(write.artifact.text, is_json=write.is_json),
            run_id=write.run_id,
            actor_id=None,
            actor_kind=None,
            artifact_id=write.artifact_id,
            state=str(write.artifact.state),
            self_signed=write.artifact.self_signed,
            created_at=write.memory.created_at,
            updated_at=write.artifact.promoted_at or write.artifact.submitted_at,
        )
        for write in writes.select_related("memory", "artifact")
        if write.artifact.text is not None
    ]


def served_writes(agent_id: str, space_id: str) -> QuerySet[SharedWrite]:
    """The writes whose content every actor of the agent in the space reads: at most one per shared row."""
    return _writes(agent_id, space_id).filter(artifact__state=State.PROMOTED)


def pending_writes(agent_id: str, space_id: str) -> QuerySet[SharedWrite]:
    """The writes that await a verdict."""
    return _writes(agent_id, space_id).filter(artifact__state=State.HELD, artifact__held_expires_at__gt=now())


def own_rows(agent_id: str, space_id: str, actor_id: str) -> QuerySet[AgentMemory]:
    """The private rows of one identity."""
    return AgentMemory.objects.filter(agent_id=agent_id, space_id=space_id, actor_id=actor_id, scope=Scope.ACTOR)


def own_notes(agent_id: str, space_id: str, actor_id: str) -> int:
    """How many archive notes one identity has; slots and memos do not count."""
    return own_rows(agent_id, space_id, actor_id).filter(key=None, pinned=False).count()


def shared_notes(agent_id: str, space_id: str) -> int:
    """How many archive notes the shared scope has, those that await a verdict among them."""
    living = served_writes(agent_id, space_id) | pending_writes(agent_id, space_id)
    return living.filter(memory__key=None, memory__pinned=False).count()


def newest_first(rows: Iterable[Kept]) -> list[Kept]:
    return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)


def _writes(agent_id: str, space_id: str) -> QuerySet[SharedWrite]:
    return SharedWrite.objects.filter(memory__agent_id=agent_id, memory__space_id=space_id)

"""Delete agent state: one row, or a scope's memories (seed: agent-memory). Nothing here writes any.

A private row goes for good. What is shared was ratified, so deleting it is a demotion, in the same transaction and in
the journal; a held write of one's own is withdrawn. What must never happen here: a memory's id that deletes a slot, or
the reverse; a shared write of somebody else's that nobody judged, touched or told of (R3).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db.models import Q, QuerySet

from memory.claims.actions.end import demote_all, reject_all
from memory.claims.events import Withdrawn
from memory.claims.models import Artifact
from memory.claims.states import Cause, State
from memory.runs.errors import StateRowNotFound
from memory.runs.events import StateDeleted
from memory.runs.inspecting import Asked, Kind, Place, Whose, whose
from memory.runs.models import AgentMemory, Run, SharedWrite
from memory.runs.rules import CHECKPOINT, Scope
from memory.runs.selectors.persistence import Opened, open_state, private_rows, shared_writes
from oml.core.actor import Actor
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import quota
from workareas.models import IdempotencyRecord
from workareas.space_roles import Persistence

_LONGEST_ID = 18


@journalled
def delete_state(actor: Actor, *, place: Place, asked: Asked) -> dict[str, Any]:
    """Delete memories, and the checkpoint when ``actor_type`` and ``actor_id`` select one scope.

    Without that filter the memories of every actor go and no checkpoint; with it exactly that scope, and what is
    shared only where that was asked for. Other named slots are never deleted in bulk. ``kind=memory`` leaves the
    checkpoint, ``kind=pinned`` the memories.

    Args:
        actor: a signed-in human who holds ``persistence:delete`` in the space.
        place: the agent and the space.
        asked: kind and scope.

    Returns:
        ``memories_deleted``, how many, and ``checkpoint_deleted``, whether.

    Raises:
        OperatorCeiling, PersistenceForbidden, StateNotFound: ``access.*``, see
            :func:`memory.runs.selectors.persistence.open_state`.
        Validation: ``request.validation``; a filter outside its words.
        QuotaExceeded: ``limit.quota``.
    """
    opened = open_state(actor, place, need=Persistence.DELETE)
    only = whose(asked)
    quota.take(actor, quota.Quota.WRITE)
    gone = _Gone(actor, opened)
    if asked.kind is not Kind.PINNED:
        gone.take(*_chosen(actor, opened, only, Kind.MEMORY))
    memories = gone.count
    if asked.kind is not Kind.MEMORY and only is not None:
        private, writes = _chosen(actor, opened, only, Kind.PINNED)
        gone.take(private.filter(key=CHECKPOINT), writes.filter(memory__key=CHECKPOINT))
    gone.journal()
    return {"memories_deleted": memories, "checkpoint_deleted": gone.count > memories}


@journalled
def delete_row(actor: Actor, *, place: Place, kind: Kind, row: str) -> None:
    """Delete one memory or one pinned slot.

    Args:
        actor: a signed-in human who holds ``persistence:delete`` in the space.
        place: the agent and the space.
        kind: what the id is of.
        row: the id, as sent.

    Raises:
        StateRowNotFound: ``access.not_found``; no such row of this kind, agent and space that the actor could see.
        Others as :func:`delete_state`.
    """
    opened = open_state(actor, place, need=Persistence.DELETE)
    number = row_number(row)
    quota.take(actor, quota.Quota.WRITE)
    private, writes = _chosen(actor, opened, None, kind)
    gone = _Gone(actor, opened)
    gone.take(private.filter(pk=number), writes.filter(memory_id=number))
    if not gone.count:
        raise StateRowNotFound("memory" if kind is Kind.MEMORY else "pinned slot", row)
    gone.journal()


class _Gone:
    """What one act deletes, as events; appended last, as everywhere."""

    def __init__(self, actor: Actor, opened: Opened) -> None:
        self.actor, self.opened, self.count = actor, opened, 0
        self._ends: list[Event] = []
        self._rows: dict[str | None, set[int]] = defaultdict(set)
        self._checkpoints: set[str | None] = set()

    def take(self, private: QuerySet[AgentMemory], writes: QuerySet[SharedWrite]) -> None:
        """Delete private rows and end shared writes; a constant number of statements."""
        mine = list(private.select_for_update(of=("self",), no_key=True).order_by("pk").defer("content", "salt"))
        AgentMemory.objects.filter(pk__in=[row.pk for row in mine]).delete()
        self._forget_retries(mine)
        for row in mine:
            self._count(row, row.actor_id)
        ended = {write.pk: write.memory for write in writes.select_related("memory")}
        locked = Artifact.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=list(ended))
        artifacts = list(locked.order_by("pk"))
        promoted = [artifact for artifact in artifacts if artifact.state == State.PROMOTED]
        held = [artifact for artifact in artifacts if artifact.state == State.HELD]
        self._ends += demote_all(self.actor, promoted)
        self._ends += [Withdrawn(**artifact.about()) for artifact in held]
        self._ends += reject_all(held, cause=Cause.WITHDRAWN)
        for artifact in (*promoted, *held):
            self._count(ended[artifact.pk], None)

    def journal(self) -> None:
        """Append what happened; nothing where nothing did."""
        told = [
            StateDeleted(
                workarea_id=self.opened.space.pk,
                agent_id=self.opened.agent.pk,
                scope=Scope.SHARED if owner is None else Scope.ACTOR,
                actor_principal=owner,
                memory_ids=tuple(sorted(ids)),
                checkpoint=owner in self._checkpoints,
            )
            for owner, ids in sorted(self._rows.items(), key=lambda item: item[0] or "")
        ]
        if told:
            append(self.actor, [*self._ends, *told], epoch=self.opened.known.epoch)

    def _forget_retries(self, rows: list[AgentMemory]) -> None:
        """Blank the digests of what was deleted; the records stay, so that no late retry writes it again."""
        if not rows:
            return
        runs = Run.objects.filter(
            agent=self.opened.agent, space=self.opened.space, actor_id__in={row.actor_id for row in rows}
        )
        of_these = Q(response__id__in=[row.pk for row in rows if row.key is None])
        of_these |= Q(response__key__in=[row.key for row in rows if row.key is not None])
        retries = IdempotencyRecord.objects.filter(subject_id__in=runs.values("pk"), response__scope=Scope.ACTOR)
        retries.filter(of_these).update(fingerprint=bytes(32))

    def _count(self, row: AgentMemory, owner: str | None) -> None:
        if row.pk not in self._rows[owner]:  # one shared row may have a served and a held write
            self.count += 1
        self._rows[owner].add(row.pk)
        if row.key == CHECKPOINT:
            self._checkpoints.add(owner)


def _chosen(
    actor: Actor, opened: Opened, only: Whose | None, kind: Kind
) -> tuple[QuerySet[AgentMemory], QuerySet[SharedWrite]]:
    writes = shared_writes(actor, opened, kind)
    if only is not None and only.scope is Scope.ACTOR:
        writes = writes.none()
    return private_rows(opened, only, kind), writes


def row_number(row: str) -> int:
    """The number that an id is; 0, which no row has, where it is none: malformed and unknown answer alike."""
    return int(row) if row.isascii() and row.isdigit() and len(row) <= _LONGEST_ID else 0

"""What is kept for an agent in a space, as a signed-in human may inspect it (seed: agent-memory).

Own state and what is shared; who may also delete sees every actor's named slots, and whatever of one actor they ask
for. Every look is in the read log before the answer leaves. What must never happen here: an answer to a key with a
secret, a shared write that nobody ratified shown to anybody but its author (R3), an answer that tells an unknown agent
or space from one that is out of sight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from memory.recall import readlog
from memory.runs import kept
from memory.runs.errors import PersistenceForbidden, StateNotFound
from memory.runs.inspecting import Asked, Kind, Place, Whose, whose
from memory.runs.kept import Kept
from memory.runs.models import Agent, AgentMemory, SharedWrite
from memory.runs.rules import Scope, split_reference
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from workareas import access, quota
from workareas.access import Access
from workareas.models import Tenant, Workarea
from workareas.space_roles import Persistence

SURFACE = "persistence"


@dataclass(frozen=True, slots=True)
class Opened:
    """An agent in a space that somebody may look into.

    Attributes:
        known: their access, at one epoch.
        held: what they may do with the state there.
    """

    known: Access
    agent: Agent
    space: Workarea
    held: frozenset[Persistence]

    @property
    def may_delete(self) -> bool:
        return Persistence.DELETE in self.held


def open_state(actor: Actor, place: Place, *, need: Persistence) -> Opened:
    """The agent and the space, for whoever holds the permission there.

    Raises:
        OperatorCeiling: ``access.verb_ceiling``; operators know no content (D9).
        PersistenceForbidden: ``access.forbidden``; a key with a secret, or the permission is missing in a space that
            is in sight.
        StateNotFound: ``access.not_found``; one body for an unknown, foreign or unseen tenant, space or agent.
    """
    access.require_content_role(actor, "operators know no agent state")
    if not actor.interactive:
        raise PersistenceForbidden.of_a_key()
    known = access.load(actor)
    space, agent = _space(actor, place), _agent(actor, place)
    held = known.persistence(space.path) if space is not None else frozenset()
    if space is None or agent is None or not (held or known.effective(space.path)):
        raise StateNotFound(place.agent, place.space)
    if need not in held:
        raise PersistenceForbidden.missing(need.spoken, place.space)
    return Opened(known, agent, space, held)


def persistence(actor: Actor, *, place: Place, asked: Asked) -> dict[str, Any]:
    """The seed's list of slots and memories; an excluded kind is absent.

    Args:
        actor: a signed-in human.
        place: the agent and the space.
        asked: which rows; ``actor_type`` and ``actor_id`` are ignored for whoever may not delete.

    Returns:
        ``pinned``, the one written last first, and ``memories``, the oldest first.

    Raises:
        OperatorCeiling, PersistenceForbidden, StateNotFound: ``access.*``, see :func:`open_state`.
        Validation: ``request.validation``; a filter outside its words.
        QuotaExceeded: ``limit.quota``.
    """
    opened = open_state(actor, place, need=Persistence.READ)
    rows = seen(actor, opened, asked)
    log_look(actor, opened, rows)
    body: dict[str, Any] = {}
    if asked.kind is not Kind.MEMORY:
        body["pinned"] = [_slot(row) for row in slots(rows)]
    if asked.kind is not Kind.PINNED:
        body["memories"] = [_memory(row) for row in memories(rows)]
    return body


def seen(actor: Actor, opened: Opened, asked: Asked) -> list[Kept]:
    """The rows that somebody may see of an opened agent; whoever shows them logs that first.

    Raises:
        Validation: ``request.validation``; a filter outside its words, from whoever may filter.
        QuotaExceeded: ``limit.quota``.
    """
    only = whose(asked) if opened.may_delete else None
    quota.take(actor, quota.Quota.READ)
    own = private_rows(opened, only, asked.kind)
    if only is None:
        mine = Q(actor_id=actor.principal_id)
        own = own.filter(mine | Q(key__isnull=False) if opened.may_delete else mine)
    writes = shared_writes(actor, opened, asked.kind)
    if asked.run_id is not None:
        own, writes = own.filter(run_id=asked.run_id), writes.filter(run_id=asked.run_id)
    return [*kept.private(own), *kept.shared(writes)]


def log_look(actor: Actor, opened: Opened, rows: list[Kept]) -> None:
    """Write down who looks at which rows, before they are shown."""
    readlog.record(actor, surface=SURFACE, workarea_id=opened.space.pk, returned=[str(row.id) for row in rows])


def private_rows(opened: Opened, only: Whose | None, kind: Kind | None) -> QuerySet[AgentMemory]:
    """Private rows of an opened agent: everybody's, or those of one scope; none where that is the shared one."""
    rows = AgentMemory.objects.filter(agent=opened.agent, space=opened.space, scope=Scope.ACTOR)
    if only is not None:
        rows = rows.filter(actor_id=only.actor_id) if only.scope is Scope.ACTOR else rows.none()
        rows = rows.filter(actor__kind=only.kind) if only.kind is not None else rows
    return rows if kind is None else rows.filter(key__isnull=kind is Kind.MEMORY)


def shared_writes(actor: Actor, opened: Opened, kind: Kind | None) -> QuerySet[SharedWrite]:
    """What is shared, and what the actor wrote to be shared and nobody judged yet."""
    served = kept.served_writes(opened.agent.pk, opened.space.pk)
    held = kept.pending_writes(opened.agent.pk, opened.space.pk)
    writes = served | held.filter(artifact__author_principal_id=actor.principal_id)
    return writes if kind is None else writes.filter(memory__key__isnull=kind is Kind.MEMORY)


def slots(rows: list[Kept]) -> list[Kept]:
    """The named slots among rows, the checkpoint one of them; written last first."""
    return sorted((row for row in rows if row.key is not None), key=lambda row: (row.updated_at, row.id), reverse=True)


def memories(rows: list[Kept]) -> list[Kept]:
    """The archive notes and memos among rows; oldest first."""
    return sorted((row for row in rows if row.key is None), key=lambda row: (row.created_at, row.id))


def _space(actor: Actor, place: Place) -> Workarea | None:
    if place.org != actor.tenant_id and not Tenant.objects.filter(pk=actor.tenant_id, slug=place.org).exists():
        return None
    found = access.find(actor, place.space)
    return found if found is not None and found.pk == place.space else None  # an id; a path is none


def _agent(actor: Actor, place: Place) -> Agent | None:
    parts = split_reference(place.agent)
    if parts is None:
        return None
    return Agent.objects.filter(tenant_id=actor.tenant_id, scope=parts[0], name=parts[1]).first()


def _slot(row: Kept) -> dict[str, Any]:
    return {**_common(row), "key": row.key, "updatedAt": rfc3339_seconds(row.updated_at)}


def _memory(row: Kept) -> dict[str, Any]:
    return {**_common(row), "pinned": row.pinned}


def _common(row: Kept) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": row.id,
        "content": row.content,
        "scope": str(row.scope),
        "state": row.state,
        "runId": row.run_id,
        "actor_type": row.actor_kind or str(Scope.SHARED),
        "actor_id": row.actor_id,
        "createdAt": rfc3339_seconds(row.created_at),
    }
    if row.self_signed:
        body["self_signed"] = True
    return body

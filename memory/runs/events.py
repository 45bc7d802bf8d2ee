"""Events of agent state: ids, numbers and commitments; never a key, a note or a slot's content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oml.journal.registry import Event, event


@event("agent.registered", subject=("agent_id",))
@dataclass(frozen=True, kw_only=True)
class AgentRegistered(Event):
    agent_id: str
    manifest_digest: str


@event("agent.changed", subject=("agent_id",))
@dataclass(frozen=True, kw_only=True)
class AgentChanged(Event):
    agent_id: str
    manifest_digest: str


@event("run.started", subject=("run_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """The run executes as the entry's own principal."""

    run_id: str
    agent_id: str


@event("run.finished", subject=("run_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class RunFinished(Event):
    run_id: str
    status: str


@event("run.cancelled", subject=("run_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class RunCancelled(Event):
    """Its actor was removed while it ran; ``actor_principal`` is whom it executed as."""

    run_id: str
    actor_principal: str

    @classmethod
    def owner(cls, _principal_id: str, payload: dict[str, Any]) -> str | None:
        """Whose run it was, not who removed them."""
        owner: str = payload["actor_principal"]
        return owner


@dataclass(frozen=True, kw_only=True)
class Written(Event):
    """``content_commitment`` for private content; of shared content the artifact's own entry carries it."""

    run_id: str
    memory_id: int
    scope: str
    artifact_id: str | None = None
    content_commitment: str | None = None


@event("state.pinned", subject=("run_id", "memory_id"), owned=True)
@dataclass(frozen=True, kw_only=True)
class Pinned(Written):
    pass


@event("state.noted", subject=("run_id", "memory_id"), owned=True)
@dataclass(frozen=True, kw_only=True)
class Noted(Written):
    pass


@event("state.deleted", subject=("agent_id",), owned=True)
@dataclass(frozen=True, kw_only=True)
class StateDeleted(Event):
    """Rows of one scope; ``actor_principal`` whose they were, null where they were shared."""

    agent_id: str
    scope: str
    actor_principal: str | None
    memory_ids: tuple[int, ...]
    checkpoint: bool = False

    @classmethod
    def owner(cls, _principal_id: str, payload: dict[str, Any]) -> str | None:
        """Whose rows they were, whoever deleted them; what was shared ends with a ``lifecycle.demote``."""
        owner: str | None = payload["actor_principal"]
        return owner

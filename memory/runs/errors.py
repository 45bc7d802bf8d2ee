"""Refusals of agent state."""

from __future__ import annotations

from memory.runs.rules import MAX_NOTES
from oml.core.errors import Forbidden, OmlError
from workareas.errors import AccessNotFound


class MemoryCap(OmlError):
    code = "memory.cap"
    status = 409
    rule = "at most 100 archive notes are kept per agent, space and scope; none is pruned"

    def __init__(self) -> None:
        super().__init__(
            f"the note was not kept: the archive of this scope holds {MAX_NOTES} notes already, shared ones that await "
            "review among them. Notes are deleted in the console, and those that wait are withdrawn by their author or "
            "judged; what must be carried over now fits into a pinned slot"
        )


class MemoryTooLarge(OmlError):
    code = "memory.too_large"
    status = 413
    rule = "a note has at most 2000 characters and a slot 65,536 bytes of JSON; nothing is cut"


class RunOver(Forbidden):
    rule = "a run token works while its run is running and its actor is there"

    def __init__(self, message: str = "this run is not running any more") -> None:
        super().__init__(message)


class RunNotFound(AccessNotFound):
    rule = "a run belongs to the identity that it executes as; unknown and another's are indistinguishable"

    def __init__(self, reference: str) -> None:
        super().__init__(f"no run {reference} for this key")


class AgentNotFound(AccessNotFound):
    rule = "agents are named @scope/name inside a tenant; unknown and foreign are indistinguishable"

    def __init__(self, reference: str) -> None:
        super().__init__(f"no agent {reference} for this key")


class StateNotFound(AccessNotFound):
    rule = "agent state is seen in its space; an unknown and an unseen agent, space or tenant are indistinguishable"

    def __init__(self, agent: str, space: str) -> None:
        super().__init__(f"no agent {agent} in a space {space} of yours")


class StateRowNotFound(AccessNotFound):
    rule = "ids belong to one agent, one space and one kind; an unknown and an unseen row are indistinguishable"

    def __init__(self, kind: str, reference: str) -> None:
        super().__init__(f"no {kind} {reference} of this agent in this space")


class PersistenceForbidden(Forbidden):
    rule = "agent state is inspected by signed-in humans with a role in its space; no API key can carry that"

    @classmethod
    def of_a_key(cls) -> PersistenceForbidden:
        return cls("an API key cannot carry the persistence permissions; sign in instead")

    @classmethod
    def missing(cls, permission: str, space: str) -> PersistenceForbidden:
        return cls(f"you hold no {permission} in space {space}")

    @classmethod
    def nowhere(cls) -> PersistenceForbidden:
        return cls("you hold no persistence:read in any space")

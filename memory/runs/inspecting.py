"""What somebody who inspects agent state asks for, as values, and how the words they filter by are read. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memory.runs.rules import Scope
from oml.core.errors import Validation


class Kind(StrEnum):
    """A named slot, or what has no key: archive notes and memos."""

    PINNED = "pinned"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Place:
    """An agent in a space, each exactly as the caller sent it.

    Attributes:
        org: the tenant's id or its short name.
        space: a workarea's id.
        agent: ``scope/name``, with or without the ``@``.
    """

    org: str
    space: str
    agent: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Which of the rows."""

    kind: Kind | None = None
    actor_type: str | None = None
    actor_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Whose:
    """One scope: what is shared (``actor_id`` None), or what one identity keeps for itself."""

    actor_id: str | None
    kind: str | None = None

    @property
    def scope(self) -> Scope:
        return Scope.SHARED if self.actor_id is None else Scope.ACTOR


#: A principal's kinds, each of which the principal must be.
_KINDS = ("agent", "human", "service")
#: Words that say no more than "an identity": the seed's own, and those of where it comes from.
_ANY = ("actor", "user", "end_user")


def whose(asked: Asked) -> Whose | None:
    """The scope that ``actor_type`` and ``actor_id`` select; None where neither was sent.

    Raises:
        Validation: ``request.validation``; a word that is none of these, or half a pair.
    """
    if asked.actor_type is None:
        if asked.actor_id is not None:
            raise Validation("actor_id needs an actor_type beside it", param="actor_type")
        return None
    if asked.actor_type == Scope.SHARED:
        if asked.actor_id is not None:
            raise Validation("actor_type shared has no actor_id", param="actor_id")
        return Whose(None)
    if asked.actor_type not in (*_KINDS, *_ANY):
        raise Validation(f"actor_type is one of {', '.join((Scope.SHARED, *_KINDS, *_ANY))}", param="actor_type")
    if asked.actor_id is None:
        raise Validation(f"actor_type {asked.actor_type} needs an actor_id beside it", param="actor_id")
    return Whose(asked.actor_id, asked.actor_type if asked.actor_type in _KINDS else None)

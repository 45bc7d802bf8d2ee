"""The closed state machine of an artifact. Nothing else assigns a state (architecture: next state). Pure."""

from __future__ import annotations

from enum import StrEnum

from oml.core.machine import Machine


class State(StrEnum):
    HELD = "held"
    PROMOTED = "promoted"
    DEMOTED = "demoted"
    REJECTED = "rejected"
    ERASED = "erased"


class Act(StrEnum):
    PROMOTE = "promote"
    REJECT = "reject"
    DEMOTE = "demote"
    ERASE = "erase"


class Cause(StrEnum):
    """Recorded beside rejected and demoted; my_work shows it, never a reviewer or a reason."""

    VERDICT = "verdict"
    SCAN = "scan"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ADMIN = "admin"
    SUPERSEDED = "superseded"


class Kind(StrEnum):
    MEMORY = "memory"
    DERIVED_FACT = "derived_fact"
    STEERING = "steering"


class Surface(StrEnum):
    """For whom an artifact is, its ``channel``: readers of the subtree, or the runs of one agent in one space.

    A reviewer of an agent's note or slot ratified "every actor of this agent in this space" and no more, so recall,
    graph, artifact read and tail know claims alone.
    """

    CLAIM = "claim"
    AGENT_NOTE = "agent_note"
    AGENT_SLOT = "agent_slot"


class SubmitVerb(StrEnum):
    REMEMBER = "remember"
    LEARN = "learn"


class ScanState(StrEnum):
    """Outcome over the whole chain; only clean and flagged may be served (fail closed)."""

    PENDING = "pending"
    CLEAN = "clean"
    FLAGGED = "flagged"
    BLOCKED = "blocked"
    FAILED = "failed"


CLAIM: Machine[State, Act] = Machine(
    {
        (State.HELD, Act.PROMOTE): State.PROMOTED,
        (State.HELD, Act.REJECT): State.REJECTED,
        (State.PROMOTED, Act.DEMOTE): State.DEMOTED,
        (State.HELD, Act.ERASE): State.ERASED,
        (State.PROMOTED, Act.ERASE): State.ERASED,
        (State.DEMOTED, Act.ERASE): State.ERASED,
        (State.REJECTED, Act.ERASE): State.ERASED,
    }
)

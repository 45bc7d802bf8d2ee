"""Limits, grammars and closed words of agent state (seed: agent-memory). Pure."""

from __future__ import annotations

import re
from enum import StrEnum

from oml.core.machine import Machine

MAX_NOTE = 2_000
MAX_NOTES = 100
MAX_SLOT_BYTES = 65_536
MAX_MANIFEST_BYTES = 65_536
MAX_RESULT_BYTES = 65_536
RECALL_DEFAULT, RECALL_MOST = 10, 50
HISTORY_DEFAULT, HISTORY_MOST = 10, 50
MAX_QUERY = 8_192
MAX_DEPTH = 64

CHECKPOINT = "checkpoint"
SLOT_KEY = re.compile(r"[a-z0-9_]{1,64}\Z")
AGENT_PART = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")


class Scope(StrEnum):
    """Who reads what a run wrote: the identity that it executed as, or every actor of the agent in the space."""

    ACTOR = "actor"
    SHARED = "shared"


class Status(StrEnum):
    """What became of a run."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (Status.SUCCESS, Status.FAILED, Status.CANCELLED)

#: A run ends once, as whoever ran it says.
RUN: Machine[Status, Status] = Machine({(Status.RUNNING, ended): ended for ended in ENDED})


class RuntimeTool(StrEnum):
    """The opt-in tools that a manifest names; what else it lists belongs to whoever runs the agent."""

    NOTE = "note"
    PIN = "pin"


def agent_reference(scope: str, name: str) -> str:
    """An agent as people write it: ``@scope/name``."""
    return f"@{scope}/{name}"


def split_reference(reference: str) -> tuple[str, str] | None:
    """Scope and name of ``@scope/name``, with or without the ``@``; None when it is not one."""
    scope, slash, name = reference.removeprefix("@").partition("/")
    if not slash or not AGENT_PART.match(scope) or not AGENT_PART.match(name):
        return None
    return scope, name

"""What an artifact is for, when it is no claim: which agent's later runs would meet it, and as what (R3).

Only where it belongs is said here; its content comes with a serve, like any other.
"""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact
from memory.claims.states import Surface

#: Join these, and :func:`agent_state` asks the database nothing.
JOINS = "shared_write__memory__agent"


def agent_state(artifact: Artifact) -> dict[str, Any] | None:
    """The agent, the slot's key (none of a note) and the run of a shared write; None for a claim."""
    if artifact.channel == Surface.CLAIM:
        return None
    return artifact.shared_write.about()

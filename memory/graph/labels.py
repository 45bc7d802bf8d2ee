"""What an edge may say and which states it goes through. Pure (design: access, Crew, edges; admission, Claim edges)."""

from __future__ import annotations

from enum import StrEnum

from oml.core.machine import Machine


class EdgeKind(StrEnum):
    WORKAREA = "workarea"
    CLAIM = "claim"


class EdgeState(StrEnum):
    PENDING = "pending"
    RATIFIED = "ratified"
    REJECTED = "rejected"


class EdgeAct(StrEnum):
    RATIFY = "ratify"
    REJECT = "reject"


EDGE: Machine[EdgeState, EdgeAct] = Machine(
    {
        (EdgeState.PENDING, EdgeAct.RATIFY): EdgeState.RATIFIED,
        (EdgeState.PENDING, EdgeAct.REJECT): EdgeState.REJECTED,
    }
)

#: Closed for workareas by the seed; for claims the design leaves the set open and this is its default.
LABELS: dict[EdgeKind, tuple[str, ...]] = {
    EdgeKind.WORKAREA: ("relates_to", "continues", "derived_from", "mirrors"),
    EdgeKind.CLAIM: ("supports", "contradicts", "refines", "duplicates", "relates_to"),
}
PREFIX: dict[EdgeKind, str] = {EdgeKind.WORKAREA: "we", EdgeKind.CLAIM: "ce"}
MAX_NOTE = 2000

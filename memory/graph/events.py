"""Events of edges; in the tail only where every endpoint is readable. The proposer's note never enters the journal."""

from __future__ import annotations

from dataclasses import dataclass

from oml.journal.registry import Event, event


@dataclass(frozen=True, kw_only=True)
class EdgeEvent(Event):
    edge_id: str
    label: str
    from_id: str
    to_id: str


@dataclass(frozen=True, kw_only=True)
class Proposed(EdgeEvent):
    note_commitment: str | None


@event("workarea.relate_proposed", subject=("edge_id",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaEdgeProposed(Proposed):
    pass


@event("claim.relate_proposed", subject=("edge_id",), tail=True)
@dataclass(frozen=True, kw_only=True)
class ClaimEdgeProposed(Proposed):
    pass


@event("workarea.relate_ratified", subject=("edge_id",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaEdgeRatified(EdgeEvent):
    pass


@event("claim.relate_ratified", subject=("edge_id",), tail=True)
@dataclass(frozen=True, kw_only=True)
class ClaimEdgeRatified(EdgeEvent):
    pass


@event("workarea.relate_rejected", subject=("edge_id",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaEdgeRejected(EdgeEvent):
    pass


@event("claim.relate_rejected", subject=("edge_id",), tail=True)
@dataclass(frozen=True, kw_only=True)
class ClaimEdgeRejected(EdgeEvent):
    pass

"""Who may judge an edge, and whether it can be judged at all: asked at serve, at verdict and by every page (D7, R2).

One telling for the ceremony and for what is shown around it. What must never happen here: an answer that tells an
edge that this reviewer cannot see from one that does not exist (R3).
"""

from __future__ import annotations

from memory.claims.states import State
from memory.graph.labels import EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from review.errors import ProposerIsRatifier, Stale
from review.hands import proposer_of, reviewer_of
from workareas.access import Access
from workareas.errors import AccessForbidden, AccessNotFound
from workareas.selectors.fences import inside_fence
from workareas.verbs import Capability

ENDS_GONE = "an endpoint of this edge is no longer promoted"


def require_reviewable(actor: Actor, known: Access, row: Edge | None, message: str) -> Edge:
    """The edge, for a reviewer of both of its ends.

    Args:
        actor: whose role could review.
        known: the actor's rules.
        row: the edge with its ends; None where the tenant has none of that id.
        message: what is said of an edge that the actor cannot see, whatever the cause (R3).

    Raises:
        AccessNotFound: ``access.not_found`` with ``message``.
        AccessForbidden: ``access.forbidden``; an edge that the graph shows this actor, not theirs to judge.
    """
    if row is None or not inside_fence(actor, row.simulation_id):
        raise AccessNotFound(message)
    held = [known.effective(node.path) for node in (row.from_workarea, row.to_workarea)]
    if all(Capability.REVIEW in capabilities for capabilities in held):
        return row
    if all(Capability.READER in capabilities for capabilities in held) and _shown(row):
        raise AccessForbidden("this key holds no review access on both endpoints of this edge")
    raise AccessNotFound(message)


def _shown(row: Edge) -> bool:
    """Whether readers of both ends are shown the edge (shapes: graph, workarea_info)."""
    return row.state != EdgeState.REJECTED and ends_promoted(row)


def ends_promoted(row: Edge) -> bool:
    """Whether every claim at an end is still what was proposed to be linked; workareas always are."""
    return all(end is None or end.state == State.PROMOTED for end in (row.from_artifact, row.to_artifact))


def check_open(row: Edge) -> None:
    """Whether the edge still awaits a decision.

    Raises:
        Stale: ``review.stale``; decided, or an endpoint is no longer promoted.
    """
    if row.state != EdgeState.PENDING:
        raise Stale("this edge is no longer pending")
    if not ends_promoted(row):
        raise Stale(ENDS_GONE)


def check_ratifier(actor: Actor, row: Edge) -> None:
    """R2 for edges: the ratifier is not the proposer's hand, by key, by principal, or by who issued the key.

    Raises:
        ProposerIsRatifier: ``review.author``.
    """
    if reviewer_of(actor).same_as(proposer_of(row)):
        raise ProposerIsRatifier

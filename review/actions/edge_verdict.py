"""Decide a pending edge: ratify or reject, by the serve ceremony (D14, R2)."""

from __future__ import annotations

from typing import Any

from memory.graph.events import (
    ClaimEdgeRatified,
    ClaimEdgeRejected,
    EdgeEvent,
    WorkareaEdgeRatified,
    WorkareaEdgeRejected,
)
from memory.graph.labels import EDGE, EdgeAct, EdgeKind, EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import now
from oml.journal.append import append, journalled
from review import ceremony
from review.actions.edge_serve import edge_digest, find_edge
from review.actions.verdict import VerdictCommand, reason_code_of
from review.edge_standing import check_open, check_ratifier, require_reviewable
from review.errors import Stale
from review.models import EdgeServe, EdgeVerdict
from review.policy import VerdictWord
from review.refusals import refusals_journalled, served_to_anybody
from review.signed import signed_verdict
from workareas import access
from workareas.errors import AccessNotFound, Frozen
from workareas.ladder import Status, is_frozen
from workareas.selectors.bans import refuse_banned
from workareas.selectors.policies import effective_policy
from workareas.verbs import Verb

_OUTCOME: dict[tuple[EdgeKind, VerdictWord], type[EdgeEvent]] = {
    (EdgeKind.WORKAREA, VerdictWord.RATIFY): WorkareaEdgeRatified,
    (EdgeKind.WORKAREA, VerdictWord.REJECT): WorkareaEdgeRejected,
    (EdgeKind.CLAIM, VerdictWord.RATIFY): ClaimEdgeRatified,
    (EdgeKind.CLAIM, VerdictWord.REJECT): ClaimEdgeRejected,
}
_ACT = {VerdictWord.RATIFY: EdgeAct.RATIFY, VerdictWord.REJECT: EdgeAct.REJECT}


@refusals_journalled(served_to_anybody)
@journalled
def give_edge_verdict(actor: Actor, *, command: VerdictCommand) -> dict[str, Any]:
    """Consume an edge's serve with a verdict; one verdict decides an edge.

    Args:
        actor: the reviewer the serve was made for.
        command: verdict, serve and the digest of what was shown.

    Returns:
        ``serve_id, verdict, edge_id, kind, label, state``.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``; another reviewer's serve does not exist.
        ServeConsumed, ServeExpired, Stale, ProposerIsRatifier: ``review.*``.
        Frozen: ``workarea.frozen``; the *from* node is validated.
        Banned: ``admission.banned``; the proposer or an endpoint was banned since the proposal.
        Validation: ``request.validation``; a rejection without a reason.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    unknown = f"no serve {command.serve_id} for this key"
    mine = EdgeServe.objects.filter(pk=command.serve_id, tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
    edge_id = None if "\x00" in command.serve_id else mine.values_list("edge_id", flat=True).first()
    if edge_id is None:
        raise AccessNotFound(unknown)
    known = access.load(actor)
    edge = require_reviewable(actor, known, find_edge(actor, edge_id), unknown)
    serve = EdgeServe.objects.select_for_update(no_key=True).get(pk=command.serve_id)
    ceremony.check_fresh(serve)
    check_open(edge)
    if not serve.content_digest == command.content_digest == edge_digest(edge):
        raise Stale("the edge or one of its endpoints changed since it was served")
    check_ratifier(actor, edge)
    if command.verdict is VerdictWord.RATIFY:
        _check_admissible(edge)
    policy = effective_policy(edge.from_workarea)
    code = reason_code_of(command, reason_required=policy.reason_required)
    serve.consumed_at = now()
    serve.save(update_fields=["consumed_at"])
    columns, judged = signed_verdict(actor, serve, edge, word=command.verdict, code=code, reason=command.reason)
    EdgeVerdict.objects.create(**columns, edge=edge)
    edge.state = EDGE.next(EdgeState(edge.state), _ACT[command.verdict])
    edge.decided_at = now()
    edge.save(update_fields=["state", "decided_at"])
    outcome = _OUTCOME[EdgeKind(edge.kind), command.verdict](**edge.about())
    append(actor, [judged, outcome], epoch=known.epoch)
    return {
        "serve_id": serve.pk,
        "verdict": str(command.verdict),
        "edge_id": edge.pk,
        "kind": str(edge.kind),
        "label": edge.label,
        "state": str(edge.state),
    }


def _check_admissible(edge: Edge) -> None:
    """What would refuse the proposal today refuses its ratification."""
    if is_frozen(Status(edge.from_workarea.status)):
        raise Frozen(edge.from_workarea_id)
    refuse_banned(
        edge.tenant_id,
        key_id=edge.proposer_key_id,
        principal_id=edge.proposer_principal_id,
        sources=edge.claim_ids,
    )

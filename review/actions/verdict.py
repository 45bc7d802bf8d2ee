"""Give a verdict: the second half of the ceremony, and the only road to promotion (D14, R2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory.claims.models import Artifact
from memory.claims.states import State
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from review import ceremony
from review.actions.serve import expire_overdue
from review.models import Serve, Verdict
from review.policy import ReasonCode, Standing, VerdictWord
from review.refusals import refusals_journalled, served_to_anybody
from review.signed import signed_verdict
from workareas import access
from workareas.errors import AccessNotFound
from workareas.policy import Policy
from workareas.selectors.fences import inside_fence
from workareas.selectors.policies import effective_policy
from workareas.verbs import Verb


@dataclass(frozen=True, slots=True)
class VerdictCommand:
    """A verdict as sent (design: shapes, Review)."""

    serve_id: str
    content_digest: str
    verdict: VerdictWord
    reason_code: ReasonCode | None = None
    reason: str = ""


@refusals_journalled(served_to_anybody)
def give_verdict(actor: Actor, *, command: VerdictCommand) -> dict[str, Any]:
    """Consume a serve with a verdict; on the last needed ratification the claim is promoted in this transaction.

    Args:
        actor: the reviewer the serve was made for.
        command: verdict, serve and the digest of what was shown.

    Returns:
        ``serve_id, verdict, artifact_id, state, ratified, required`` and ``promoted_at`` once promoted.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``; another reviewer's serve does not exist.
        ServeConsumed, ServeExpired, Stale, ReviewerIsAuthor, ReviewerIsLineageAuthor: ``review.*``.
        Frozen: ``workarea.frozen``.
        Validation: ``request.validation``; a rejection without a reason.
    """
    access.require_role(actor, Verb.REVIEW_VERDICT)
    mine = Serve.objects.filter(pk=command.serve_id, tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
    artifact = None if "\x00" in command.serve_id else mine.values_list("artifact_id", flat=True).first()
    if artifact is None:
        raise AccessNotFound(f"no serve {command.serve_id} for this key")
    expire_overdue(actor.tenant_id, artifact)
    return _give(actor, command, artifact)


@journalled
def _give(actor: Actor, command: VerdictCommand, artifact_id: str) -> dict[str, Any]:
    known = access.load(actor)
    # Item before serve, everywhere in this order, so that two verdicts wait for each other and never deadlock.
    item = (
        Artifact.objects.select_for_update(of=("self",), no_key=True)
        .select_related("workarea__tenant")
        .get(pk=artifact_id)
    )
    serve = Serve.objects.select_for_update(no_key=True).get(pk=command.serve_id)
    decision = known.decide(Verb.REVIEW_VERDICT, item.workarea, item.workarea_id)
    if isinstance(decision.refusal, AccessNotFound):  # it names what was sent, a serve, and not the item's node
        raise AccessNotFound(f"no serve {command.serve_id} for this key")
    if not inside_fence(actor, item.simulation_id):
        raise AccessNotFound(f"no serve {command.serve_id} for this key")
    if decision.refusal is not None:
        raise decision.refusal
    policy = effective_policy(item.workarea)
    stands, closure = ceremony.consume_serve(serve, item, actor, policy, presented_digest=command.content_digest)
    code = reason_code_of(command, reason_required=policy.reason_required)
    self_signed = stands is Standing.SELF_SIGNED
    columns, judged = signed_verdict(
        actor, serve, item, word=command.verdict, code=code, reason=command.reason, self_signed=self_signed
    )
    verdict = Verdict.objects.create(**columns, artifact=item, self_signed=self_signed)
    events: list[Event] = [judged, *ceremony.carry_out(verdict, item, policy, closure)]
    append(actor, events, epoch=known.epoch)
    return _answer(verdict, item, policy)


def reason_code_of(command: VerdictCommand, *, reason_required: bool) -> ReasonCode | None:
    """The code a verdict is stored under.

    Raises:
        Validation: ``request.validation``; a rejection without the reason it needs.
    """
    if command.verdict is VerdictWord.RATIFY:
        return command.reason_code
    if reason_required and not command.reason.strip():
        raise Validation("reason is required here: say in words why this is rejected", param="reason")
    if command.reason_code is None and not command.reason.strip():
        raise Validation("a rejection needs a reason_code or a reason", param="reason_code")
    return command.reason_code or ReasonCode.OTHER


def _answer(verdict: Verdict, item: Artifact, policy: Policy) -> dict[str, Any]:
    body: dict[str, Any] = {
        "serve_id": verdict.serve_id,
        "verdict": str(verdict.verdict),
        "artifact_id": item.pk,
        "claim_key": item.claim_key,
        "version": item.version,
        "state": str(item.state),
        "ratified": item.verdicts.filter(verdict=VerdictWord.RATIFY).count(),
        "required": policy.min_verdicts,
    }
    if item.state == State.PROMOTED and item.promoted_at is not None:
        body["promoted_at"] = rfc3339_seconds(item.promoted_at)
    if verdict.self_signed:
        body["self_signed"] = True
    return body

"""Open an item for review: the first half of the ceremony (D14)."""

from __future__ import annotations

from datetime import timedelta

from memory.claims.actions.end import expire_one
from memory.claims.models import Artifact
from memory.claims.states import State
from oml.core.actor import Actor
from oml.core.clock import now, rfc3339
from oml.journal.append import append, journalled
from review import ceremony
from review.events import Served
from review.models import Serve
from review.refusals import item_asked_for, refusals_journalled
from review.selectors.resubmissions import rejected_before
from workareas import access
from workareas.errors import AccessNotFound
from workareas.policy import Policy
from workareas.selectors.fences import inside_fence
from workareas.selectors.policies import effective_policy
from workareas.verbs import CAPABILITY_OF, Capability, Verb


@refusals_journalled(item_asked_for)
def serve_item(actor: Actor, *, artifact: str) -> Serve:
    """Serve one held item to a reviewer: single use, expiring, bound to what it shows.

    Args:
        actor: a key with review access on the item's workarea.
        artifact: the id as sent.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; unknown, foreign or outside this reviewer's nodes, one body.
        Stale, ScanPending, ReviewerIsAuthor, ReviewerIsLineageAuthor: ``review.*``.
    """
    access.require_role(actor, Verb.REVIEW_SERVE)
    if "\x00" in artifact:
        raise AccessNotFound.artifact(artifact)
    expire_overdue(actor.tenant_id, artifact)
    return _serve(actor, artifact)


def expire_overdue(tenant_id: str, artifact: str) -> None:
    """The lazy half of expiry: an overdue item ends before anybody looks at it."""
    overdue = Artifact.objects.filter(pk=artifact, tenant_id=tenant_id, state=State.HELD, held_expires_at__lte=now())
    if overdue.exists():
        expire_one(artifact)


@journalled
def _serve(actor: Actor, artifact: str) -> Serve:
    known = access.load(actor)
    item = (
        Artifact.objects.select_for_update(of=("self",), no_key=True)
        .select_related("workarea__tenant")
        .filter(pk=artifact, tenant_id=actor.tenant_id)
        .first()
    )
    # Whoever may not review there learns nothing, not even that the item exists (R3).
    if item is None or CAPABILITY_OF[Verb.REVIEW_SERVE] not in known.effective(item.workarea.path):
        raise AccessNotFound.artifact(artifact)
    if not inside_fence(actor, item.simulation_id):
        raise AccessNotFound.artifact(artifact)
    ceremony.check_held(item)
    policy = effective_policy(item.workarea)
    # R2 before the scan: whoever may never judge the item is not told to come back for it.
    ceremony.check_standing(actor, item, policy)
    ceremony.check_not_judged(actor, item)
    ceremony.check_scanned(item)
    earlier = rejected_before(item, reviews=known.scope(Capability.REVIEW))
    serve, served = new_serve(actor, item, policy, rejected_before=tuple(one["artifact_id"] for one in earlier))
    append(actor, [served], epoch=known.epoch)
    return serve


def new_serve(
    actor: Actor, item: Artifact, policy: Policy, *, rejected_before: tuple[str, ...] = ()
) -> tuple[Serve, Served]:
    """A serve of what the item is now, and the event that the caller appends; every check has been made.

    Args:
        item: locked, with its workarea loaded.
        rejected_before: artifacts with this text that were rejected, as far as the reviewer may know of them.
    """
    serve = Serve.objects.create(
        tenant_id=actor.tenant_id,
        artifact=item,
        reviewer_key_id=actor.key_id,
        reviewer_principal_id=actor.principal_id,
        content_digest=ceremony.content_digest(item, policy),
        expires_at=now() + timedelta(seconds=policy.serve_ttl_s),
    )
    served = Served(
        workarea_id=item.workarea_id,
        simulation_id=item.simulation_id,
        item_id=item.pk,
        serve_id=serve.pk,
        content_digest=serve.content_digest,
        expires_at=rfc3339(serve.expires_at),
        rejected_before=rejected_before,
    )
    return serve, served

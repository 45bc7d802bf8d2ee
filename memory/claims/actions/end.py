"""A claim ends: a held one without promotion (by verdict, by scan, by expiry), a promoted one by demotion.

Each end has its cause and its event.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.claims.events import Demoted, Expired, Rejected
from memory.claims.models import Artifact
from memory.claims.states import CLAIM, Act, Cause, State, Surface
from memory.recall import index
from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import reasons

SYSTEM = "system"


def reject(artifact: Artifact, *, cause: Cause) -> Event:
    """Reject a held artifact whose row the caller has locked; returns the event for the caller to append.

    Raises:
        IllegalTransition: the artifact is not held.
    """
    (event,) = reject_all([artifact], cause=cause)
    return event


def reject_all(artifacts: Sequence[Artifact], *, cause: Cause) -> list[Event]:
    """:func:`reject` for many, in one statement where none of them is a claim."""
    _end(artifacts, Act.REJECT, cause)
    if cause is Cause.EXPIRED:
        return [Expired(**artifact.about()) for artifact in artifacts]
    return [Rejected(**artifact.about(), cause=cause) for artifact in artifacts]


def demote_all(actor: Actor, artifacts: Sequence[Artifact], *, reason: str | None = None) -> list[Event]:
    """Demote promoted artifacts whose rows the caller has locked, and whose right to it the caller has seen to.

    Args:
        actor: who demotes.
        artifacts: all promoted.
        reason: kept in words beside the journal, for each.

    Returns:
        The events for the caller to append.

    Raises:
        IllegalTransition: one of them is not promoted.
    """
    _end(artifacts, Act.DEMOTE, Cause.ADMIN)
    return [
        Demoted(
            **artifact.about(),
            cause=Cause.ADMIN,
            reason_commitment=reasons.keep(actor, subject_id=artifact.pk, act="demote", text=reason),
        )
        for artifact in artifacts
    ]


def _end(artifacts: Sequence[Artifact], act: Act, cause: Cause) -> None:
    for artifact in artifacts:
        artifact.state = CLAIM.next(State(artifact.state), act)
        artifact.cause = cause
        artifact.ended_at = now()
    Artifact.objects.bulk_update(artifacts, ["state", "cause", "ended_at"])
    for artifact in artifacts:
        if artifact.channel == Surface.CLAIM:  # recall knows nothing else
            index.withdraw(artifact.pk)


def system_actor(tenant_id: str) -> Actor:
    """The actor of acts that nobody asked for: expiry and scans. It holds no key and no grant."""
    return Actor(tenant_id, SYSTEM, SYSTEM, Role.OPERATOR, Channel.SYSTEM)


def expire_held(*, limit: int = 200) -> int:
    """Reject what nobody reviewed in time (the gate fails closed); returns how many.

    Each item is a transaction of its own, so one that is being judged at this moment holds up no other.
    """
    overdue = Artifact.objects.filter(state=State.HELD, held_expires_at__lte=now()).order_by("held_expires_at")
    return sum(expire_one(artifact_id) for artifact_id in overdue.values_list("pk", flat=True)[:limit])


@journalled
def expire_one(artifact_id: str) -> bool:
    """Expire one artifact if it is still held and overdue; a locked one is left to whoever holds it."""
    artifact = (
        Artifact.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
        .filter(pk=artifact_id, state=State.HELD, held_expires_at__lte=now())
        .first()
    )
    if artifact is None:
        return False
    append(system_actor(artifact.tenant_id), [reject(artifact, cause=Cause.EXPIRED)], epoch=None)
    return True

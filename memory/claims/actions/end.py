"""A held claim ends without promotion: by verdict, by scan, by expiry. Each end has its cause and its event."""

from __future__ import annotations

from memory.claims.events import Expired, Rejected
from memory.claims.models import Artifact
from memory.claims.states import CLAIM, Act, Cause, State
from memory.recall import index
from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.journal.append import append, journalled
from oml.journal.registry import Event

SYSTEM = "system"


def reject(artifact: Artifact, *, cause: Cause) -> Event:
    """Reject a held artifact whose row the caller has locked; returns the event for the caller to append.

    Raises:
        IllegalTransition: the artifact is not held.
    """
    artifact.state = CLAIM.next(State(artifact.state), Act.REJECT)
    artifact.cause = cause
    artifact.ended_at = now()
    artifact.save(update_fields=["state", "cause", "ended_at"])
    index.withdraw(artifact.pk)
    return Expired(**artifact.about()) if cause is Cause.EXPIRED else Rejected(**artifact.about(), cause=cause)


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

"""Publish: the only way a claim becomes readable by others. Called by ``review.ceremony`` alone (D14).

It runs inside the last verdict's transaction and returns the events, so that the ceremony appends them last.
"""

from __future__ import annotations

from memory.claims.events import Demoted, Promoted
from memory.claims.lineage import Ancestor
from memory.claims.models import Artifact
from memory.claims.states import CLAIM, Act, Cause, State, Surface
from memory.recall import index
from oml.core.clock import now
from oml.journal.registry import Event


def admit(artifact: Artifact, *, closure: list[Ancestor], self_signed: bool) -> list[Event]:
    """Promote a held artifact whose row the caller has locked.

    Args:
        artifact: locked, held, judged.
        closure: its lineage closure, computed in this transaction.
        self_signed: whether the author's own principal ratified it (relaxed development).

    Returns:
        The events to append, in order.

    Raises:
        IllegalTransition: the artifact is not held; the ceremony checks before.
    """
    artifact.state = CLAIM.next(State(artifact.state), Act.PROMOTE)
    artifact.promoted_at = now()
    artifact.self_signed = self_signed
    artifact.closure = [ancestor.artifact_id for ancestor in closure]
    artifact.save(update_fields=["state", "promoted_at", "self_signed", "closure"])
    if artifact.channel == Surface.CLAIM:
        index.publish(artifact)
    events: list[Event] = [
        Promoted(
            **artifact.about(),
            kind=artifact.kind,
            self_signed=self_signed,
            closure_size=len(closure),
        )
    ]
    events += _supersede_previous(artifact)
    return events


def _supersede_previous(artifact: Artifact) -> list[Event]:
    """Demote what was served under the same claim key: the last version that is ratified is the one served.

    A claim has at most one version before it; of a slot that agents share, several may have been proposed side by side.
    """
    if artifact.previous_id is None and artifact.channel == Surface.CLAIM:
        return []
    before = Artifact.objects.select_for_update(no_key=True).filter(
        workarea_id=artifact.workarea_id,
        simulation_id=artifact.simulation_id,
        claim_key=artifact.claim_key,
        channel=artifact.channel,
        state=State.PROMOTED,
    )
    return [_superseded(previous, artifact) for previous in before.exclude(pk=artifact.pk).order_by("version")]


def _superseded(previous: Artifact, artifact: Artifact) -> Demoted:
    previous.state = CLAIM.next(State(previous.state), Act.DEMOTE)
    previous.cause = Cause.SUPERSEDED
    previous.ended_at = artifact.promoted_at
    previous.save(update_fields=["state", "cause", "ended_at"])
    index.withdraw(previous.pk)
    return Demoted(**previous.about(), cause=Cause.SUPERSEDED)

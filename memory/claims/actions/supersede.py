"""Supersede and withdraw: what an author may do with their own claim after submitting it (HTTP only)."""

from __future__ import annotations

from typing import Any

from django.db.models import Max

from memory.claims.actions.end import reject
from memory.claims.actions.store import Draft, store
from memory.claims.actions.submit import permitted_write
from memory.claims.commands import VersionCommand
from memory.claims.errors import NewerVersion, WrongState
from memory.claims.events import Superseded, Withdrawn
from memory.claims.models import Artifact
from memory.claims.references import check_references
from memory.claims.states import Cause, State, Surface
from oml.core.actor import Actor
from oml.core.canonical import sha256_hex
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import access, quota
from workareas.errors import AccessForbidden, AccessNotFound
from workareas.idempotency import fingerprint, run_once
from workareas.selectors.bans import refuse_banned
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

_BECAME_OF_IT = {
    State.HELD: "awaits review; wait for its verdict, or withdraw it",
    State.PROMOTED: "was promoted; propose the next version of that one",
    State.DEMOTED: "was promoted and has ended since; submit what is so now under another claim_key",
}


@journalled
def supersede_memory(actor: Actor, *, command: VersionCommand) -> dict[str, Any]:
    """Submit the next version of an own claim: held, while the promoted version goes on being served.

    Its promotion demotes the version before with cause ``superseded``, in the same transaction.

    Args:
        actor: a key of the principal that wrote the latest version.
        command: which artifact, and the new version's content.

    Raises:
        AccessNotFound: ``access.not_found``; unknown, foreign or not visible to this key.
        AccessForbidden, VerbCeiling: ``access.*``; readable but another principal's, or no writer access.
        WrongState: ``review.stale``; not the latest promoted version.
        NewerVersion: ``submission.claim_key_conflict``; a newer version awaits review, or was promoted.
        Others as :func:`memory.claims.actions.submit.submit_memory`.
    """
    known = access.load(actor)  # before the artifact and its node are looked up; see submit_memory
    found = find_own(actor, command.artifact)
    events: list[Event] = []

    def first_time() -> tuple[dict[str, Any], str]:
        previous = require_own(actor, found, command.artifact)
        if previous.channel != Surface.CLAIM:  # what agents share has new versions through its own tools alone
            raise AccessNotFound.artifact(command.artifact)
        permitted_write(known, Verb.REMEMBER, previous.workarea, previous.workarea_id)
        refuse_banned(
            actor.tenant_id,
            key_id=actor.key_id,
            principal_id=actor.principal_id,
            text_sha256=sha256_hex(command.text.encode()),
            sources=command.derives_from,
        )
        entries = check_references(
            actor,
            known,
            derives_from=command.derives_from,
            evidence=command.evidence,
            simulation_id=previous.simulation_id,
            attachments=command.attachments,
        )
        _check_latest(previous)
        quota.take(actor, quota.Quota.WRITE)
        draft = Draft(
            node=previous.workarea,
            claim_key=previous.claim_key,
            kind=previous.kind,
            verb=previous.verb,
            text=command.text,
            version=_next_version(previous),
            sources=command.derives_from,
            evidence=entries,
            simulation_id=previous.simulation_id,
            previous=previous,
            occurred_at=previous.occurred_at,
            thread=previous.thread,
            valid_from=previous.valid_from,
            valid_to=previous.valid_to,
        )
        artifact, submitted = store(actor, draft, Superseded)
        events.append(submitted)
        answer = {
            "artifact_id": artifact.pk,
            "claim_key": artifact.claim_key,
            "version": artifact.version,
            "state": str(artifact.state),
            "workarea": artifact.workarea_id,
            "attachments_bound": 0,
        }
        return answer, artifact.pk

    answer, replay = run_once(
        actor,
        workarea_id=found.workarea_id if found else None,
        idempotency_key=command.idempotency_key,
        request_fingerprint=fingerprint("supersede", command.fingerprint_parts()),
        run=first_time,
    )
    if not replay:
        append(actor, events, epoch=known.epoch)
    return {**answer, "idempotent_replay": replay}


@journalled
def withdraw_memory(actor: Actor, *, artifact: str) -> dict[str, Any]:
    """Take an own submission back while it is held: rejected with cause ``withdrawn``.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: ``access.*``; see :func:`supersede_memory`.
        WrongState: ``review.stale``; it is no longer held.
    """
    access.require_role(actor, Verb.REMEMBER)
    known = access.load(actor)
    row = require_own(actor, find_own(actor, artifact, lock=True), artifact)
    decision = known.decide(Verb.REMEMBER, row.workarea, row.workarea_id)
    if decision.refusal is not None:
        raise decision.refusal
    if row.state != State.HELD:
        raise WrongState(f"artifact {artifact} is {row.state}; only a held submission can be withdrawn")
    ended = reject(row, cause=Cause.WITHDRAWN)
    withdrawn = Withdrawn(
        **row.about(),
    )
    append(actor, [withdrawn, ended], epoch=known.epoch)
    return {"artifact_id": row.pk, "claim_key": row.claim_key, "version": row.version, "state": row.state}


def find_own(actor: Actor, artifact: str, *, lock: bool = False) -> Artifact | None:
    """The artifact inside the actor's tenant, whoever wrote it; says nothing about access."""
    if "\x00" in artifact:
        return None
    rows = Artifact.objects.select_related("workarea").filter(tenant_id=actor.tenant_id, pk=artifact)
    return (rows.select_for_update(of=("self",), no_key=True) if lock else rows).first()


def require_own(actor: Actor, row: Artifact | None, reference: str) -> Artifact:
    """The row if this principal wrote it; a refusal that does not tell held from unknown otherwise.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; unknown, another's and not readable, or behind a fence (D10).
        AccessForbidden: ``access.forbidden``; readable, but another principal's.
    """
    access.require_role(actor, Verb.REMEMBER)
    fence = fence_of(actor)
    inside = row is not None and (row.simulation_id is None or row.simulation_id in fence)
    if row is not None and inside and row.author_principal_id == actor.principal_id:
        return row
    if row is not None:
        scope = access.load(actor).scope(Capability.READER)
        readable = Artifact.objects.readable(actor.tenant_id, scope, fence=fence).filter(pk=row.pk)
        if readable.exists():
            raise AccessForbidden(
                f"artifact {reference} was written by another principal",
                rule="supersede and withdraw are the author's own verbs",
            )
    raise AccessNotFound.artifact(reference)


def _check_latest(previous: Artifact) -> None:
    following = Artifact.objects.filter(previous=previous).exclude(state__in=[State.REJECTED, State.ERASED]).first()
    if following is not None:  # its author is this one's: its id may be named
        raise NewerVersion(f"a newer version, {following.pk}, {_BECAME_OF_IT[State(following.state)]}")
    if previous.state != State.PROMOTED:
        raise WrongState(
            f"artifact {previous.pk} is {previous.state}; the latest version must be promoted to be superseded"
        )


def _next_version(previous: Artifact) -> int:
    """One more than any version that was ever proposed after this one: a rejected number is not given again."""
    tried: int | None = Artifact.objects.filter(previous=previous).aggregate(highest=Max("version"))["highest"]
    return max(previous.version, tried or 0) + 1

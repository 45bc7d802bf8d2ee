"""Demote and erase: an administrator's acts on one artifact, admissible in a validated workarea too (D8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from memory.claims.actions.end import demote_all
from memory.claims.errors import WrongState
from memory.claims.events import Erased
from memory.claims.models import Artifact, ScanReport
from memory.claims.states import CLAIM, Act, State
from memory.recall import index
from oml.core.actor import Actor
from oml.core.clock import now, rfc3339_seconds
from oml.journal.append import append, journalled
from workareas import access, reasons
from workareas.access import Access
from workareas.errors import AccessNotFound
from workareas.models import IdempotencyRecord
from workareas.verbs import Verb

#: A room above that keeps words about an artifact (verdicts, edges): ``(artifact_id, destroy) -> counts by name``.
Keeper = Callable[[str, bool], dict[str, int]]
_keepers: list[Keeper] = []


def on_erase(keeper: Keeper) -> Keeper:
    """Register what else must be counted in a preview and destroyed by an erasure."""
    _keepers.append(keeper)
    return keeper


@journalled
def demote_memory(actor: Actor, *, artifact: str, reason: str) -> dict[str, Any]:
    """Take a promoted claim out of recall; graph shows it absent.

    Args:
        actor: an admin of its workarea.
        artifact: the id as sent.
        reason: kept in words beside the journal.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: ``access.*``.
        WrongState: ``review.stale``; it is not promoted.
    """
    known, row = _administered(actor, Verb.DEMOTE, artifact)
    if row.state != State.PROMOTED:
        raise WrongState(f"artifact {artifact} is {row.state}; only a promoted claim can be demoted")
    append(actor, demote_all(actor, [row], reason=reason), epoch=known.epoch)
    return {"artifact_id": row.pk, "claim_key": row.claim_key, "version": row.version, "state": str(row.state)}


@journalled
def erase_memory(actor: Actor, *, artifact: str, reason: str, preview: bool = False) -> dict[str, Any]:
    """Destroy an artifact's content for good; ids, digests and journal stay, and still verify.

    Args:
        actor: an admin of its workarea.
        artifact: the id as sent; in any state.
        reason: why; its commitment is journalled, the words are not kept: they may repeat what is erased.
        preview: change nothing, only say what would go.

    Returns:
        ``artifact_id``, ``state``, ``preview`` and ``destroyed``: counts by what they are counts of.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: ``access.*``.
        WrongState: ``review.stale``; it is erased already.
    """
    known, row = _administered(actor, Verb.ERASE, artifact)
    if row.state == State.ERASED:
        raise WrongState(f"artifact {artifact} is erased already")
    if preview:
        return _receipt(row, _destroy(row, really=False), preview=True)
    was_promoted = row.promoted_at is not None
    destroyed = _destroy(row, really=True)
    row.state = CLAIM.next(State(row.state), Act.ERASE)
    row.text, row.commitment_salt, row.thread = None, None, None
    row.ended_at = now()
    row.save(update_fields=["state", "text", "commitment_salt", "thread", "ended_at"])
    erased = Erased(
        **row.about(),
        was_promoted=was_promoted,
        reason_commitment=reasons.forgotten(reason),
    )
    append(actor, [erased], epoch=known.epoch)
    return _receipt(row, destroyed, preview=False)


def _administered(actor: Actor, verb: Verb, artifact: str) -> tuple[Access, Artifact]:
    """The locked artifact on a node that the actor administers; one answer for all that is not."""
    access.require_role(actor, verb)
    known = access.load(actor)
    rows: QuerySet[Artifact] = Artifact.objects.select_for_update(of=("self",), no_key=True).select_related("workarea")
    row = None if "\x00" in artifact else rows.filter(pk=artifact, tenant_id=actor.tenant_id).first()
    if row is None or not known.effective(row.workarea.path):
        raise AccessNotFound.artifact(artifact)
    decision = known.decide(verb, row.workarea, row.workarea_id)
    if decision.refusal is not None:
        # Whoever may only read the node learns no more of a held row than of an unknown one (R3).
        raise decision.refusal if row.state == State.PROMOTED else AccessNotFound.artifact(artifact)
    return known, row


def _destroy(row: Artifact, *, really: bool) -> dict[str, int]:
    counts = {
        "text_characters": len(row.text or ""),
        "search_rows": index.erase(row.pk) if really else index.count(row.pk),
        "reasons": reasons.destroy([row.pk]) if really else reasons.count([row.pk]),
        "idempotency_answers": _idempotency(row, really),
        "scan_findings": _findings(row, really),
        "attachments": 0,
    }
    for keeper in _keepers:
        counts |= keeper(row.pk, really)
    return counts


def _idempotency(row: Artifact, really: bool) -> int:
    rows = IdempotencyRecord.objects.filter(subject_id=row.pk)
    # The record stays, so that a late retry cannot write the text again; its fingerprint, a digest of it, goes.
    return rows.update(fingerprint=bytes(32)) if really else rows.count()


def _findings(row: Artifact, really: bool) -> int:
    reports = ScanReport.objects.filter(artifact=row)
    count = sum(len(findings) for findings in reports.values_list("findings", flat=True))
    if really:
        reports.update(findings=[])
    return count


def _receipt(row: Artifact, destroyed: dict[str, int], *, preview: bool) -> dict[str, Any]:
    receipt: dict[str, Any] = {
        "artifact_id": row.pk,
        "claim_key": row.claim_key,
        "version": row.version,
        "state": str(row.state),
        "preview": preview,
        "destroyed": destroyed,
    }
    if not preview and row.ended_at is not None:
        receipt["erased_at"] = rfc3339_seconds(row.ended_at)
    return receipt

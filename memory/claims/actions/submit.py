"""Submit: a memory or a derived fact enters the admission pipeline, held on arrival (seed: oml_remember, oml_learn).

The order of checks is the design's (admission, "Order of checks on a submission"): idempotency, role ceiling,
workarea access, universe, frozen, lineage, simulation, attachments, claim_key, quota; then one transaction with
artifact, lineage, signed envelope, idempotency record, outbox row and, last, the journal entry.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction

from memory.claims.actions.scan import SCAN_TASK
from memory.claims.commands import SubmitCommand
from memory.claims.errors import (
    ClaimKeyConflict,
    EvidenceNotFound,
    LineageNotFound,
    LineageRequired,
    SimulationNotFound,
    UploadNotFound,
)
from memory.claims.events import Learned, Remembered, Submitted
from memory.claims.models import Artifact, Lineage
from memory.claims.states import SubmitVerb
from oml.core.actor import Actor
from oml.core.canonical import sha256_hex
from oml.core.clock import now, rfc3339
from oml.core.ids import new_id
from oml.crypto.digest import commitment, new_salt
from oml.crypto.signing import PayloadType, sign_envelope
from oml.jobs.outbox import enqueue
from oml.journal.append import append, journalled
from workareas import access, quota
from workareas.access import Access
from workareas.errors import AccessNotFound, Frozen, UniverseWrite
from workareas.idempotency import fingerprint, run_once
from workareas.ladder import Status, is_frozen
from workareas.models import Workarea
from workareas.selectors.policies import effective_policy
from workareas.verbs import Capability, Verb

_VERBS = {SubmitVerb.REMEMBER: Verb.REMEMBER, SubmitVerb.LEARN: Verb.LEARN}
_EVENTS: dict[SubmitVerb, type[Submitted]] = {SubmitVerb.REMEMBER: Remembered, SubmitVerb.LEARN: Learned}


@journalled
def submit_memory(actor: Actor, *, command: SubmitCommand) -> dict[str, Any]:
    """Take a submission; success means accepted for review, never published (R3).

    Args:
        actor: the submitting (key, principal).
        command: the request as sent.

    Returns:
        The seed's answer of oml_remember or oml_learn, with ``idempotent_replay``.

    Raises:
        IdempotencyMismatch, IdempotencyInFlight: ``request.idempotency_mismatch``, ``…_in_flight``.
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``.
        UniverseWrite, Frozen: ``workarea.universe_write``, ``workarea.frozen``.
        LineageRequired: ``submission.lineage_required``.
        UploadNotFound: ``upload.not_found``.
        ClaimKeyConflict: ``submission.claim_key_conflict``.
        QuotaExceeded: ``limit.quota``.
    """
    node = access.find(actor, command.workarea)
    events: list[Submitted] = []
    epochs: list[int] = []

    def first_time() -> tuple[dict[str, Any], str]:
        known, target = _permitted(actor, command, node)
        sources = _checked_references(actor, command, known)
        quota.take(actor, quota.Quota.WRITE)
        artifact, submitted = _store(actor, command, target, sources)
        events.append(submitted)
        epochs.append(known.epoch)
        return _answer(command, artifact), artifact.pk

    answer, replay = run_once(
        actor,
        workarea_id=node.pk if node else None,
        idempotency_key=command.idempotency_key,
        request_fingerprint=fingerprint(command.verb, command.fingerprint_parts(node.pk if node else "")),
        run=first_time,
    )
    if not replay:
        append(actor, events, epoch=epochs[0])
    return {**answer, "idempotent_replay": replay}


def _permitted(actor: Actor, command: SubmitCommand, node: Workarea | None) -> tuple[Access, Workarea]:
    verb = _VERBS[command.verb]
    access.require_role(actor, verb)
    known = access.load(actor)
    if node is None or not known.effective(node.path):
        raise AccessNotFound.workarea(command.workarea)
    if node.is_root:  # whoever can see the root learns why, whatever is granted there
        raise UniverseWrite(command.workarea)
    decision = known.decide(verb, node, command.workarea)
    if decision.refusal is not None:
        raise decision.refusal
    if is_frozen(Status(node.status)):
        raise Frozen(command.workarea)
    return known, node


def _checked_references(actor: Actor, command: SubmitCommand, known: Access) -> list[str]:
    """Lineage, evidence, simulation and attachments, in that order; each refusal names its 0-based position."""
    if command.verb is SubmitVerb.LEARN and not command.derives_from:
        raise LineageRequired
    readable = set(
        Artifact.objects.readable(actor.tenant_id, known.scope(Capability.READER))
        .filter(pk__in=command.derives_from)
        .values_list("pk", flat=True)
        if command.derives_from
        else ()
    )
    for position, source in enumerate(command.derives_from):
        if source not in readable:
            raise LineageNotFound(position)
    if command.evidence:
        raise EvidenceNotFound(0)
    if command.simulation_id is not None:
        raise SimulationNotFound(command.simulation_id)
    if command.attachments:
        raise UploadNotFound(0)
    return list(command.derives_from)


def _store(actor: Actor, command: SubmitCommand, node: Workarea, sources: list[str]) -> tuple[Artifact, Submitted]:
    policy = effective_policy(node)
    submitted_at = now()
    artifact_id = new_id("art")
    text_sha256 = sha256_hex(command.text.encode())
    salt = new_salt()
    envelope = sign_envelope(
        PayloadType.SUBMISSION,
        {
            "envelope_version": 1,
            "tenant": actor.tenant_id,
            "workarea": node.pk,
            "artifact": artifact_id,
            "claim_key": command.claim_key,
            "version": 1,
            "kind": str(command.kind),
            "verb": str(command.verb),
            "text_sha256": text_sha256,
            "attachments": [],
            "derives_from": sources,
            "evidence": [],
            "author": {"key": actor.key_id, "principal": actor.principal_id},
            "simulation_id": command.simulation_id,
            "submitted_at": rfc3339(submitted_at),
            "previous_version": None,
        },
    )
    artifact = Artifact(
        id=artifact_id,
        tenant_id=actor.tenant_id,
        workarea=node,
        claim_key=command.claim_key,
        kind=command.kind,
        verb=command.verb,
        text=command.text,
        text_sha256=text_sha256,
        commitment_salt=salt,
        envelope=envelope.text,
        envelope_keyid=envelope.keyid,
        author_key_id=actor.key_id,
        author_principal_id=actor.principal_id,
        policy_version=policy.version,
        occurred_at=command.occurred_at,
        thread=command.thread,
        valid_from=command.valid_from,
        valid_to=command.valid_to,
        submitted_at=submitted_at,
        held_expires_at=submitted_at + timedelta(seconds=policy.held_expiry_s),
    )
    try:
        with transaction.atomic():
            artifact.save(force_insert=True)
    except IntegrityError as error:
        if "artifact_claim_key_unique" in str(error):
            raise ClaimKeyConflict(command.claim_key) from None
        raise
    if sources:
        Lineage.objects.bulk_create(
            Lineage(artifact=artifact, source_id=source, position=position) for position, source in enumerate(sources)
        )
    enqueue(SCAN_TASK, artifact_id=artifact_id)
    submitted = _EVENTS[command.verb](
        workarea_id=node.pk,
        artifact_id=artifact_id,
        claim_key=command.claim_key,
        version=1,
        kind=command.kind,
        content_commitment=commitment(salt, command.text.encode()),
        envelope_keyid=envelope.keyid,
        derives_from=tuple(sources),
        policy_version=policy.version,
    )
    return artifact, submitted


def _answer(command: SubmitCommand, artifact: Artifact) -> dict[str, Any]:
    head = {"artifact_id": artifact.pk, "claim_key": artifact.claim_key, "version": artifact.version}
    if command.verb is SubmitVerb.LEARN:
        return {
            **head,
            "kind": str(artifact.kind),
            "state": str(artifact.state),
            "lineage_declared": len(command.derives_from),
        }
    return {
        **head,
        "state": str(artifact.state),
        "workarea": artifact.workarea_id,
        "attachments_bound": 0,
    }

"""Submit: a memory or a derived fact enters the admission pipeline, held on arrival (seed: oml_remember, oml_learn).

The order of checks is the design's (admission, "Order of checks on a submission"): idempotency, role ceiling,
workarea access, universe, frozen, ban, lineage, simulation, attachments, claim_key, quota; then one transaction
with artifact, lineage, signed envelope, idempotency record, outbox row and, last, the journal entry.
"""

from __future__ import annotations

from typing import Any

from memory.claims.actions.store import Draft, store
from memory.claims.commands import SubmitCommand
from memory.claims.errors import ClaimKeyConflict, LineageRequired
from memory.claims.events import Learned, Remembered, Submitted
from memory.claims.models import Artifact
from memory.claims.references import check_references
from memory.claims.states import State, SubmitVerb, Surface
from memory.records.models import RecordEntry
from oml.core.actor import Actor
from oml.core.canonical import sha256_hex
from oml.journal.append import append, journalled
from workareas import access, quota
from workareas.access import Access
from workareas.errors import AccessNotFound, Frozen, UniverseWrite
from workareas.idempotency import fingerprint, run_once
from workareas.ladder import Status, is_frozen
from workareas.models import Workarea
from workareas.selectors.bans import refuse_banned
from workareas.verbs import Verb

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
        Banned: ``admission.banned``.
        LineageRequired: ``submission.lineage_required``.
        SimulationRequired, SimulationConflict: ``simulation.*``.
        UploadNotFound: ``upload.not_found``.
        ClaimKeyConflict: ``submission.claim_key_conflict``.
        QuotaExceeded: ``limit.quota``.
    """
    known = access.load(actor)  # before the node is looked up: its epoch then also covers the node's status and path
    node = access.find(actor, command.workarea)
    events: list[Submitted] = []

    def first_time() -> tuple[dict[str, Any], str]:
        target = permitted_write(known, _VERBS[command.verb], node, command.workarea)
        entries = _check(actor, known, command, target)
        draft = Draft(
            node=target,
            claim_key=command.claim_key,
            kind=command.kind,
            verb=command.verb,
            text=command.text,
            sources=command.derives_from,
            evidence=entries,
            simulation_id=command.simulation_id,
            occurred_at=command.occurred_at,
            thread=command.thread,
            valid_from=command.valid_from,
            valid_to=command.valid_to,
        )
        artifact, submitted = store(actor, draft, _EVENTS[command.verb])
        events.append(submitted)
        return _answer(command, artifact), artifact.pk

    answer, replay = run_once(
        actor,
        workarea_id=node.pk if node else None,
        idempotency_key=command.idempotency_key,
        request_fingerprint=fingerprint(command.verb, command.fingerprint_parts(node.pk if node else "")),
        run=first_time,
    )
    if not replay:
        append(actor, events, epoch=known.epoch)
    return {**answer, "idempotent_replay": replay}


def permitted_write(known: Access, verb: Verb, node: Workarea | None, reference: str) -> Workarea:
    """Role ceiling, workarea access, universe, frozen: the first checks of every submission, in this order.

    Args:
        known: loaded before ``node`` was looked up.
        verb: what the submission is.
        node: what the reference resolves to, if anything.
        reference: as sent.

    Returns:
        The node.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``.
        UniverseWrite, Frozen: ``workarea.universe_write``, ``workarea.frozen``.
    """
    access.require_role(known.actor, verb)
    if node is None or not known.effective(node.path):
        raise AccessNotFound.workarea(reference)
    if node.is_root:  # whoever can see the root learns why, whatever is granted there
        raise UniverseWrite(reference)
    decision = known.decide(verb, node, reference)
    if decision.refusal is not None:
        raise decision.refusal
    if is_frozen(Status(node.status)):
        raise Frozen(reference)
    return node


def _check(actor: Actor, known: Access, command: SubmitCommand, node: Workarea) -> tuple[RecordEntry, ...]:
    """Ban, lineage, simulation, attachments, claim_key, quota, in the design's order."""
    refuse_banned(
        actor.tenant_id,
        key_id=actor.key_id,
        principal_id=actor.principal_id,
        text_sha256=sha256_hex(command.text.encode()),
        sources=command.derives_from,
    )
    if command.verb is SubmitVerb.LEARN and not command.derives_from:
        raise LineageRequired
    entries = check_references(
        actor,
        known,
        derives_from=command.derives_from,
        evidence=command.evidence,
        simulation_id=command.simulation_id,
        attachments=command.attachments,
    )
    # The constraint decides; asking first keeps the order of refusals and spends no quota on a taken key.
    taken = Artifact.objects.filter(
        workarea=node, claim_key=command.claim_key, simulation_id=command.simulation_id, channel=Surface.CLAIM
    ).exclude(state=State.ERASED)
    if taken.exists():
        raise ClaimKeyConflict(command.claim_key)
    quota.take(actor, quota.Quota.WRITE)
    return entries


def _answer(command: SubmitCommand, artifact: Artifact) -> dict[str, Any]:
    head = {"artifact_id": artifact.pk, "claim_key": artifact.claim_key, "version": artifact.version}
    if command.verb is SubmitVerb.LEARN:
        return {
            **head,
            "kind": str(artifact.kind),
            "state": str(artifact.state),
            "lineage_declared": len(command.derives_from),
        }
    return {**head, "state": str(artifact.state), "workarea": artifact.workarea_id, "attachments_bound": 0}

"""The rows of one new artifact: itself, its lineage, its signed envelope, its scan task. Used by every submission."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from memory.claims import evidence
from memory.claims.actions.scan import SCAN_TASK
from memory.claims.errors import ClaimKeyConflict, NewerVersion
from memory.claims.events import Submitted
from memory.claims.models import Artifact, Lineage
from memory.claims.states import Surface
from memory.records.models import RecordEntry
from oml.core.actor import Actor
from oml.core.canonical import sha256_hex
from oml.core.clock import now, rfc3339
from oml.core.ids import new_id
from oml.crypto.digest import commitment, new_salt
from oml.crypto.signing import PayloadType, sign_envelope
from oml.jobs.outbox import enqueue
from workareas.models import Workarea
from workareas.selectors.policies import effective_policy


@dataclass(frozen=True, slots=True)
class Draft:
    """An artifact about to exist; every check has been made."""

    node: Workarea
    claim_key: str
    kind: str
    verb: str
    text: str
    version: int = 1
    sources: tuple[str, ...] = ()
    evidence: tuple[RecordEntry, ...] = ()
    simulation_id: str | None = None
    previous: Artifact | None = None
    occurred_at: datetime | None = None
    thread: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    channel: Surface = Surface.CLAIM


def store(actor: Actor, draft: Draft, event: type[Submitted]) -> tuple[Artifact, Submitted]:
    """Write a held artifact and return it with the event that the caller appends.

    Raises:
        ClaimKeyConflict, NewerVersion: ``submission.claim_key_conflict``; the database's own constraint says so.
    """
    policy = effective_policy(draft.node)
    submitted_at = now()
    artifact_id = new_id("art")
    text_sha256 = sha256_hex(draft.text.encode())
    salt = new_salt()
    envelope = sign_envelope(
        PayloadType.SUBMISSION,
        {
            "envelope_version": 1,
            "tenant": actor.tenant_id,
            "workarea": draft.node.pk,
            "artifact": artifact_id,
            "claim_key": draft.claim_key,
            "version": draft.version,
            "kind": str(draft.kind),
            "verb": str(draft.verb),
            "text_sha256": text_sha256,
            "attachments": [],
            "derives_from": list(draft.sources),
            "evidence": evidence.in_envelope(draft.evidence),
            "author": {"key": actor.key_id, "principal": actor.principal_id},
            "simulation_id": draft.simulation_id,
            "submitted_at": rfc3339(submitted_at),
            "previous_version": draft.previous.pk if draft.previous else None,
            **({"channel": str(draft.channel)} if draft.channel is not Surface.CLAIM else {}),
        },
    )
    artifact = Artifact(
        id=artifact_id,
        tenant_id=actor.tenant_id,
        workarea=draft.node,
        simulation_id=draft.simulation_id,
        claim_key=draft.claim_key,
        version=draft.version,
        previous=draft.previous,
        channel=draft.channel,
        kind=draft.kind,
        verb=draft.verb,
        text=draft.text,
        text_sha256=text_sha256,
        commitment_salt=salt,
        envelope=envelope.text,
        envelope_keyid=envelope.keyid,
        author_key_id=actor.key_id,
        author_principal_id=actor.principal_id,
        policy_version=policy.version,
        occurred_at=draft.occurred_at,
        thread=draft.thread,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        submitted_at=submitted_at,
        held_expires_at=submitted_at + timedelta(seconds=policy.held_expiry_s),
    )
    _insert(artifact)
    Lineage.objects.bulk_create(
        Lineage(artifact=artifact, source_id=source, position=position) for position, source in enumerate(draft.sources)
    )
    evidence.keep(artifact, draft.evidence)
    enqueue(SCAN_TASK, artifact_id=artifact_id)
    submitted = event(
        **artifact.about(),
        kind=draft.kind,
        content_commitment=commitment(salt, draft.text.encode()),
        envelope_keyid=envelope.keyid,
        derives_from=draft.sources,
        policy_version=policy.version,
    )
    return artifact, submitted


def _insert(artifact: Artifact) -> None:
    try:
        with transaction.atomic():
            artifact.save(force_insert=True)
    except IntegrityError as error:
        if "artifact_claim_key_unique" in str(error):
            if artifact.previous_id is not None:
                raise NewerVersion("a newer version was submitted at this moment; it awaits review") from None
            raise ClaimKeyConflict(artifact.claim_key) from None
        raise

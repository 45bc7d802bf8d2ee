"""The serve ceremony (D14): what a serve binds to, R2 in the deciding transaction, and the one consume.

Nothing but :func:`consume_serve` may call ``admit``: promotion is an effect of ratification and of nothing else.
"""

from __future__ import annotations

from memory.claims.actions.admit import admit
from memory.claims.actions.end import reject
from memory.claims.evidence import in_envelope
from memory.claims.lineage import Ancestor, closure_of
from memory.claims.models import Artifact, ScanReport
from memory.claims.states import Cause, Kind, ScanState, State
from oml.core.actor import Actor
from oml.core.canonical import canonical_json, sha256_hex
from oml.core.clock import now
from oml.crypto.digest import commitment
from oml.journal.registry import Event
from review.errors import (
    PartsUnserved,
    ReviewerIsAuthor,
    ReviewerIsLineageAuthor,
    ScanPending,
    ServeConsumed,
    ServeExpired,
    Stale,
)
from review.hands import ancestor_of, author_of, reviewer_of
from review.models import AnyServe, Serve, Verdict
from review.parts import entries_of, unserved
from review.policy import Standing, VerdictWord, standing
from workareas.errors import Frozen
from workareas.ladder import Status, is_frozen
from workareas.policy import Policy
from workareas.selectors.bans import refuse_banned


def content_digest(artifact: Artifact, policy: Policy) -> str:
    """Hex SHA-256 over all that a reviewer's verdict rests on, recomputed from the rows as they are now.

    Text, lineage, place, scan findings and policy: when one of them moves after the serve, the verdict is stale.
    The text enters as its salted commitment: this digest is journalled, and no short text may be guessed from it
    once an erasure has destroyed the salt (design: integrity).
    """
    reports = ScanReport.objects.filter(artifact=artifact).order_by("scanner")
    bound = {
        "artifact": artifact.pk,
        "claim_key": artifact.claim_key,
        "version": artifact.version,
        "kind": artifact.kind,
        "channel": artifact.channel,
        "text_commitment": commitment(bytes(artifact.commitment_salt or b""), (artifact.text or "").encode()),
        "workarea": artifact.workarea_id,
        "workarea_path": artifact.workarea.path,
        "workarea_status": artifact.workarea.status,
        "derives_from": list(artifact.lineage.order_by("position").values_list("source_id", flat=True)),
        "evidence": in_envelope(entries_of(artifact)),
        "scan_state": artifact.scan_state,
        "scans": [[report.scanner, report.scanner_version, report.outcome, report.findings] for report in reports],
        "policy": policy.as_dict(),
    }
    return sha256_hex(canonical_json(bound))


def check_standing(actor: Actor, artifact: Artifact, policy: Policy) -> tuple[Standing, list[Ancestor]]:
    """R2 for this reviewer and item, over the closure as it is in this transaction.

    Raises:
        ReviewerIsAuthor: ``review.author``.
        ReviewerIsLineageAuthor: ``review.lineage_author``.
    """
    closure = closure_of(artifact.pk)
    stands = standing(
        reviewer_of(actor),
        author=author_of(artifact),
        ancestors=[ancestor_of(one) for one in closure],
        lineage_exclusion=policy.lineage_exclusion,
        relaxed=policy.self_signed_allowed,
        steering=artifact.kind == Kind.STEERING,
    )
    if stands is Standing.AUTHOR:
        raise ReviewerIsAuthor
    if stands is Standing.LINEAGE_AUTHOR:
        raise ReviewerIsLineageAuthor
    return stands, closure


def check_held(artifact: Artifact) -> None:
    """Whether the item still awaits review.

    Raises:
        Stale: ``review.stale``; no longer held, or its time is over.
    """
    if artifact.state != State.HELD or artifact.held_expires_at <= now():
        raise Stale("this item is no longer held")


def check_scanned(artifact: Artifact) -> None:
    """Whether every scanner has answered (fail closed).

    Raises:
        ScanPending: ``review.scan_pending``; a scanner has not answered, or failed.
    """
    if artifact.scan_state not in (ScanState.CLEAN, ScanState.FLAGGED):
        raise ScanPending


def check_not_judged(actor: Actor, artifact: Artifact) -> None:
    """A principal judges an item once, however many keys and serves it has.

    Raises:
        Stale: ``review.stale``.
    """
    if Verdict.objects.filter(artifact=artifact, reviewer_principal_id=actor.principal_id).exists():
        raise Stale("you have judged this item; it waits for another reviewer")


def check_fresh(serve: AnyServe) -> None:
    """Whether a serve can still have its verdict.

    Raises:
        ServeConsumed, ServeExpired: ``review.serve_consumed``, ``review.serve_expired``.
    """
    if serve.consumed_at is not None:
        raise ServeConsumed
    if serve.expires_at <= now():  # the clock, not the transaction's start: a long transaction must not help
        raise ServeExpired


def consume_serve(
    serve: Serve, artifact: Artifact, actor: Actor, policy: Policy, *, presented_digest: str
) -> tuple[Standing, list[Ancestor]]:
    """Check a verdict against its serve and mark the serve consumed; both rows are locked by the caller.

    Precedence (shapes, "Which refusal, settled"): consumed, expired, stale, author, lineage, parts.

    Raises:
        ServeConsumed, ServeExpired, Stale, ReviewerIsAuthor, ReviewerIsLineageAuthor, PartsUnserved.
    """
    check_fresh(serve)
    check_held(artifact)
    check_not_judged(actor, artifact)
    # What was served was scanned; a scan state that moved since has moved the digest too.
    if not serve.content_digest == presented_digest == content_digest(artifact, policy):
        raise Stale
    result = check_standing(actor, artifact, policy)
    missing = unserved(serve, artifact)
    if missing:
        raise PartsUnserved(missing)
    serve.consumed_at = now()
    serve.save(update_fields=["consumed_at"])
    return result


def carry_out(verdict: Verdict, artifact: Artifact, policy: Policy, closure: list[Ancestor]) -> list[Event]:
    """Let a stored verdict take effect: one rejection ends it, ``min_verdicts`` ratifications promote.

    Returns:
        Events to append after the verdict's own.

    Raises:
        Banned: ``admission.banned``; author, text or a source was banned since the submission.
        Frozen: ``workarea.frozen``; nothing is ratified into a validated workarea (D8).
    """
    if verdict.verdict == VerdictWord.REJECT:
        return [reject(artifact, cause=Cause.VERDICT)]
    if is_frozen(Status(artifact.workarea.status)):
        raise Frozen(artifact.workarea_id)
    refuse_banned(
        artifact.tenant_id,
        key_id=artifact.author_key_id,
        principal_id=artifact.author_principal_id,
        text_sha256=artifact.text_sha256,
        sources=[ancestor.artifact_id for ancestor in closure],
    )
    ratified = Verdict.objects.filter(artifact=artifact, verdict=VerdictWord.RATIFY)
    if ratified.values("reviewer_principal").distinct().count() < policy.min_verdicts:
        return []
    return admit(artifact, closure=closure, self_signed=ratified.filter(self_signed=True).exists())

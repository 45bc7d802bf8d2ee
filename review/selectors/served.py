"""What a serve shows its reviewer, and the item's outside before that."""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact, Lineage, ScanReport
from memory.claims.states import State
from oml.core.actor import Actor
from oml.core.clock import now, rfc3339, rfc3339_seconds
from review.agent_state import JOINS, agent_state
from review.errors import ServeConsumed, ServeExpired, Stale
from review.models import Serve
from review.parts import parts_of
from review.policy import VerdictWord
from review.selectors.resubmissions import rejected_before
from workareas import access
from workareas.errors import AccessNotFound
from workareas.selectors.fences import inside_fence
from workareas.verbs import Capability, Verb


def served_item(actor: Actor, *, serve_id: str) -> dict[str, Any]:
    """The served view of an item: text, lineage as far as readable, findings, allowed actions.

    Args:
        actor: the reviewer the serve was made for.
        serve_id: the id as sent.

    Raises:
        AccessNotFound: ``access.not_found``; not this key's serve, or review access is gone.
        ServeConsumed, ServeExpired, Stale: ``review.*``.
    """
    serve, known = live_serve(actor, serve_id=serve_id)
    view = view_of(serve, readable=known.scope(Capability.READER))
    return view | {"rejected_before": rejected_before(serve.artifact, reviews=known.scope(Capability.REVIEW))}


def live_serve(actor: Actor, *, serve_id: str) -> tuple[Serve, access.Access]:
    """A serve of this reviewer that can still have its verdict.

    Raises:
        AccessNotFound, ServeConsumed, ServeExpired, Stale: as :func:`served_item`.
    """
    access.require_role(actor, Verb.REVIEW_SERVE)
    known = access.load(actor)
    serve = (
        Serve.objects.select_related("artifact__workarea", f"artifact__{JOINS}")
        .filter(pk=serve_id, tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
        .first()
        if "\x00" not in serve_id
        else None
    )
    if serve is None or Capability.REVIEW not in known.effective(serve.artifact.workarea.path):
        raise AccessNotFound(f"no serve {serve_id} for this key")
    if not inside_fence(actor, serve.artifact.simulation_id):
        raise AccessNotFound(f"no serve {serve_id} for this key")
    if serve.consumed_at is not None:
        raise ServeConsumed
    if serve.expires_at <= now():
        raise ServeExpired
    if serve.artifact.state != State.HELD:
        raise Stale("this item is no longer held")
    return serve, known


def view_of(serve: Serve, *, readable: access.Scope) -> dict[str, Any]:
    """The body of a serve (design: shapes, Review)."""
    item = serve.artifact
    reports = list(ScanReport.objects.filter(artifact=item).order_by("scanner"))
    return {
        "serve_id": serve.pk,
        "expires_at": rfc3339_seconds(serve.expires_at),
        "subject": {
            "artifact_id": item.pk,
            "claim_key": item.claim_key,
            "version": item.version,
            "kind": item.kind,
            "channel": item.channel,
            "agent_state": agent_state(item),
            "workarea": item.workarea_id,
            "workarea_path": item.workarea.path,
            "submitted_at": rfc3339_seconds(item.submitted_at),
            "held_expires_at": rfc3339_seconds(item.held_expires_at),
            "author_key": item.author_key_id,
            "occurred_at": rfc3339(item.occurred_at) if item.occurred_at else None,
            "thread": item.thread,
        },
        "content_digest": serve.content_digest,
        "text": item.text,
        "lineage": _lineage(item, readable),
        "scans": [
            {"scanner": report.scanner, "version": report.scanner_version, "outcome": report.outcome}
            for report in reports
        ],
        "findings": [
            {"scanner": report.scanner, "version": report.scanner_version, **finding}
            for report in reports
            for finding in report.findings
        ],
        "parts": parts_of(serve),
        "actions": [str(word) for word in VerdictWord],
    }


def _lineage(item: Artifact, readable: access.Scope) -> list[dict[str, Any]]:
    rows = Lineage.objects.filter(artifact=item).select_related("source__workarea").order_by("position")
    return [_source(row.source, readable) for row in rows]


def _source(source: Artifact, readable: access.Scope) -> dict[str, Any]:
    """A declared source: its text where this reviewer may read it, its id where not."""
    shown: dict[str, Any] = {"artifact_id": source.pk}
    if not readable.holds(source.workarea.path):
        return {**shown, "readable": False}
    shown |= {
        "readable": source.state == State.PROMOTED,
        "claim_key": source.claim_key,
        "version": source.version,
        "kind": source.kind,
        "state": source.state,
        "workarea_path": source.workarea.path,
        "self_signed": source.self_signed,
    }
    if source.cause is not None:
        shown["cause"] = source.cause
    if source.state == State.PROMOTED:
        shown["text"] = source.text
    return shown

"""One promoted artifact, read in full by a key that may read its workarea (R3)."""

from __future__ import annotations

from typing import Any

from memory.claims import evidence
from memory.claims.models import Artifact
from oml.core.actor import Actor
from oml.core.clock import rfc3339, rfc3339_seconds
from workareas import access
from workareas.errors import AccessNotFound
from workareas.selectors.fences import fence_of
from workareas.verbs import Verb


def read_artifact(actor: Actor, *, artifact: str) -> tuple[dict[str, Any], Artifact]:
    """Return the body and, for the read log, the row.

    Args:
        actor: a key with reader access on the artifact's workarea.
        artifact: the id as sent.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; an operator.
        AccessNotFound: ``access.not_found``; unknown, malformed, foreign, held, ended or unreadable, one body.
    """
    access.require_role(actor, Verb.READ)
    row = None
    if "\x00" not in artifact:
        scope = access.readable_paths(actor)
        row = (
            Artifact.objects.readable(actor.tenant_id, scope, fence=fence_of(actor))
            .select_related("workarea")
            .filter(pk=artifact)
            .first()
        )
    if row is None:
        raise AccessNotFound.artifact(artifact)
    return _body(row), row


def _body(row: Artifact) -> dict[str, Any]:
    assert row.promoted_at is not None  # a constraint: promoted rows have their time
    body: dict[str, Any] = {
        "artifact_id": row.pk,
        "claim_key": row.claim_key,
        "version": row.version,
        "kind": row.kind,
        "state": row.state,
        "text": row.text,
        "workarea": row.workarea_id,
        "workarea_path": row.workarea.path,
        "submitted_at": rfc3339_seconds(row.submitted_at),
        "promoted_at": rfc3339_seconds(row.promoted_at),
        "derives_from": list(row.lineage.order_by("position").values_list("source_id", flat=True)),
        "attachments": [],
    }
    for name in ("occurred_at", "valid_from", "valid_to"):
        moment = getattr(row, name)
        if moment is not None:
            body[name] = rfc3339(moment)
    if row.thread is not None:
        body["thread"] = row.thread
    cited = evidence.shown([row.pk])
    if cited:
        body["evidence"] = cited[row.pk]
    if row.self_signed:
        body["self_signed"] = True
    return body

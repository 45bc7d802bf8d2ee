"""The caller's own submissions (seed: oml_my_work): the only view a writer has of its held rows, without text."""

from __future__ import annotations

from typing import Any

from memory.claims.commands import MyWorkQuery
from memory.claims.models import Artifact
from memory.claims.states import State, Surface
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.errors import Validation
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access
from workareas.errors import AccessNotFound
from workareas.selectors.fences import fence_of

MAX_LIMIT = 100


def my_work(actor: Actor, *, query: MyWorkQuery) -> dict[str, Any]:
    """The calling key's submissions, newest first; never a reviewer, never a reason.

    Args:
        actor: any key but an operator's.
        query: optional workarea and state, page size and cursor.

    Raises:
        OperatorCeiling: ``access.verb_ceiling`` (D9).
        AccessNotFound: ``access.not_found``; the workarea filter names nothing this key can see or wrote to.
        CeilingExceeded: ``limit.ceiling``; limit above 100.
        Validation: ``request.validation``; limit below 1, unknown state, or a cursor that is not this key's.
    """
    access.require_content_role(actor, "operator keys have no own-work view")
    check_range("limit", query.limit, most=MAX_LIMIT)
    rows = Artifact.objects.own(actor.key_id, fence=fence_of(actor)).order_by("-id")
    filters: dict[str, Any] = {"view": "my_work", "state": query.state, "workarea": None}
    if query.state is not None:
        if query.state not in list(State):
            raise Validation(f"state is one of {', '.join(State)}", param="state")
        rows = rows.filter(state=query.state)
    if query.workarea is not None:
        node_id = _own_node(actor, query.workarea)
        filters["workarea"] = node_id
        rows = rows.filter(workarea_id=node_id)
    pages: Pages[Artifact] = Pages(cursor_key(), actor.key_id, filters, lambda artifact: [artifact.pk])
    if (behind := pages.behind(query.cursor)) is not None:
        rows = rows.filter(pk__lt=behind[0])
    page, cursor = pages.cut(rows[: query.limit + 1], query.limit)
    return {"items": [_item(artifact) for artifact in page], "next_cursor": cursor}


def _own_node(actor: Actor, reference: str) -> str:
    node = access.find(actor, reference)
    if node is not None:
        visible = bool(access.load(actor).effective(node.path))
        if visible or Artifact.objects.own(actor.key_id, fence=fence_of(actor)).filter(workarea=node).exists():
            return node.pk
    raise AccessNotFound.workarea(reference)


def _item(artifact: Artifact) -> dict[str, Any]:
    item = {
        "artifact_id": artifact.pk,
        "claim_key": artifact.claim_key,
        "version": artifact.version,
        "kind": artifact.kind,
        "state": artifact.state,
        "submitted_at": rfc3339_seconds(artifact.submitted_at),
    }
    if artifact.channel != Surface.CLAIM:
        item["channel"] = artifact.channel
    if artifact.state == State.HELD:
        item["held_expires_at"] = rfc3339_seconds(artifact.held_expires_at)
    if artifact.promoted_at is not None:
        item["promoted_at"] = rfc3339_seconds(artifact.promoted_at)
    if artifact.cause is not None:
        item["cause"] = artifact.cause
    return item

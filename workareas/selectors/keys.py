"""The tenant's keys, for its administrators; never a secret."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch

from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access
from workareas.models import Grant, Key
from workareas.verbs import Verb

MAX_LIMIT = 100


def keys(actor: Actor, *, limit: int = 20, cursor: str | None = None) -> dict[str, Any]:
    """Keys of the tenant with their grants, newest first; an admin of the root.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        CeilingExceeded, Validation: ``limit.ceiling``, ``request.validation``.
    """
    access.require_everywhere(actor, Verb.KEY_ISSUE)
    check_range("limit", limit, most=MAX_LIMIT)
    grants = Prefetch("grants", Grant.objects.select_related("workarea").order_by("pk"))
    rows = (
        Key.objects.filter(tenant_id=actor.tenant_id)
        .select_related("principal")
        .prefetch_related(grants)
        .order_by("-pk")
    )
    pages: Pages[Key] = Pages(cursor_key(), actor.key_id, {"view": "keys"}, lambda key: [key.pk])
    if (behind := pages.behind(cursor)) is not None:
        rows = rows.filter(pk__lt=behind[0])
    page, following = pages.cut(rows[: limit + 1], limit)
    return {"items": [_item(key) for key in page], "next_cursor": following}


def _item(key: Key) -> dict[str, Any]:
    moments = {
        name: rfc3339_seconds(moment) if (moment := getattr(key, name)) is not None else None
        for name in ("created_at", "expires_at", "revoked_at", "last_used_at")
    }
    return {
        "key_id": key.pk,
        "principal": {"id": key.principal_id, "name": key.principal.name, "kind": key.principal.kind},
        "role": key.role,
        "interactive": key.interactive,
        "last_four": key.last_four,
        **moments,
        "grants": [
            {
                "grant_id": grant.pk,
                "workarea": grant.workarea_id,
                "workarea_path": grant.workarea.path,
                "capability": grant.capability,
                "effect": grant.effect,
            }
            for grant in key.grants.all()
        ],
    }

"""What admission refuses, asked in one query (design: admission, Ban)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access
from workareas.errors import Banned
from workareas.models import Ban
from workareas.verbs import Verb
from workareas.words import BanKind

MAX_LIMIT = 100


def refuse_banned(
    tenant_id: str, *, key_id: str, principal_id: str, text_sha256: str | None = None, sources: Iterable[str] = ()
) -> None:
    """Refuse when the author, the text or a declared source is banned.

    Args:
        tenant_id: whose bans.
        key_id: the author's key.
        principal_id: the author's principal.
        text_sha256: hex digest of the text; None where there is none, as with an edge.
        sources: artifact ids that it derives from.

    Raises:
        Banned: ``admission.banned``, naming which.
    """
    asked: Sequence[tuple[str, list[str], str]] = (
        (BanKind.KEY, [key_id], "this key"),
        (BanKind.PRINCIPAL, [principal_id], "this key's principal"),
        (BanKind.DIGEST, [text_sha256] if text_sha256 else [], "this text"),
        (BanKind.ARTIFACT, list(sources), "a declared source"),
    )
    wanted = Q(pk__in=[])
    for kind, values, _ in asked:
        wanted |= Q(kind=kind, value__in=values)
    kinds = set(Ban.objects.filter(wanted, tenant_id=tenant_id).values_list("kind", flat=True))
    for kind, _, what in asked:
        if kind in kinds:
            raise Banned(what)


def bans(actor: Actor, *, limit: int = 20, cursor: str | None = None) -> dict[str, Any]:
    """The tenant's bans, newest first; an admin of the root.

    Raises:
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        CeilingExceeded, Validation: ``limit.ceiling``, ``request.validation``; limit or cursor.
    """
    access.require_everywhere(actor, Verb.BAN)
    check_range("limit", limit, most=MAX_LIMIT)
    rows = Ban.objects.filter(tenant_id=actor.tenant_id).order_by("-pk")
    pages: Pages[Ban] = Pages(cursor_key(), actor.key_id, {"view": "bans"}, lambda ban: [ban.pk])
    if (behind := pages.behind(cursor)) is not None:
        rows = rows.filter(pk__lt=behind[0])
    page, following = pages.cut(rows[: limit + 1], limit)
    items = [
        {"ban_id": row.pk, "kind": row.kind, "value": row.value, "created_at": rfc3339_seconds(row.created_at)}
        for row in page
    ]
    return {"items": items, "next_cursor": following}

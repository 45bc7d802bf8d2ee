"""Keys that need somebody's eye."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest
from django.urls import reverse

from oml.console import tiles
from oml.console.tiles import Tile
from oml.core.clock import now
from workareas.admin.gate import actor_of, part_of
from workareas.admin.words import keys_granted_in
from workareas.models import Key

_SOON = timedelta(days=14)
_UNUSED = timedelta(days=90)


def _keys(request: HttpRequest) -> list[Tile]:
    moment = now()
    mine = Key.objects.filter(tenant_id=actor_of(request).tenant_id, revoked_at=None)
    part = part_of(request)
    if part is not None:
        mine = mine.filter(pk__in=keys_granted_in(part))
    expiring = mine.filter(expires_at__gt=moment, expires_at__lte=moment + _SOON).count()
    old = mine.filter(created_at__lt=moment - _UNUSED, interactive=False)
    unused = old.exclude(last_used_at__gte=moment - _UNUSED).count()
    address = reverse("admin:workareas_key_changelist")
    return [
        Tile(
            "Keys expiring in 14 days",
            str(expiring),
            attention="issue their successors" if expiring else "",
            address=address,
        ),
        Tile(
            "Keys unused for 90 days",
            str(unused),
            attention="revoke what nobody needs" if unused else "",
            address=address,
        ),
    ]


tiles.register(_keys, order=40)

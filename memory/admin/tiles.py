"""What waits, how long, and what needs somebody's eye."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Min, Q
from django.http import HttpRequest
from django.urls import reverse

from memory.claims.models import Artifact
from memory.claims.states import ScanState, State
from oml.console import tiles
from oml.console.parts import part_of
from oml.console.tiles import Tile
from oml.core.clock import now

_DAY = timedelta(days=1)


def _waiting(request: HttpRequest) -> list[Tile]:
    user: Any = request.user
    moment = now()
    part = part_of(request)
    mine = Q() if part is None else part.under("workarea__path")
    held = Artifact.objects.held(moment).filter(mine, tenant_id=user.tenant_id)
    counts = held.aggregate(
        held=Count("pk"),
        expiring=Count("pk", filter=Q(held_expires_at__lte=moment + _DAY)),
        failing=Count("pk", filter=Q(scan_state=ScanState.FAILED)),
        oldest=Min("submitted_at"),
    )
    address = f"{reverse('admin:memory_artifact_changelist')}?state__exact={State.HELD}"
    oldest = counts["oldest"]
    days = (moment - oldest).days if oldest else 0
    return [
        Tile("Held", str(counts["held"]), "submissions that nobody has decided", address=address),
        Tile(
            "Expiring in 24 hours",
            str(counts["expiring"]),
            attention="they end unread unless somebody reviews" if counts["expiring"] else "",
            address=address,
        ),
        Tile(
            "Oldest waiting",
            "nothing waits" if oldest is None else f"{days} days" if days else "less than a day",
        ),
        Tile(
            "Scans failing",
            str(counts["failing"]),
            attention="these cannot be reviewed until a scan succeeds" if counts["failing"] else "",
            address=f"{reverse('admin:memory_artifact_changelist')}?scan_state__exact={ScanState.FAILED}",
        ),
    ]


tiles.register(_waiting, order=10)

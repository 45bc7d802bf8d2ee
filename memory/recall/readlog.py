"""The read log: who read what, written before the answer leaves; a query only as its keyed digest (D12)."""

from __future__ import annotations

from collections.abc import Sequence

from memory.recall.models import ReadLog
from oml.core.actor import Actor
from oml.crypto.digest import keyed_digest


def record(
    actor: Actor,
    *,
    surface: str,
    workarea_id: str | None,
    query: str | None = None,
    returned: Sequence[str] = (),
) -> None:
    """Log one read.

    Args:
        actor: who read.
        surface: recall, artifact, workarea or tail.
        workarea_id: the node that was asked about.
        query: the query's text; only its HMAC is stored.
        returned: ids in the answer, in order, steering included.
    """
    ReadLog.objects.create(
        tenant_id=actor.tenant_id,
        key_id=actor.key_id,
        principal_id=actor.principal_id,
        channel=actor.channel,
        surface=surface,
        workarea_id=workarea_id,
        query_digest=keyed_digest("readlog.query", query.encode()) if query is not None else None,
        returned=list(returned),
    )

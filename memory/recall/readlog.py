"""The read log: who read what, written before the answer leaves; a query only as its keyed digest (D12)."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from oml.core.actor import Actor
from oml.core.clock import now
from oml.crypto.digest import keyed_digest

# By hand: every read of the product ends with it, and by the object mapping it cost a third of the cheapest one.
_LINE = """
INSERT INTO memory_readlog
    (tenant_id, key_id, principal_id, channel, surface, workarea_id, query_digest, returned, at)
VALUES (%(tenant)s, %(key)s, %(principal)s, %(channel)s, %(surface)s, %(workarea)s, %(digest)s,
    %(returned)s::varchar(80)[], %(at)s)
"""


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
    values = {
        "tenant": actor.tenant_id,
        "key": actor.key_id,
        "principal": actor.principal_id,
        "channel": str(actor.channel),
        "surface": surface,
        "workarea": workarea_id,
        "digest": keyed_digest("readlog.query", query.encode()) if query is not None else None,
        "returned": list(returned),
        "at": now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_LINE, values)

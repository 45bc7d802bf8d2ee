"""The lock between starting a run and removing the actor that it would execute as.

Every later write of a run locks its row first, and so does a removal; a run that is just being added has no row to
lock yet. What must never happen here: another lock of ours taken before this one, which is how two would wait for
each other.
"""

from __future__ import annotations

import hashlib

from django.db import connection


def enter(principal_id: str) -> None:
    """Until this transaction ends, nobody removes the principal; others may enter too."""
    _lock("pg_advisory_xact_lock_shared", principal_id)


def clear(principal_id: str) -> None:
    """Wait until every run that is being started is there, and let no further one start before this one ends."""
    _lock("pg_advisory_xact_lock", principal_id)


def _lock(function: str, principal_id: str) -> None:
    digest = hashlib.sha256(f"actor of runs\0{principal_id}".encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [int.from_bytes(digest[:8], "big", signed=True)])

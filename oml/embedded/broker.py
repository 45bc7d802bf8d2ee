"""Installs pgmq, the embedded broker's tables and functions, into a database; once.

The package's SQL cannot be run twice, so it is guarded by a lock and by a look whether it is there.
"""

from __future__ import annotations

import psycopg
from pgmq.install import get_embedded_install_sql

# Any number, as long as it is the same for everybody who installs pgmq.
_ADVISORY_LOCK = 7_042_017


def install(dsn: str) -> bool:
    """Makes the ``pgmq`` schema when it is missing; safe to call from two processes at once.

    Args:
        dsn: a libpq URL of a user who may create a schema.
    Returns: True when it installed, False when it was there.
    Errors: psycopg.Error.
    """
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_ADVISORY_LOCK])
        # The script is one transaction, so one of its tables stands for all of them.
        if connection.execute("SELECT to_regclass('pgmq.meta')").fetchone() != (None,):
            return False
        connection.execute(get_embedded_install_sql().encode())
        return True

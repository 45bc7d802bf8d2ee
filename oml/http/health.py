"""``/healthz``: the process answers. ``/readyz``: it can do its work.

Readiness needs the database, applied migrations and a usable signing key. A late worker is reported and does not
make this replica unready: recall and submission go on, and taking the web down would help nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import Error as DatabaseAway
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from oml.crypto import signing

Check = Callable[[], dict[str, Any]]
WORKER_LATE_SECONDS = 60
_extra: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    """Add a reported, non-fatal check; rooms above bring theirs."""
    _extra[name] = check


def healthz(request: HttpRequest) -> JsonResponse:
    """200 whenever this process can answer at all."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when database, migrations and signing key are good, else 503; both name every check."""
    checks = {"database": _database(), "migrations": _migrations(), "signing_key": _signing_key()}
    ready = all(check["status"] == "ok" for check in checks.values())
    if ready:
        checks |= {name: _reported(check) for name, check in _extra.items()}
    response = JsonResponse(
        {"status": "ready" if ready else "not ready", "checks": checks}, status=200 if ready else 503
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _reported(check: Check) -> dict[str, Any]:
    try:
        return check()
    except DatabaseAway:  # gone since the check of a moment ago; the next probe says so
        return {"status": "unknown"}


def _database() -> dict[str, Any]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseAway:
        return {"status": "away"}
    return {"status": "ok"}


_migrated = False


def _migrations() -> dict[str, Any]:
    global _migrated
    if _migrated:  # migrations are never unapplied under a running process
        return {"status": "ok"}
    try:
        executor = MigrationExecutor(connection)
        pending = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseAway:
        return {"status": "unknown"}
    _migrated = pending == 0
    return {"status": "ok"} if _migrated else {"status": "pending", "pending": pending}


def _signing_key() -> dict[str, Any]:
    try:
        keys = signing.public_keys()
    except Exception:
        return {"status": "unusable"}
    return {"status": "ok"} if keys else {"status": "missing"}

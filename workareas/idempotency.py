"""The one place of retries (D13): ``run_once`` answers a repeated write with its stored answer.

Only successes are stored, in the transaction of the write itself, so a crash leaves either both or neither. A
second request while the first still runs is told to come back: the lock is a transaction-scoped advisory lock,
which dies with its connection and so can never be left behind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import connection

from oml.core.actor import Actor
from oml.core.canonical import canonical_json
from workareas.errors import IdempotencyInFlight, IdempotencyMismatch
from workareas.models import IdempotencyRecord


def fingerprint(verb: str, request: dict[str, Any]) -> bytes:
    """SHA-256 over RFC 8785 JSON of the request after path→id resolution, with its verb; 32 bytes."""
    return hashlib.sha256(canonical_json([verb, request])).digest()


def run_once(
    actor: Actor,
    *,
    workarea_id: str | None,
    idempotency_key: str | None,
    request_fingerprint: bytes,
    run: Callable[[], tuple[dict[str, Any], str]],
) -> tuple[dict[str, Any], bool]:
    """Run a write, or answer with what it answered before.

    Args:
        actor: whose key scopes the idempotency key.
        workarea_id: the resolved node, None when it resolves to nothing (then nothing can have been stored).
        idempotency_key: as sent; None runs the write unconditionally.
        request_fingerprint: of :func:`fingerprint`.
        run: does the write; returns its answer and the id of what it made.

    Returns:
        The answer, and whether it is a replay.

    Raises:
        IdempotencyMismatch: ``request.idempotency_mismatch``; same key, other request.
        IdempotencyInFlight: ``request.idempotency_in_flight``; same key, first still running.
    """
    if idempotency_key is None or workarea_id is None:
        return run()[0], False
    if not _locked(actor.key_id, workarea_id, idempotency_key):
        raise IdempotencyInFlight
    record = IdempotencyRecord.objects.filter(
        key_id=actor.key_id, workarea_id=workarea_id, idempotency_key=idempotency_key
    ).first()
    if record is not None:
        if bytes(record.fingerprint) != request_fingerprint:
            raise IdempotencyMismatch
        return dict(record.response), True
    return _run_and_store(actor, workarea_id, idempotency_key, request_fingerprint, run), False


def _run_and_store(
    actor: Actor,
    workarea_id: str,
    idempotency_key: str,
    request_fingerprint: bytes,
    run: Callable[[], tuple[dict[str, Any], str]],
) -> dict[str, Any]:
    answer, subject_id = run()
    IdempotencyRecord.objects.create(
        key_id=actor.key_id,
        workarea_id=workarea_id,
        idempotency_key=idempotency_key,
        fingerprint=request_fingerprint,
        response=answer,
        subject_id=subject_id,
    )
    return answer


def _locked(*scope: str) -> bool:
    digest = hashlib.sha256("\0".join(scope).encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], "big", signed=True)])
        (got,) = cursor.fetchone()
    return bool(got)

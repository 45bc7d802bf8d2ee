"""The outbox: losing the broker, a worker or a message loses nothing (design: admission, Scans).

An action calls :func:`enqueue` inside its transaction; after commit a nudge goes to the broker. :func:`drain`
locks due rows with SKIP LOCKED, runs their handler and deletes them in one transaction, so a killed worker's rows
become free with its connection and an effect happens once. Beat sweeps what no nudge arrived for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction

from oml.core.clock import now
from oml.jobs.models import OutboxTask

logger = logging.getLogger(__name__)

Handler = Callable[[list[dict[str, Any]]], None]

BATCH = 32
_BACKOFF_CEILING = timedelta(minutes=5)
_handlers: dict[str, Handler] = {}
_nudge: Callable[[], None] | None = None


def handler(name: str) -> Callable[[Handler], Handler]:
    """Register the function that does tasks called ``name``; it gets a batch of argument objects."""

    def register(function: Handler) -> Handler:
        if name in _handlers:
            raise TypeError(f"outbox handler {name} is declared twice")
        _handlers[name] = function
        return function

    return register


def set_nudge(function: Callable[[], None]) -> None:
    """Install what tells a worker that there is work; the composition root does, so this module knows no broker."""
    global _nudge
    _nudge = function


def enqueue(name: str, *, delay: timedelta = timedelta(0), **args: str) -> None:
    """Write a task row in the running transaction and nudge a worker after commit.

    Args:
        name: a registered handler's name.
        delay: how long to wait before the task is due; the sweep finds it then.
        args: ids only; never text.
    """
    OutboxTask.objects.create(name=name, args=args, available_at=now() + delay)
    if delay:
        return
    transaction.on_commit(_send_nudge, robust=True)


def drain(*, limit: int = BATCH) -> int:
    """Do up to ``limit`` due tasks of one name; returns how many rows were taken.

    A batch that fails is tried one by one, so one bad row cannot hold the others; a row that fails alone waits,
    doubling from 2 s up to 5 min, for ever: work is never dropped.
    """
    with transaction.atomic():
        rows = _due(limit)
        if not rows:
            return 0
        try:
            with transaction.atomic():
                _handlers[rows[0].name]([row.args for row in rows])
            OutboxTask.objects.filter(pk__in=[row.pk for row in rows]).delete()
        except Exception as error:
            if len(rows) == 1:
                _postpone(rows[0], error)
            else:
                _one_by_one(rows)
    return len(rows)


def drain_all(*, ceiling: int = 10_000) -> int:
    """Drain until nothing is due or ``ceiling`` rows were taken; for commands and tests."""
    total = 0
    while total < ceiling and (taken := drain()):
        total += taken
    return total


def waiting() -> int:
    """Rows in the outbox, due or postponed."""
    return OutboxTask.objects.count()


def _due(limit: int) -> list[OutboxTask]:
    due = OutboxTask.objects.select_for_update(skip_locked=True).filter(available_at__lte=now())
    first = due.order_by("available_at", "id").first()
    if first is None:
        return []
    same = due.filter(name=first.name).order_by("available_at", "id")
    return list(same[:limit]) or [first]


def _one_by_one(rows: list[OutboxTask]) -> None:
    for row in rows:
        try:
            with transaction.atomic():
                _handlers[row.name]([row.args])
                row.delete()
        except Exception as error:
            _postpone(row, error)


def _postpone(row: OutboxTask, error: Exception) -> None:
    row.attempts += 1
    row.available_at = now() + min(timedelta(seconds=2 ** min(row.attempts, 9)), _BACKOFF_CEILING)
    row.last_error = type(error).__name__
    row.save(update_fields=["attempts", "available_at", "last_error"])
    # The class name alone: an exception's message may quote the text it choked on.
    logger.warning("outbox task %s failed: %s, attempt %d", row.name, row.last_error, row.attempts)


def _send_nudge() -> None:
    if _nudge is not None:
        try:
            _nudge()
        except Exception as error:
            logger.warning("no nudge sent (%s); the sweep will find the work", type(error).__name__)

"""The outbox: losing the broker, a worker or a message loses nothing (design: admission, Scans).

An action calls :func:`enqueue` inside its transaction; after commit a nudge goes to the broker. :func:`drain` first
claims due rows (counts the attempt and moves their next one, committed at once), then locks them, deletes them and
runs their handler in one transaction. So an effect happens once; a killed worker's rows become free with its
connection; and a row that kills whoever touches it is known by its attempts, waits longer each time and is never
again in one batch with others. Beat sweeps what no nudge arrived for.

Some work is slow: minutes for one row where the rest takes milliseconds. It waits for everything else that is due, and
one worker process at a time does it, so that the others stay free.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from psycopg.types.json import Jsonb

from oml.core.clock import now
from oml.jobs.models import OutboxTask

logger = logging.getLogger(__name__)

Handler = Callable[[list[dict[str, Any]]], None]

BATCH = 32
_BACKOFF_CEILING = timedelta(minutes=5)
# By hand: every write that leaves work behind has it on its way.
_TASK = (
    "INSERT INTO jobs_outboxtask (name, args, created_at, available_at, attempts, last_error) "
    "VALUES (%s, %s, %s, %s, 0, '')"
)
_ONE_AT_A_TIME = 0x6F6D6C  # "oml"; the advisory lock of whoever does slow work
#: A batch that failed after so many seconds is not tried again at once: its rows are taken one by one later.
_PATIENCE = 60.0
_handlers: dict[str, Handler] = {}
_slow: set[str] = set()
_nudge: Callable[[], None] | None = None


def handler(name: str, *, slow: bool = False) -> Callable[[Handler], Handler]:
    """Register the function that does tasks called ``name``; it gets a batch of argument objects.

    Args:
        name: of the tasks.
        slow: whether one row may take minutes.
    """

    def register(function: Handler) -> Handler:
        if name in _handlers:
            raise TypeError(f"outbox handler {name} is declared twice")
        _handlers[name] = function
        if slow:
            _slow.add(name)
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
    moment = now()
    row: list[Any] = [name, Jsonb(args), moment, moment + delay]
    with connection.cursor() as cursor:
        cursor.execute(_TASK, row)
    if delay:
        return
    transaction.on_commit(_send_nudge, robust=True)


def drain(*, limit: int = BATCH) -> int:
    """Do up to ``limit`` due tasks of one name; returns how many rows were claimed.

    A batch that fails is tried one by one, so one bad row cannot hold the others; a row that fails alone waits,
    doubling from 2 s up to 5 min, for ever: work is never dropped.

    Raises:
        django.db.Error: the database went away; what was not done is found by a later drain.
    """
    claimed = _claim(limit)
    started = time.monotonic()
    if claimed and not _carry_out(claimed) and len(claimed) > 1 and time.monotonic() - started < _PATIENCE:
        for row in claimed:
            _carry_out([row])
    return len(claimed)


def drain_all(*, ceiling: int = 10_000) -> int:
    """Drain until nothing is due or ``ceiling`` rows were taken; for commands and tests."""
    total = 0
    while total < ceiling and (taken := drain()):
        total += taken
    return total


def waiting() -> int:
    """Rows in the outbox, due or postponed."""
    return OutboxTask.objects.count()


def _claim(limit: int) -> list[OutboxTask]:
    with transaction.atomic():
        due = OutboxTask.objects.select_for_update(skip_locked=True).filter(available_at__lte=now())
        due = due.order_by("available_at", "id")
        first = due.exclude(name__in=_slow).first() or due.first()
        if first is None:
            return []
        rows = [first] if first.attempts else list(due.filter(name=first.name, attempts=0)[:limit])
        wait = min(timedelta(seconds=2 ** min(first.attempts + 1, 9)), _BACKOFF_CEILING)
        keys = [row.pk for row in rows]
        OutboxTask.objects.filter(pk__in=keys).update(attempts=F("attempts") + 1, available_at=now() + wait)
        return rows


def _carry_out(claimed: list[OutboxTask]) -> bool:
    keys = [row.pk for row in claimed]
    try:
        with transaction.atomic():
            if claimed[0].name in _slow and not _my_turn():
                again = now() + timedelta(seconds=1)
                OutboxTask.objects.filter(pk__in=keys).update(attempts=F("attempts") - 1, available_at=again)
                return True
            # What somebody else has claimed meanwhile is theirs. Waiting, not skipping: another worker's claim
            # that looked at these rows a moment too late holds their locks until it has passed them by.
            locked = OutboxTask.objects.select_for_update()
            rows = list(locked.filter(pk__in=keys, attempts=claimed[0].attempts + 1).order_by("id"))
            if rows:
                # Deleted before the work, so that a handler's journal entry stays the last statement.
                OutboxTask.objects.filter(pk__in=[row.pk for row in rows]).delete()
                _handlers[rows[0].name]([row.args for row in rows])
    except Exception as error:
        kind = type(error).__name__
        # The class name alone: an exception's message may quote the text it choked on.
        logger.warning("outbox task %s failed: %s, %d at a time", claimed[0].name, kind, len(claimed))
        OutboxTask.objects.filter(pk__in=keys).update(last_error=kind)
        return False
    return True


def _my_turn() -> bool:
    """Whether nobody else does slow work at this moment; held to the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_ONE_AT_A_TIME])
        (mine,) = cursor.fetchone()
    return bool(mine)


def _send_nudge() -> None:
    if _nudge is not None:
        try:
            _nudge()
        except Exception as error:
            logger.warning("no nudge sent (%s); the sweep will find the work", type(error).__name__)

"""The only writer of the journal (D1).

It locks the tenant's head row inside the business transaction, as the last statement before COMMIT: whoever holds
the lock commits next, so commit order equals ``seq`` order and a polling tail can never skip a late commit.
Taking the lock last keeps it for one round trip instead of the whole transaction (ADR-0013).

Under the lock the permission epoch is compared with the one the caller's decision was made at. Has it moved, the
whole transaction is rolled back and tried once more: no write is ever decided on revoked access.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import transaction

from oml.core.actor import Actor
from oml.core.canonical import canonical_json
from oml.core.clock import now, rfc3339
from oml.core.errors import Unavailable
from oml.journal.hashing import chain_hash, leaf_hash
from oml.journal.registry import REGISTRY, Event
from oml.journal.statements import Head, lock_head, write

P = ParamSpec("P")
R = TypeVar("R")


class EpochMoved(Exception):
    """Permissions changed between the decision and the append; :func:`journalled` retries once."""


def journalled(action: Callable[P, R]) -> Callable[P, R]:
    """Run an action as one transaction with its journal entry; retry once when permissions moved under it.

    Raises:
        Unavailable: ``internal.unavailable``; permissions moved twice in a row, nothing was written.
    """

    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(2):
            try:
                with transaction.atomic():
                    return action(*args, **kwargs)
            except EpochMoved:
                continue
        raise Unavailable("permissions are changing at this moment, try again")

    return run


def append(actor: Actor, events: Sequence[Event], *, epoch: int | None, raise_epoch: bool = False) -> list[int]:
    """Append events to the actor's tenant's chain as the last statement of the running transaction.

    Args:
        actor: who acted; key, principal and channel are recorded.
        events: one or more registered events, in order.
        epoch: permission epoch of the decision that allowed this; None only where no permission is consulted
            (expiry, scans, bootstrap).
        raise_epoch: whether this transaction changes permissions.

    Returns:
        The sequence numbers given, ascending.

    Raises:
        RuntimeError: outside a transaction, or an unregistered event type; both are programming errors.
        EpochMoved: see :func:`journalled`.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("append runs inside the transaction whose change it records")
    if not events:
        raise RuntimeError("a write without an event is not a write of this product")
    for item in events:
        if REGISTRY.get(item.type) is not type(item):
            raise RuntimeError(f"{type(item).__name__} is not a registered event")
    head = lock_head(actor.tenant_id)
    if epoch is not None and head.permission_epoch != epoch:
        raise EpochMoved
    at = now()
    if raise_epoch:
        head.permission_epoch += 1
    rows: list[tuple[Any, ...]] = []
    for item in events:
        head.seq += 1
        rows.append(_row(actor, item, head, at))
    write(head, rows)
    return list(range(head.seq - len(rows) + 1, head.seq + 1))


def hold(actor: Actor) -> None:
    """Take the head lock before the change instead of with the append, after every other lock.

    Only for the rare act that must see every write before it and be seen by every write after it, such as a step up
    the ladder, which counts what is held: until it commits, nobody else in the tenant does.

    Raises:
        RuntimeError: outside a transaction.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("hold runs inside the transaction that appends")
    lock_head(actor.tenant_id)


def _row(actor: Actor, item: Event, head: Head, at: datetime) -> tuple[Any, ...]:
    """The values of :data:`oml.journal.statements.COLUMNS`; the head's chain moves on."""
    subject = item.subject()
    record: dict[str, Any] = {
        "tenant": actor.tenant_id,
        "seq": head.seq,
        "event_type": item.type,
        "event_version": item.event_version,
        "at": rfc3339(at),
        "actor": {"key": actor.key_id, "principal": actor.principal_id},
        "channel": str(actor.channel),
        # Which permissions held after this entry: what they were at an epoch is told from the journal alone.
        "permission_epoch": head.permission_epoch,
        "workarea": item.workarea_id,
        "far_workarea": item.far_workarea_id,
        "simulation": item.simulation_id,
        "subject": subject,
        "payload": item.payload(),
    }
    canonical = canonical_json(record)
    leaf = leaf_hash(canonical)
    head.chain_hash = chain_hash(head.chain_hash, head.seq, leaf)
    return (
        actor.tenant_id,
        head.seq,
        item.type,
        canonical.decode(),
        leaf,
        head.chain_hash,
        at,
        item.workarea_id,
        item.far_workarea_id,
        item.simulation_id,
        next(iter(subject.values()), None),
        item.in_tail(record["payload"]),
        item.owner(actor.principal_id, record["payload"]),
    )

"""Checkpoints: what the journal was, signed, and kept where the database cannot reach it.

A hash chain in a database proves nothing against whoever owns the database: they can compute it anew. A signed root
that somebody kept elsewhere does. So a checkpoint is written to a file outside *before* the transaction that stores
and quotes it commits: whatever the journal quotes is also out there.

What must never happen here: signing a tree that contradicts an earlier checkpoint (C2SP tlog-checkpoint: MUST NOT),
or a checkpoint made only because the last one was journalled.
"""

from __future__ import annotations

import base64
import hashlib
import logging

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.core.errors import OmlError
from oml.journal import note, outside, tree
from oml.journal.append import append
from oml.journal.errors import JournalContradicted
from oml.journal.events import Checkpointed
from oml.journal.models import Checkpoint, JournalEntry, JournalHead
from oml.journal.selectors import head_seq

logger = logging.getLogger(__name__)


def origin_of(tenant_id: str) -> str:
    """The log's name in checkpoints: the deployment's name and the tenant."""
    return f"{settings.OML_JOURNAL_ORIGIN}/{tenant_id}"


def latest(tenant_id: str) -> Checkpoint | None:
    """The newest checkpoint in the database."""
    return Checkpoint.objects.filter(tenant_id=tenant_id).order_by("-size").first()


def between(tenant_id: str, first: int, last: int, *, most: int = 1000) -> list[Checkpoint]:
    """Checkpoints over trees of ``first`` to ``last`` entries, smallest first; of too many, evenly some."""
    rows = Checkpoint.objects.filter(tenant_id=tenant_id, size__gte=first, size__lte=last).order_by("size")
    sizes = list(rows.values_list("size", flat=True))
    chosen = sizes[:: -(-len(sizes) // most)] if sizes else []
    return list(rows.filter(size__in=chosen))


def make_checkpoint(tenant_id: str, *, at_least: int = 0) -> Checkpoint | None:
    """Sign the journal as it is now, keep the note outside, store and journal it; nothing new, nothing made.

    Args:
        tenant_id: whose journal.
        at_least: the checkpoint must cover this entry, news or not (exports).

    Returns:
        The newest checkpoint, the one there was when there is no news; None for an empty journal.

    Raises:
        JournalContradicted: the journal is not the one that was signed before; nothing was signed.
        SecretUnusable: the checkpoint key cannot be used.
        OSError: the folder outside cannot be written; nothing was stored.
    """
    known = latest(tenant_id)
    if known is not None and known.size >= at_least and not _news_since(tenant_id, known.size):
        _settle_outside(tenant_id, known)
        return known
    tree.extend(tenant_id, head_seq(tenant_id))  # before the transaction: a first run over an old journal is long
    with transaction.atomic(durable=True):  # what is signed is committed, nobody's unfinished work
        _take_turn(tenant_id)
        size = head_seq(tenant_id)
        known = latest(tenant_id)
        if size == 0 or (known is not None and known.size >= size):
            return known
        _settle_outside(tenant_id, known)
        return _sign(tenant_id, size)


def make_checkpoints() -> int:
    """Checkpoint every tenant with news; one that fails holds up no other. Returns how many failed."""
    failed = 0
    for tenant_id in JournalHead.objects.order_by("pk").values_list("pk", flat=True):
        try:
            make_checkpoint(tenant_id)
        except (OmlError, OSError, ValueError, DatabaseError) as error:
            failed += 1
            # Ours are sentences for this line; another's message may quote what it choked on.
            reason = str(error) if isinstance(error, OmlError) else type(error).__name__
            logger.error("no checkpoint for tenant %s: %s", tenant_id, reason)
    return failed


def _sign(tenant_id: str, size: int) -> Checkpoint:
    root = tree.root_at(tenant_id, size)
    origin = origin_of(tenant_id)
    signed = note.sign(origin, size, root)
    made = Checkpoint.objects.create(
        tenant_id=tenant_id, size=size, root=root, note=signed.text, keyid=signed.keyid, at=now()
    )
    outside.keep(tenant_id, signed.text)
    quoted = Checkpointed(origin=origin, size=size, root=base64.b64encode(root).decode(), keyid=signed.keyid)
    append(Actor(tenant_id, "system", "system", Role.OPERATOR, Channel.SYSTEM), [quoted], epoch=None)
    return made


def _news_since(tenant_id: str, size: int) -> bool:
    """Whether anything but the quotation of that checkpoint was appended after it."""
    later = JournalEntry.objects.filter(tenant_id=tenant_id, seq__gt=size)
    return later.exclude(event_type=Checkpointed.type).exists()


def _settle_outside(tenant_id: str, known: Checkpoint | None) -> None:
    """Compare with both kept sides; give the file what it lacks (a new machine, a file that was moved away)."""
    kept = outside.newest(tenant_id)
    _check_against(tenant_id, kept)
    if known is None:
        return
    _check_against(tenant_id, note.parse(known.note))
    if kept is None or kept.size < known.size:
        outside.keep(tenant_id, known.note)


def _check_against(tenant_id: str, before: note.Note | None) -> None:
    if before is None:
        return
    if before.size > head_seq(tenant_id):
        raise JournalContradicted(
            f"the journal of tenant {tenant_id} ends at seq {head_seq(tenant_id)}, a checkpoint was signed at "
            f"{before.size}: entries are gone (an older backup?)"
        )
    if tree.root_at(tenant_id, before.size) != before.root:
        raise JournalContradicted(
            f"the first {before.size} entries of tenant {tenant_id}'s journal are not those that were signed"
        )


def _take_turn(tenant_id: str) -> None:
    """One checkpoint of a tenant at a time, so that sizes only grow; the lock ends with the transaction."""
    lock = hashlib.sha256(b"journal.checkpoint\0" + tenant_id.encode()).digest()[:8]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(lock, "big", signed=True)])

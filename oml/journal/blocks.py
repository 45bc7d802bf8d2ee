"""A long journal checked by several workers at once: blocks apart, then their borders and roots together.

A worker starts from the chain hash that is stored before its block, and believes it; whoever puts the blocks together
believes none that does not start from where the one before ended. What must never happen here: an answer of its own.
A block that is not intact is left alone, and the one walk that names breaks goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.db import transaction

from oml.journal.chain_check import ChainCheck, Head, Part
from oml.journal.hashing import GENESIS
from oml.journal.merkle import Frontier
from oml.journal.models import JournalEntry
from oml.journal.rows import stream

#: Entries of a block; a power of two, so that its tree is one complete subtree of the whole.
BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Block:
    """What a worker is asked: the entries after ``start`` up to ``end``.

    Attributes:
        kept: heads that were written down and lie in it.
        sizes: sizes of signed checkpoints that lie in it.
        rooted: whether any checkpoint is compared at all.
    """

    tenant_id: str
    start: int
    end: int
    kept: Mapping[int, bytes]
    sizes: frozenset[int]
    rooted: bool


def check_blocks(
    check: ChainCheck,
    entries: int,
    workers: Executor,
    *,
    block: int = BLOCK,
    advance: Callable[[int], Any] = lambda count: None,
) -> None:
    """Take ``check`` on over whole blocks for as long as they are intact.

    Args:
        check: at its beginning.
        entries: how many there are to be.
        workers: run :func:`check_block`.
        block: entries of a block; a power of two.
        advance: told how many more entries were checked.
    """
    borders = range(0, entries + 1, block)
    asked = [_asked(check, start, end) for start, end in pairwise(borders)]
    for part in workers.map(check_block, asked):
        if part is None or not check.take(part):
            break
        advance(block)


def check_block(asked: Block) -> Part | None:
    """Check one block; None where it is not intact."""
    with transaction.atomic():  # a server-side cursor lives in a transaction
        return _checked(asked)


def _asked(check: ChainCheck, start: int, end: int) -> Block:
    kept = {seq: chain for seq, chain in check.kept.items() if start < seq <= end}
    sizes = frozenset(size for size in check.signed if start < size <= end)
    return Block(check.tenant_id, start, end, kept, sizes, bool(check.signed))


def _checked(asked: Block) -> Part | None:
    before = _chain_at(asked.tenant_id, asked.start)
    if before is None:
        return None
    check = ChainCheck(asked.tenant_id, asked.kept, head=Head(asked.start, before))
    tree = Frontier()
    edges = {}
    for row, _ in stream(asked.tenant_id, after=asked.start, until=asked.end):
        if check.next_row(row) is not None:
            return None
        if asked.rooted:
            tree.push(row.leaf_hash)
            if row.seq in asked.sizes:
                edges[row.seq] = tree.edge()
    if check.head.seq != asked.end:
        return None
    return Part(asked.start, before, check.head, tree.edge(), edges)


def _chain_at(tenant_id: str, seq: int) -> bytes | None:
    if seq == 0:
        return GENESIS
    stored = JournalEntry.objects.filter(tenant_id=tenant_id, seq=seq).values_list("chain_hash", flat=True).first()
    return None if stored is None else bytes(stored)

"""The journal's tree in the database: roots and proofs from stored subtree hashes, never from the first leaf on.

Every complete block of 256, 65,536, … leaves has its hash stored (:class:`JournalSubtree`), so a root or a proof over
ten million entries reads three short ranges of rows. The blocks are derived data: a missing one is computed from the
level below, and nobody who verifies reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db.models import Max

from oml.journal import merkle
from oml.journal.errors import JournalContradicted
from oml.journal.merkle import Node, Place
from oml.journal.models import JournalEntry, JournalSubtree

T = TypeVar("T")

_STEP = 8
_FAN = 1 << _STEP
_BATCH = 256  # blocks a transaction: an interrupted first run over an old journal goes on where it stopped


def extend(tenant_id: str, size: int) -> None:
    """Store the hashes of all blocks that are complete within the first ``size`` entries.

    Raises:
        JournalContradicted: an entry is missing.
    """
    level = 1
    while blocks := size >> (_STEP * level):
        newest = JournalSubtree.objects.filter(tenant_id=tenant_id, level=level).aggregate(top=Max("index"))["top"]
        for start in range(0 if newest is None else newest + 1, blocks, _BATCH):
            end = min(start + _BATCH, blocks)
            digests = _blocks(tenant_id, level, start, end)
            JournalSubtree.objects.bulk_create(
                (
                    JournalSubtree(tenant_id=tenant_id, level=level, index=index, digest=digest)
                    for index, digest in zip(range(start, end), digests, strict=True)
                ),
                ignore_conflicts=True,  # two that extend at once store the same hashes
            )
        level += 1


def root_at(tenant_id: str, size: int) -> bytes:
    """The root of the tree over the first ``size`` entries."""
    return _build(tenant_id, lambda node: merkle.tree_root(node, size))


def inclusion_proof(tenant_id: str, seq: int, size: int) -> list[bytes]:
    """That entry ``seq`` is in the tree of ``size`` entries."""
    return _build(tenant_id, lambda node: merkle.inclusion_proof(node, seq - 1, size))


def consistency_proof(tenant_id: str, old: int, new: int) -> list[bytes]:
    """That the tree of ``new`` entries begins with the tree of ``old`` ones."""
    return _build(tenant_id, lambda node: merkle.consistency_proof(node, old, new))


def slice_proof(tenant_id: str, from_seq: int, to_seq: int, size: int) -> tuple[list[bytes], list[bytes]]:
    """The subtrees left and right of a slice: with its leaves between them they give the root at ``size``."""
    left, right = merkle.cover(0, from_seq - 1), merkle.cover(to_seq, size)
    return _build(tenant_id, lambda node: ([node(place) for place in left], [node(place) for place in right]))


def leaf_at(tenant_id: str, seq: int) -> bytes:
    """The stored leaf hash of one entry.

    Raises:
        JournalContradicted: it is missing.
    """
    return _stored(tenant_id, 0, seq - 1, seq)[0]


def _build(tenant_id: str, build: Callable[[Node], T]) -> T:
    """Run a construction twice: once to see which subtrees it asks for, once with them."""
    known = _load(tenant_id, merkle.places_needed(build))
    return build(known.__getitem__)


def _load(tenant_id: str, places: list[Place]) -> dict[Place, bytes]:
    known: dict[Place, bytes] = {}
    for place in places:
        level, below = divmod(place.level, _STEP)
        start = place.index << below
        known[place] = merkle.root_of(_stored(tenant_id, level, start, start + (1 << below)))
    return known


def _blocks(tenant_id: str, level: int, start: int, end: int) -> list[bytes]:
    """Hashes of whole blocks, computed from the level below."""
    below = _stored(tenant_id, level - 1, start * _FAN, end * _FAN)
    return [merkle.root_of(below[at : at + _FAN]) for at in range(0, len(below), _FAN)]


def _stored(tenant_id: str, level: int, start: int, end: int) -> list[bytes]:
    """The hashes ``[start, end)`` of a stored level; level 0 are the leaves."""
    if level == 0:
        leaves = JournalEntry.objects.filter(tenant_id=tenant_id, seq__gt=start, seq__lte=end).order_by("seq")
        digests = [bytes(digest) for digest in leaves.values_list("leaf_hash", flat=True)]
        if len(digests) != end - start:
            raise JournalContradicted(f"tenant {tenant_id}: an entry between seq {start + 1} and {end} is missing")
        return digests
    rows = JournalSubtree.objects.filter(tenant_id=tenant_id, level=level, index__gte=start, index__lt=end)
    found = {index: bytes(digest) for index, digest in rows.values_list("index", "digest")}
    return [found.get(index) or _blocks(tenant_id, level, index, index + 1)[0] for index in range(start, end)]

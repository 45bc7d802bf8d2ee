"""RFC 6962's tree over the journal's leaves, pure: roots, inclusion and consistency proofs, proofs of a slice.

A proof is made from the hashes of *complete* subtrees only: ``node(level, index)`` is the hash over the ``2**level``
leaves from ``index * 2**level`` on. Complete subtrees of an append-only log never change, so they can be stored once
and a root over ten million entries needs a few dozen of them (``tree.py``).

What must never happen here: a verifier that accepts a proof of another length than the sizes demand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

EMPTY_ROOT = hashlib.sha256(b"").digest()


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A complete subtree: ``2**level`` leaves, the ``index``-th such block of the tree."""

    level: int
    index: int


Node = Callable[[Place], bytes]


def node_hash(left: bytes, right: bytes) -> bytes:
    """RFC 6962 hash of an inner node; 32 bytes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: one hash per binary digit of its size, and nothing else.

    Attributes:
        size: how many leaves were pushed.
    """

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[tuple[int, bytes]] = []

    def push(self, digest: bytes, level: int = 0) -> None:
        """Append a leaf, or the hash of a complete subtree of ``2**level`` leaves.

        Raises:
            ValueError: the subtree would not lie at a multiple of its own size.
        """
        if self.size % (1 << level):
            raise ValueError("a subtree starts at a multiple of its size")
        self.size += 1 << level
        while self._edge and self._edge[-1][0] == level:
            digest = node_hash(self._edge.pop()[1], digest)
            level += 1
        self._edge.append((level, digest))

    def edge(self) -> list[tuple[int, bytes]]:
        """Level and hash of the complete subtrees that everything pushed so far is made of, left to right."""
        return list(self._edge)

    def extended(self, edge: Iterable[tuple[int, bytes]]) -> Frontier:
        """This tree with the subtrees of another put behind it; neither changes.

        Raises:
            ValueError: see :meth:`push`.
        """
        longer = Frontier()
        longer.size, longer._edge = self.size, list(self._edge)
        for level, digest in edge:
            longer.push(digest, level)
        return longer

    def root(self) -> bytes:
        """The root over everything pushed so far."""
        return _fold([digest for _, digest in self._edge])


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over leaf hashes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.push(leaf)
    return frontier.root()


def cover(start: int, end: int) -> list[Place]:
    """The fewest complete subtrees that make up the leaves ``[start, end)``, left to right."""
    places: list[Place] = []
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        places.append(Place(level, start >> level))
        start += 1 << level
    return places


def tree_root(node: Node, size: int) -> bytes:
    """The root of the tree of ``size`` leaves, out of its complete subtrees."""
    return _range_root(node, 0, size)


def inclusion_proof(node: Node, index: int, size: int) -> list[bytes]:
    """RFC 6962, 2.1.1: the audit path of the leaf at ``index`` in the tree of ``size`` leaves.

    Raises:
        ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError("the tree has no such leaf")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(_range_root(node, middle, end))
            end = middle
        else:
            path.append(_range_root(node, start, middle))
            start = middle
    return path[::-1]


def consistency_proof(node: Node, old: int, new: int) -> list[bytes]:
    """RFC 6962, 2.1.2: that the tree of ``new`` leaves begins with the tree of ``old`` leaves.

    Raises:
        ValueError: ``old`` is not between 1 and ``new``.
    """
    if not 1 <= old <= new:
        raise ValueError("a tree grows, and an empty one proves nothing")
    path: list[bytes] = []
    start, end = 0, new
    whole = True  # whether [start, old) is still a subtree that the verifier knows as the old root
    while end != old:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(_range_root(node, middle, end))
            end = middle
        else:
            path.append(_range_root(node, start, middle))
            start, whole = middle, False
    if not whole:
        path.append(_range_root(node, start, end))
    return path[::-1]


def places_needed(build: Callable[[Node], object]) -> list[Place]:
    """The complete subtrees that a proof will ask for, so that they can be read in one go."""
    places: dict[Place, None] = {}

    def note(place: Place) -> bytes:
        places[place] = None
        return EMPTY_ROOT

    build(note)
    return list(places)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """RFC 9162, 2.1.3.2: whether the leaf stands at ``index`` under ``root``."""
    if not 0 <= index < size or not _hashes(leaf, root, *proof):
        return False
    position, last, digest = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            digest = node_hash(step, digest)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            digest = node_hash(digest, step)
        position, last = position >> 1, last >> 1
    return last == 0 and digest == root


def verify_consistency(old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """RFC 9162, 2.1.4.2: whether the tree of ``new`` leaves begins with the tree of ``old`` leaves."""
    if not 1 <= old <= new or not _hashes(old_root, new_root, *proof):
        return False
    if old == new:
        return not proof and old_root == new_root
    steps = list(proof)
    if old & (old - 1) == 0:
        steps.insert(0, old_root)
    if not steps:
        return False
    position, last = old - 1, new - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    old_digest = new_digest = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old_digest, new_digest = node_hash(step, old_digest), node_hash(step, new_digest)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            new_digest = node_hash(new_digest, step)
        position, last = position >> 1, last >> 1
    return last == 0 and old_digest == old_root and new_digest == new_root


def _hashes(*digests: bytes) -> bool:
    return all(len(digest) == len(EMPTY_ROOT) for digest in digests)


def _range_root(node: Node, start: int, end: int) -> bytes:
    return _fold([node(place) for place in cover(start, end)])


def _fold(edge: list[bytes]) -> bytes:
    if not edge:
        return EMPTY_ROOT
    digest = edge[-1]
    for left in edge[-2::-1]:
        digest = node_hash(left, digest)
    return digest


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << ((size - 1).bit_length() - 1)

"""RFC 6962's tree, as a verifier needs it: roots from leaves and subtrees, inclusion, consistency."""

from __future__ import annotations

import hashlib

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """A growing tree by its right edge."""

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[tuple[int, bytes]] = []

    def push(self, digest: bytes, level: int = 0) -> None:
        """Append a leaf, or a complete subtree of ``2**level`` leaves that starts where it may."""
        if self.size % (1 << level):
            raise ValueError("a subtree starts at a multiple of its size")
        self.size += 1 << level
        while self._edge and self._edge[-1][0] == level:
            digest = node_hash(self._edge.pop()[1], digest)
            level += 1
        self._edge.append((level, digest))

    def root(self) -> bytes:
        if not self._edge:
            return EMPTY_ROOT
        digest = self._edge[-1][1]
        for _, left in self._edge[-2::-1]:
            digest = node_hash(left, digest)
        return digest


def levels_between(start: int, end: int) -> list[int]:
    """The levels of the fewest complete subtrees that make up the leaves ``[start, end)``, left to right."""
    levels: list[int] = []
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        levels.append(level)
        start += 1 << level
    return levels


def includes(leaf: bytes, index: int, size: int, proof: list[bytes], root: bytes) -> bool:
    """RFC 9162, 2.1.3.2."""
    if not 0 <= index < size:
        return False
    position, last, digest = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            digest = node_hash(step, digest)
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            digest = node_hash(digest, step)
        position, last = position >> 1, last >> 1
    return last == 0 and digest == root


def consistent(old: int, new: int, proof: list[bytes], old_root: bytes, new_root: bytes) -> bool:
    """RFC 9162, 2.1.4.2."""
    if not 1 <= old <= new:
        return False
    if old == new:
        return not proof and old_root == new_root
    steps = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not steps:
        return False
    position, last = old - 1, new - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    first = second = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            first, second = node_hash(step, first), node_hash(step, second)
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            second = node_hash(second, step)
        position, last = position >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root

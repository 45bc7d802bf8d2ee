"""The journal slice of a bundle: each entry is what was hashed, continues the chain, and is under the signed root.

The first break ends the walk, since nothing after it means anything; it is named by its sequence number. A slice that
was changed and chained anew is consistent in itself: then the marks of the signed manifest say at which entry, and
where that manifest is not genuine either, the signed roots say between which two checkpoints.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oml_verify import merkle
from oml_verify.container import Container
from oml_verify.findings import Report
from oml_verify.notes import Checkpoint
from oml_verify.strict import Malformed, parse_object, unbase64, unhex

MARK_BYTES = 8
ANEW = "this is not what was signed: an entry was changed and the chain computed anew"
_DOMAIN = b"oml-chain-v1\0"


@dataclass
class Slice:
    """What the walk saw.

    Attributes:
        whole: every entry from the first to the last was walked.
        root: the root at the checkpoint's size, None where the proof does not fit.
        roots: roots at the sizes that were asked for, as far as the slice reaches.
        reached: the last entry that was found intact.
    """

    whole: bool = False
    root: bytes | None = None
    roots: dict[int, bytes] = field(default_factory=dict)
    reached: int = 0


class Marks:
    """The chain at every so many entries, as the genuine manifest states it."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        """Read them.

        Raises:
            Malformed: they are not as many as the slice needs.
        """
        first, last, step = manifest["from_seq"], manifest["to_seq"], manifest["marks"]["step"]
        raw = unbase64(manifest["marks"]["chain"])
        places = [*range(first, last, step), last]
        if len(raw) != MARK_BYTES * len(places):
            raise Malformed("the marks are not as many as the slice needs")
        self._said = {seq: raw[at * MARK_BYTES : (at + 1) * MARK_BYTES] for at, seq in enumerate(places)}
        self._agreed: int = first - 1

    def first_unlike(self, seq: int, chain: bytes) -> int | None:
        """The first entry that may be changed, when the chain at this one is not what the mark says."""
        said = self._said.get(seq)
        if said is not None and said != chain[:MARK_BYTES]:
            return self._agreed + 1
        if said is not None:
            self._agreed = seq
        return None


def walk(
    bundle: Container,
    manifest: dict[str, Any],
    report: Report,
    *,
    sizes: set[int],
    marks: Marks | None,
    visit: Callable[[dict[str, Any]], None],
) -> Slice:
    """Walk the slice; findings go into the report.

    Args:
        bundle: the container.
        manifest: what the bundle says of itself.
        report: gets the findings.
        sizes: sizes at which a root is wanted.
        marks: the genuine manifest's, None where it is not genuine.
        visit: gets each visible record in order.
    """
    first, last = manifest["from_seq"], manifest["to_seq"]
    tree = _left(bundle, first)
    found = Slice(reached=first - 1)
    chain = unhex(manifest["chain_before"])
    if first == 1 and chain != bytes(32):
        report.fail("the chain of a journal starts from nothing", seq=1)
    entries, links = bundle.lines("entries.ndjson"), bundle.lines("chain.txt")
    if tree is not None and tree.size in sizes:
        found.roots[tree.size] = tree.root()
    for seq in range(first, last + 1):
        entry, link = next(entries, None), next(links, None)
        if entry is None or link is None:
            report.fail("the slice is cut off here", seq=seq, until=last)
            return found
        try:
            leaf, record = _leaf(entry, seq, manifest["tenant"])
            said_leaf, said_chain = _link(link, seq)
        except Malformed as broken:
            report.fail(str(broken), seq=seq)
            return found
        if leaf != said_leaf:
            report.fail("the text is not what was hashed", seq=seq)
            return found
        chain = hashlib.sha256(_DOMAIN + chain + struct.pack(">Q", seq) + leaf).digest()
        if chain != said_chain:
            report.fail("the entry does not continue the chain", seq=seq)
            return found
        changed = marks.first_unlike(seq, chain) if marks else None
        if changed is not None:
            report.fail(ANEW, seq=changed, until=seq)
            return found
        if tree is not None:
            tree.push(leaf)
            if tree.size in sizes:
                found.roots[tree.size] = tree.root()
        if record is not None:
            visit(record)
        found.reached = seq
    if next(entries, None) is not None or next(links, None) is not None:
        report.fail("there are lines after the last entry of the slice", seq=last + 1)
        return found
    if chain.hex() != manifest["chain_after"]:
        report.fail("the chain does not end where the manifest says", seq=last)
    found.whole = True
    found.root = _right(bundle, tree, last)
    return found


def check_against(found: Slice, signed: list[Checkpoint], first: int, report: Report) -> None:
    """Hold the roots that the slice gives against signed ones, smallest first.

    Args:
        found: of :func:`walk`.
        signed: checkpoints under a trusted key.
        first: the slice's first entry.
        report: gets the finding; the first contradiction is the answer.
    """
    confirmed = first - 1
    for size in sorted({one.size for one in signed} & set(found.roots)):
        if any(one.root != found.roots[size] for one in signed if one.size == size):
            report.fail(ANEW, seq=confirmed + 1, until=max(confirmed + 1, min(size, found.reached)))
            return
        confirmed = max(confirmed, size)


def _leaf(line: bytes, seq: int, tenant: str) -> tuple[bytes, dict[str, Any] | None]:
    record = parse_object(line)
    if "redacted" in record:
        if set(record) != {"leaf_hash", "redacted"} or record["redacted"] != seq:
            raise Malformed("another entry stands in for this one")
        return unhex(record["leaf_hash"]), None
    if record.get("seq") != seq:
        raise Malformed(f"entry {record.get('seq')} stands in the place of this one")
    if record.get("tenant") != tenant:
        raise Malformed("the entry is another tenant's")
    return merkle.leaf_hash(line), record


def _link(line: bytes, seq: int) -> tuple[bytes, bytes]:
    parts = line.split(b" ")
    if len(parts) != 3 or parts[0] != b"%d" % seq:
        raise Malformed("chain.txt has another entry here")
    return unhex(parts[1].decode("ascii", "replace")), unhex(parts[2].decode("ascii", "replace"))


def _left(bundle: Container, first: int) -> merkle.Frontier | None:
    """The tree as it stands before the slice, None where the proof does not fit."""
    try:
        steps = parse_object(bundle.read("proof.json"))["left"]
        levels = merkle.levels_between(0, first - 1)
        if not isinstance(steps, list) or len(steps) != len(levels):
            return None
        tree = merkle.Frontier()
        for level, step in zip(levels, steps, strict=True):
            tree.push(unbase64(step, 32), level)
        return tree
    except (Malformed, KeyError):
        return None


def _right(bundle: Container, tree: merkle.Frontier | None, last: int) -> bytes | None:
    try:
        proof = parse_object(bundle.read("proof.json"))
        steps, size = proof["right"], proof["size"]
        if tree is None or not isinstance(steps, list) or not isinstance(size, int) or size < last:
            return None
        levels = merkle.levels_between(last, size)
        if len(steps) != len(levels):
            return None
        for level, step in zip(levels, steps, strict=True):
            tree.push(unbase64(step, 32), level)
        return tree.root()
    except (Malformed, KeyError):
        return None

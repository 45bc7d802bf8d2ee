"""The journal's part of a bundle: the slice as it was hashed, and which rows it speaks of.

Entries outside the exported scope are not left out, or the chain would not hold: their place is taken by their hash,
which proves them and tells nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from oml.core.canonical import canonical_json
from oml.journal.selectors import Line, lines

ARTIFACT = "art_"
MARK_BYTES = 8
_MARKS = 4096
_SEAL = "readlog.sealed"


@dataclass(slots=True)
class Mentioned:
    """What the visible entries of a slice are about, by id, in the order of mention."""

    artifacts: dict[str, None] = field(default_factory=dict)
    promoted: dict[str, None] = field(default_factory=dict)
    serves: dict[str, None] = field(default_factory=dict)
    verdicts: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """Commitment to stated words → subject."""
    seals: list[dict[str, Any]] = field(default_factory=list)

    def note(self, record: dict[str, Any]) -> None:
        """Remember what one record is about."""
        subject, payload, kind = record["subject"], record["payload"], record["event_type"]
        about = str(next(iter(subject.values()), ""))
        if about.startswith(ARTIFACT):
            self.artifacts[about] = None
        if kind == "lifecycle.promote":
            self.promoted[about] = None
        elif kind == "review.served":
            self.serves[payload["serve_id"]] = None
        elif kind == "review.verdict":
            self.serves[payload["serve_id"]] = None
            self.verdicts[payload["verdict_id"]] = None
        elif kind == _SEAL:
            self.seals.append({"seq": record["seq"], **payload})
        elif payload.get("reason_commitment"):
            self.reasons[payload["reason_commitment"]] = about


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of a slice."""

    mentioned: Mentioned
    sealed: tuple[tuple[int, int], ...]
    """First and last row of the read log of every seal in the slice, the redacted ones too: what counts are made over.
    They are asked with and not shown: a seal tells of the whole tenant's reads."""
    redacted: int
    chain_after: bytes
    marks: bytes


def mark_step(from_seq: int, to_seq: int) -> int:
    """At every how many entries the signed manifest marks the chain; every one of a slice up to 4,096.

    Marks prove nothing that the checkpoint does not. They are why a verifier can say *which* entry was changed when
    somebody changed one and computed the whole chain anew.
    """
    return -(-(to_seq - from_seq + 1) // _MARKS)


def write_slice(
    tenant_id: str,
    from_seq: int,
    to_seq: int,
    *,
    visible: Callable[[Line], bool],
    entries: IO[bytes],
    chain: IO[bytes],
    advance: Callable[[int], object],
) -> Written:
    """Write ``entries.ndjson`` and ``chain.txt`` of a slice.

    Args:
        tenant_id: whose journal.
        from_seq: the first entry.
        to_seq: the last entry.
        visible: whether an entry belongs to the exported scope.
        entries: gets the canonical text of each visible entry, a hash in place of the others.
        chain: gets number, leaf and chain hash of every entry.
        advance: told how many more entries were written.
    """
    mentioned, redacted, chain_after, told = Mentioned(), 0, b"", from_seq - 1
    sealed: list[tuple[int, int]] = []
    marks, step = bytearray(), mark_step(from_seq, to_seq)
    for line in lines(tenant_id, from_seq, to_seq):
        if visible(line):
            entries.write(line.canonical.encode() + b"\n")
            mentioned.note(json.loads(line.canonical))
        else:
            redacted += 1
            entries.write(canonical_json({"leaf_hash": line.leaf_hash.hex(), "redacted": line.seq}) + b"\n")
        if line.event_type == _SEAL:
            seal = json.loads(line.canonical)["payload"]
            sealed.append((seal["from"], seal["to"]))
        chain.write(b"%d %s %s\n" % (line.seq, line.leaf_hash.hex().encode(), line.chain_hash.hex().encode()))
        chain_after = line.chain_hash
        if (line.seq - from_seq) % step == 0 or line.seq == to_seq:
            marks += line.chain_hash[:MARK_BYTES]
        if line.seq % 1000 == 0 or line.seq == to_seq:
            advance(line.seq - told)
            told = line.seq
    return Written(mentioned, tuple(sealed), redacted, chain_after, bytes(marks))

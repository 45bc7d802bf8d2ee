"""The bundle: everything an auditor needs to check a slice of history without us, in one file (design: admission).

The same range, the same checkpoint and the same rows give the same bytes. A signed manifest names every other member
by its digest; the checkpoint ties the slice to the journal; the keys inside are for reading, never for trusting: an
auditor brings the keys they trust along.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any

from memory.recall.counts import read_counts
from oml.core.canonical import canonical_json
from oml.crypto.published import published_keys
from oml.crypto.signing import PayloadType, sign_envelope
from oml.journal import tree
from oml.journal.checkpoint import between
from oml.journal.selectors import Line, chain_hash_at
from review.evidence import container, rows
from review.evidence.reciprocity import Judgement, statistics
from review.evidence.slice import ARTIFACT, Written, mark_step, write_slice
from workareas.models import Workarea

VERSION = 1
README = """\
OML evidence bundle

Check it with the verifier, which needs nothing of the server:

    oml-verify bundle FILE --keys KEYS

KEYS is the list of public keys that you trust (GET /v1/deployment-keys of the deployment, taken from
there or from the people who run it, not from keys.json in this bundle).

entries.ndjson      the journal's entries, one canonical JSON text a line; its bytes are what was hashed
chain.txt           number, leaf hash, chain hash of each entry
checkpoint.note     the signed checkpoint that the slice is proved against; proof.json is the proof
checkpoints.notes   earlier signed checkpoints inside the slice
artifacts.ndjson    submissions with their signed envelopes; closures.ndjson what they rest on
serves.ndjson, verdicts.ndjson, reasons.ndjson   who was shown what, decided what, and why
policies.ndjson     review policies; reads.json counts of sealed reads; reciprocity.json who approves whom
manifest.dsse.json  digests of all members, signed
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a bundle may show: these nodes, with ``whole`` also what belongs to no node, and simulations of ``fence``.

    Evidence is a read like any other, so an exporter outside a simulation's audience sees its rows as hashes (D10).
    """

    node: Workarea
    nodes: tuple[Workarea, ...]
    whole: bool
    fence: frozenset[str] = frozenset()
    ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozenset(node.pk for node in self.nodes))

    def shows(self, line: Line) -> bool:
        """Whether an entry belongs to the scope."""
        if line.simulation_id is not None and line.simulation_id not in self.fence:
            return False
        if line.workarea_id is None:
            return self.whole
        return line.workarea_id in self.ids


@dataclass(frozen=True, slots=True)
class Signed:
    """The checkpoint that a bundle is proved against."""

    size: int
    root: bytes
    note: str


def write_bundle(
    target: IO[bytes],
    tenant_id: str,
    *,
    scope: Scope,
    from_seq: int,
    to_seq: int,
    checkpoint: Signed,
    advance: Callable[[int], object] = lambda count: None,
) -> str:
    """Write the bundle of a slice and return the hex SHA-256 of its bytes.

    Args:
        target: an empty binary file.
        tenant_id: whose journal.
        scope: what may be shown of it.
        from_seq: the first entry.
        to_seq: the last entry; the checkpoint covers it.
        checkpoint: to prove the slice against.
        advance: told how many more entries were written.

    Raises:
        SizeExceeded: ``limit.size``; the range makes more than a bundle holds.
        SecretUnusable: the signing key cannot be used.
    """
    with ExitStack() as stack:
        members: dict[str, IO[bytes]] = {}

        def member(name: str) -> IO[bytes]:
            members[name] = stack.enter_context(TemporaryFile())
            return members[name]

        written = write_slice(
            tenant_id,
            from_seq,
            to_seq,
            visible=scope.shows,
            entries=member("entries.ndjson"),
            chain=member("chain.txt"),
            advance=advance,
        )
        _write_rows(member, tenant_id, scope, written)
        _write_proof(member, tenant_id, from_seq, to_seq, checkpoint)
        member("keys.json").write(canonical_json({"items": published_keys()}) + b"\n")
        member("README.txt").write(README.encode())
        manifest = {
            "bundle_version": VERSION,
            "tenant": tenant_id,
            "scope": {"workarea": scope.node.pk, "path": scope.node.path, "whole": scope.whole},
            "from_seq": from_seq,
            "to_seq": to_seq,
            "redacted": written.redacted,
            "chain_before": chain_hash_at(tenant_id, from_seq - 1).hex(),
            "chain_after": written.chain_after.hex(),
            "marks": {"step": mark_step(from_seq, to_seq), "chain": _text(written.marks)},
            "checkpoint": {
                "origin": checkpoint.note.partition("\n")[0],
                "size": checkpoint.size,
                "root": _text(checkpoint.root),
            },
            "files": {name: _digest(file) for name, file in members.items()},
        }
        envelope = sign_envelope(PayloadType.EVIDENCE, manifest)
        member("manifest.dsse.json").write(envelope.text.encode())
        container.write(target, members)
    return str(_digest(target)["sha256"])


def _write_rows(member: Callable[[str], IO[bytes]], tenant_id: str, scope: Scope, written: Written) -> None:
    mentioned = written.mentioned
    authors: dict[str, tuple[str, str]] = {}
    with_authors = _noting_authors(rows.artifact_rows(mentioned.artifacts), authors)
    _ndjson(member("artifacts.ndjson"), with_authors)
    _ndjson(member("closures.ndjson"), rows.closure_rows(mentioned.promoted))
    _ndjson(member("serves.ndjson"), rows.serve_rows(mentioned.serves))
    judgements: list[Judgement] = []
    _ndjson(member("verdicts.ndjson"), _noting_verdicts(rows.verdict_rows(mentioned.verdicts), authors, judgements))
    _ndjson(member("reasons.ndjson"), rows.reason_rows(tenant_id, mentioned.reasons))
    _ndjson(member("policies.ndjson"), rows.policy_rows(scope.nodes))
    member("reciprocity.json").write(canonical_json(statistics(judgements)) + b"\n")
    counts = read_counts(tenant_id, written.sealed, workareas=None if scope.whole else scope.ids)
    reads = {
        "seals": mentioned.seals,
        "counts": [
            {"key": key, "principal": principal, "surface": surface, "reads": count}
            for (key, principal, surface), count in sorted(counts.items())
        ],
    }
    member("reads.json").write(canonical_json(reads) + b"\n")


def _write_proof(
    member: Callable[[str], IO[bytes]], tenant_id: str, from_seq: int, to_seq: int, checkpoint: Signed
) -> None:
    left, right = tree.slice_proof(tenant_id, from_seq, to_seq, checkpoint.size)
    proof = {"size": checkpoint.size, "left": [_text(step) for step in left], "right": [_text(step) for step in right]}
    member("proof.json").write(canonical_json(proof) + b"\n")
    member("checkpoint.note").write(checkpoint.note.encode())
    earlier = member("checkpoints.notes")
    for row in between(tenant_id, from_seq, to_seq):
        if row.size < checkpoint.size:
            earlier.write(row.note.encode() + b"\n")


def _noting_authors(found: Iterable[rows.Row], authors: dict[str, tuple[str, str]]) -> Iterable[rows.Row]:
    for row in found:
        authors[row["artifact_id"]] = _who(row["author"])
        yield row


def _noting_verdicts(
    found: Iterable[rows.Row], authors: dict[str, tuple[str, str]], judgements: list[Judgement]
) -> Iterable[rows.Row]:
    for row in found:
        item = row["item_id"]
        if item.startswith(ARTIFACT):
            judgements.append(Judgement(item, authors[item], _who(row["reviewer"]), row["verdict"] == "ratify"))
        yield row


def _who(row: dict[str, str]) -> tuple[str, str]:
    return row["key"], row["principal"]


def _ndjson(file: IO[bytes], found: Iterable[rows.Row]) -> None:
    for row in found:
        file.write(canonical_json(row) + b"\n")


def _digest(file: IO[bytes]) -> dict[str, Any]:
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return {"bytes": file.tell(), "sha256": digest.hexdigest()}


def _text(digest: bytes) -> str:
    return base64.b64encode(digest).decode()

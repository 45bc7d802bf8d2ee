"""``oml-verify bundle``: whole, signed, chained, under a signed root, and its rows agree with its entries."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from oml_verify import dsse
from oml_verify.checkpoint import compare
from oml_verify.container import Container
from oml_verify.findings import Report
from oml_verify.keys import Trusted
from oml_verify.notes import Checkpoint, notes_in, open_checkpoint
from oml_verify.rows import Rows
from oml_verify.slice import Marks, Slice, check_against, walk
from oml_verify.strict import Malformed, parse_object, unbase64

MANIFEST = "manifest.dsse.json"
MEMBERS = {
    "README.txt",
    "artifacts.ndjson",
    "chain.txt",
    "checkpoint.note",
    "checkpoints.notes",
    "closures.ndjson",
    "entries.ndjson",
    "keys.json",
    "policies.ndjson",
    "proof.json",
    "reads.json",
    "reasons.ndjson",
    "reciprocity.json",
    "serves.ndjson",
    "verdicts.ndjson",
}


def verify_bundle(
    path: Path, trusted: Trusted, *, kept: list[Checkpoint] | None = None, proof: dict[str, Any] | None = None
) -> Report:
    """Verify a bundle.

    Args:
        path: the file.
        trusted: the user's keys.
        kept: checkpoints that the user kept, opened already.
        proof: a consistency proof from the kept checkpoint to the bundle's, where the bundle itself has none.

    Raises:
        Unusable: the file cannot be read.
    """
    report = Report()
    try:
        bundle = Container(path)
    except Malformed as broken:
        report.fail(str(broken), where="container")
        return report
    for problem in bundle.problems:
        report.fail(problem, where="container")
    manifest, genuine = _manifest(bundle, trusted, report)
    if manifest is None:
        return report
    _members(bundle, manifest, report)
    try:
        _contents(bundle, manifest, genuine, trusted, report, kept or [], proof)
    except (Malformed, KeyError, TypeError, AttributeError, ValueError, ArithmeticError) as broken:
        report.fail(f"the bundle is malformed ({str(broken) or type(broken).__name__})", where="bundle")
    return report


def _manifest(bundle: Container, trusted: Trusted, report: Report) -> tuple[dict[str, Any] | None, bool]:
    """The manifest, and whether it is genuine; one that is not is still used to say where else things are wrong."""
    try:
        text = bundle.read(MANIFEST).decode("utf-8", "replace")
        return dsse.open_envelope(text, dsse.EVIDENCE, trusted.envelope), True
    except Malformed as wrong:
        report.fail(str(wrong), where=MANIFEST)
    try:
        return parse_object(unbase64(parse_object(text)["payload"])), False
    except (Malformed, KeyError, TypeError, UnboundLocalError):
        return None, False


def _members(bundle: Container, manifest: dict[str, Any], report: Report) -> None:
    said = manifest.get("files")
    said = said if isinstance(said, dict) else {}
    if set(said) != MEMBERS or set(bundle.names()) != MEMBERS | {MANIFEST}:
        strange = sorted((set(bundle.names()) | set(said)) ^ (MEMBERS | {MANIFEST} if MANIFEST in said else MEMBERS))
        names = sorted({*strange} - {MANIFEST}) or sorted(MEMBERS - set(bundle.names()))
        report.fail("a member is missing or too many: " + ", ".join(names), where="bundle")
    for name, about in sorted(said.items()):
        if name not in bundle or not isinstance(about, dict):
            continue
        digest = hashlib.sha256()
        for block in bundle.blocks(name):
            digest.update(block)
        if digest.hexdigest() != about.get("sha256") or bundle.size(name) != about.get("bytes"):
            report.fail("it is not what the manifest was signed over", where=name)


def _contents(
    bundle: Container,
    manifest: dict[str, Any],
    genuine: bool,
    trusted: Trusted,
    report: Report,
    kept: list[Checkpoint],
    proof: dict[str, Any] | None,
) -> None:
    first, last = manifest["from_seq"], manifest["to_seq"]
    if not (isinstance(first, int) and isinstance(last, int) and 1 <= first <= last):
        raise Malformed("its range is none")
    top = _checkpoint(bundle, manifest, trusted, report)
    inner = _earlier(bundle, trusted, report, manifest)
    wanted = [one for one in (top, *inner, *kept) if one is not None and one.origin == manifest["checkpoint"]["origin"]]
    rows = Rows(trusted.envelope, report)
    rows.load(bundle)
    before = len(report.findings)
    marks = Marks(manifest) if genuine else None
    found = walk(bundle, manifest, report, sizes={one.size for one in wanted}, marks=marks, visit=rows.check)
    if found.whole:
        rows.finish(bundle)
        if top is not None and top.size > last and found.root is not None:
            found.roots[top.size] = found.root
        check_against(found, wanted, first, report)
        _covered(top, found, manifest, report)
    if top is not None:
        _kept(top, kept, found, proof, report)
    if len(report.findings) == before:
        _say(manifest, rows, top, report)


def _checkpoint(bundle: Container, manifest: dict[str, Any], trusted: Trusted, report: Report) -> Checkpoint | None:
    last, said = manifest["to_seq"], manifest["checkpoint"]
    try:
        top = open_checkpoint(bundle.read("checkpoint.note").decode("utf-8", "replace"), trusted.verifiers)
    except Malformed as wrong:
        report.fail(str(wrong), where="checkpoint.note")
        return None
    if top.origin != said["origin"] or not top.origin.endswith(f"/{manifest['tenant']}"):
        report.fail(f"it is of another journal: {top.origin}", where="checkpoint.note")
        return None
    if top.size < last:
        report.fail(
            "the checkpoint is older than the slice and does not cover these entries", seq=top.size + 1, until=last
        )
        return top
    if top.size != said["size"] or top.root != unbase64(said["root"], 32):
        report.fail(
            f"another checkpoint than the bundle was made with (size {top.size}, not {said['size']})",
            seq=min(top.size, said["size"]),
            until=max(top.size, said["size"]),
        )
    return top


def _earlier(bundle: Container, trusted: Trusted, report: Report, manifest: dict[str, Any]) -> list[Checkpoint]:
    text = bundle.read("checkpoints.notes").decode("utf-8", "replace")
    notes = notes_in(text)
    if "".join(note + "\n" for note in notes) != text:
        report.fail("it holds something that is no checkpoint", where="checkpoints.notes")
    found: list[Checkpoint] = []
    for note in notes:
        try:
            checkpoint = open_checkpoint(note, trusted.verifiers)
        except Malformed as wrong:
            report.fail(f"checkpoint of size {note.split(chr(10))[1]}: {wrong}", where="checkpoints.notes")
            continue
        if checkpoint.origin != manifest["checkpoint"]["origin"]:
            report.fail(f"a checkpoint of another journal: {checkpoint.origin}", where="checkpoints.notes")
            continue
        found.append(checkpoint)
    return found


def _covered(top: Checkpoint | None, found: Slice, manifest: dict[str, Any], report: Report) -> None:
    """The slice must be tied to a signed root; a missing proof is not a passed one."""
    first, last = manifest["from_seq"], manifest["to_seq"]
    if top is None:
        report.fail("no trusted checkpoint vouches for these entries", seq=first, until=last)
    elif top.size >= last and top.size not in found.roots:
        report.fail("the proof does not tie these entries to the checkpoint", seq=first, until=last)


def _kept(top: Checkpoint, kept: list[Checkpoint], found: Slice, proof: dict[str, Any] | None, report: Report) -> None:
    for old in kept:
        if old.origin == top.origin and old.size in found.roots and old.size <= top.size:
            report.ok(f"kept checkpoint of size {old.size} compared")
            continue  # held against the slice itself already
        compare(top, old, proof, report)


def _say(manifest: dict[str, Any], rows: Rows, top: Checkpoint | None, report: Report) -> None:
    first, last = manifest["from_seq"], manifest["to_seq"]
    report.ok(f"{last - first + 1} entries, seq {first} to {last}, of {manifest['tenant']}")
    report.ok(f"scope {manifest['scope']['path']}, {manifest['redacted']} entries outside of it as hashes")
    if top is not None:
        report.ok(f"under the signed checkpoint of size {top.size}")
    erased = sum(bool(row.get("erased")) for row in rows.artifacts.values())
    report.ok(f"{rows.signatures} signed submissions and verdicts; {erased} erased, {rows.self_signed} self-signed")

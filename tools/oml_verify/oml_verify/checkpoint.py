"""``oml-verify checkpoint`` and ``inclusion``: one signed root against another, one entry under a signed root."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oml_verify import merkle
from oml_verify.findings import Report, Unusable
from oml_verify.keys import Trusted
from oml_verify.notes import Checkpoint, notes_in, open_checkpoint
from oml_verify.strict import Malformed, parse_object, unbase64


def read_text(path: Path) -> str:
    """A file's text.

    Raises:
        Unusable: it cannot be read.
    """
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    except ValueError:
        raise Unusable(f"{path} is not a text") from None


def read_checkpoint(path: Path, trusted: Trusted, report: Report) -> Checkpoint | None:
    """The checkpoint of a file, or a finding. Of a file of several (``TENANT.log``) the last one."""
    text = read_text(path)
    try:
        several = notes_in(text)
        note = several[-1] if several and (len(several) > 1 or text == several[0] + "\n") else text
        return open_checkpoint(note, trusted.verifiers)
    except Malformed as wrong:
        report.fail(str(wrong), where=str(path))
        return None


def read_proof(path: Path) -> dict[str, Any]:
    """A proof as ``GET /v1/journal/proof`` answers it.

    Raises:
        Unusable: it cannot be read.
    """
    try:
        return parse_object(read_text(path))
    except Malformed:
        raise Unusable(f"{path} is no proof") from None


def verify_checkpoint(new: Checkpoint, old: Checkpoint, proof: dict[str, Any] | None) -> Report:
    """Whether the journal of ``new`` is the journal of ``old``, grown."""
    report = Report()
    compare(new, old, proof, report)
    return report


def compare(new: Checkpoint, old: Checkpoint, proof: dict[str, Any] | None, report: Report) -> None:
    """Hold a checkpoint against a kept one; findings go into the report."""
    if new.origin != old.origin:
        report.fail(f"two journals: {old.origin} was kept, {new.origin} is shown")
    elif new.size < old.size:
        report.fail("the journal went back: these entries were signed and are gone", seq=new.size + 1, until=old.size)
    elif new.size == old.size:
        if new.root != old.root:
            report.fail("two different journals of one size were signed", seq=1, until=new.size)
        else:
            report.ok(f"the same journal, size {new.size}")
    elif proof is None:
        report.fail(
            f"sizes {old.size} and {new.size} differ: only a proof says that nothing was rewritten "
            f"(GET /v1/journal/proof?from={old.size}&to={new.size}, then --proof)",
            seq=1,
            until=old.size,
        )
    else:
        _consistency(new, old, proof, report)


def verify_inclusion(entry: bytes, proof: dict[str, Any], checkpoint: Checkpoint) -> Report:
    """Whether an entry's canonical text is in the journal that a checkpoint was signed over."""
    report = Report()
    try:
        seq, size = proof["seq"], proof["size"]
        steps = _steps(proof)
        if not isinstance(seq, int) or isinstance(seq, bool) or proof.get("kind") != "inclusion":
            raise Malformed("not an inclusion proof")
    except (Malformed, KeyError, TypeError) as wrong:
        report.fail(str(wrong) or "not an inclusion proof", where="proof")
        return report
    if size != checkpoint.size:
        report.fail(f"the proof is for size {size}, the checkpoint has {checkpoint.size}", seq=seq)
        return report
    leaf = merkle.leaf_hash(entry)
    if not merkle.includes(leaf, seq - 1, size, steps, checkpoint.root):
        report.fail("the entry is not in the journal at this place", seq=seq)
        return report
    report.ok(f"seq {seq} is one of the {size} entries that {checkpoint.origin} signed")
    return report


def _consistency(new: Checkpoint, old: Checkpoint, proof: dict[str, Any], report: Report) -> None:
    try:
        if proof.get("kind") != "consistency" or (proof["from"], proof["to"]) != (old.size, new.size):
            raise Malformed(f"the proof is not one from {old.size} to {new.size}")
        steps = _steps(proof)
    except (Malformed, KeyError, TypeError) as wrong:
        report.fail(str(wrong) or "not a consistency proof", seq=1, until=old.size)
        return
    if merkle.consistent(old.size, new.size, steps, old.root, new.root):
        report.ok(f"the {new.size} entries begin with the {old.size} that were kept, unchanged")
    else:
        report.fail(
            "the journal was rewritten: its first entries are not those that were signed", seq=1, until=old.size
        )


def _steps(proof: dict[str, Any]) -> list[bytes]:
    if not isinstance(proof["proof"], list):
        raise Malformed("not a proof")
    return [unbase64(step, 32) for step in proof["proof"]]

"""The command line. Exit code 0: all holds. 1: something does not, each line says where. 2: cannot be asked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from oml_verify.bundle import verify_bundle
from oml_verify.checkpoint import read_checkpoint, read_proof, verify_checkpoint, verify_inclusion
from oml_verify.findings import Report, Unusable
from oml_verify.keys import read_keys


def main(argv: list[str] | None = None) -> int:
    """Run the command; the answer is the exit code."""
    chosen = _parser().parse_args(argv)
    try:
        report: Report = chosen.run(chosen)
    except Unusable as problem:
        print(f"oml-verify: {problem}", file=sys.stderr)
        return 2
    for line in report.checked:
        print(f"ok    {line}")
    for line in report.notes:
        print(f"note  {line}")
    for finding in report.findings:
        print(f"FAIL  {finding}")
    print("NOT VERIFIED" if report.findings else "VERIFIED")
    return 1 if report.findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oml-verify", description="Check what an OML deployment says about its history, without trusting it."
    )
    commands = parser.add_subparsers(dest="command", required=True)

    bundle = commands.add_parser("bundle", help="an evidence bundle")
    bundle.add_argument("file", type=Path)
    bundle.add_argument("--kept", type=Path, action="append", default=[], help="a checkpoint that you kept; repeatable")
    bundle.add_argument("--proof", type=Path, help="consistency proof from the kept checkpoint to the bundle's")
    bundle.set_defaults(run=_bundle)

    checkpoint = commands.add_parser("checkpoint", help="a checkpoint against one that was kept")
    checkpoint.add_argument("new", type=Path)
    checkpoint.add_argument("--kept", type=Path, required=True, help="the checkpoint that you kept")
    checkpoint.add_argument("--proof", type=Path, help="GET /v1/journal/proof?from=…&to=…")
    checkpoint.set_defaults(run=_checkpoint)

    inclusion = commands.add_parser("inclusion", help="one entry under a signed checkpoint")
    inclusion.add_argument("proof", type=Path, help="GET /v1/journal/proof?seq=…&size=…")
    inclusion.add_argument("--entry", type=Path, required=True, help="the entry's canonical text")
    inclusion.add_argument("--checkpoint", type=Path, required=True)
    inclusion.set_defaults(run=_inclusion)

    for command in (bundle, checkpoint, inclusion):
        command.add_argument("--keys", type=Path, required=True, help="the public keys that you trust")
    return parser


def _bundle(chosen: argparse.Namespace) -> Report:
    trusted = read_keys(chosen.keys)
    early = Report()
    kept = [read_checkpoint(path, trusted, early) for path in chosen.kept]
    proof = read_proof(chosen.proof) if chosen.proof else None
    report = verify_bundle(chosen.file, trusted, kept=[one for one in kept if one is not None], proof=proof)
    report.findings = early.findings + report.findings
    return report


def _checkpoint(chosen: argparse.Namespace) -> Report:
    trusted, early = read_keys(chosen.keys), Report()
    new, old = read_checkpoint(chosen.new, trusted, early), read_checkpoint(chosen.kept, trusted, early)
    proof = read_proof(chosen.proof) if chosen.proof else None
    if new is None or old is None:
        return early
    return verify_checkpoint(new, old, proof)


def _inclusion(chosen: argparse.Namespace) -> Report:
    trusted, early = read_keys(chosen.keys), Report()
    checkpoint = read_checkpoint(chosen.checkpoint, trusted, early)
    try:
        entry = chosen.entry.read_bytes().removesuffix(b"\n")
    except OSError as error:
        raise Unusable(f"{chosen.entry}: {error.strerror}") from None
    if checkpoint is None:
        return early
    return verify_inclusion(entry, read_proof(chosen.proof), checkpoint)


if __name__ == "__main__":
    sys.exit(main())

"""``manage.py import_memories``: memories from a file, submitted one by one and held for review like all others.

Safe to interrupt and to repeat: every row carries an idempotency key made of itself, so a second run sends what is
missing and the rest is answered from the record.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory.api import operations
from memory.importers import READERS
from oml.core.actor import Actor, Channel
from oml.core.canonical import canonical_json, sha256_hex
from oml.core.errors import OmlError
from workareas.authentication import actor_of_key, actor_of_secret

_TRIES = 10
_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Submit the memories of a file; they are held until somebody else ratifies them. Example: import_memories "
        "notes.jsonl --format jsonl --workarea universe.procurement --key key_…"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", required=True, choices=sorted(READERS), dest="reader")
        parser.add_argument("--workarea", required=True, help="where to: id or path")
        parser.add_argument("--key", required=True, help="who submits: a key's id (key_…) or its secret")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = _actor(options["key"])
        path: Path = options["file"]
        try:
            rows = list(READERS[options["reader"]](path))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        except ValueError as error:
            raise CommandError(f"{path}: {error}") from None
        counts, refused = self._submit(actor, options["workarea"], rows)
        self.stdout.write(
            f"{counts['submitted']} submitted and held for review, {counts['known']} known from before, "
            f"{len(refused)} refused."
        )
        for where, words in refused[:_SHOWN]:
            self.stderr.write(f"  {where}: {words}")
        if len(refused) > _SHOWN:
            self.stderr.write(f"  … and {len(refused) - _SHOWN} more")
        if refused:
            raise CommandError("not everything was accepted; what was is safe, correct the rest and run this again")

    def _submit(
        self, actor: Actor, workarea: str, rows: list[tuple[str, dict[str, Any]]]
    ) -> tuple[Counter[str], list[tuple[str, str]]]:
        counts: Counter[str] = Counter()
        refused: list[tuple[str, str]] = []
        columns = (TextColumn("submitting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as progress:
            for where, fields in progress.track(rows):
                data = {**fields, "workarea": workarea}
                data.setdefault("idempotency_key", f"import/{sha256_hex(canonical_json(data))[:40]}")
                try:
                    answer = _patiently(actor, data)
                except OmlError as error:
                    refused.append((where, f"{error.code}, {error.message}"))
                    continue
                counts["known" if answer["idempotent_replay"] else "submitted"] += 1
        return counts, refused


def _patiently(actor: Actor, data: dict[str, Any]) -> dict[str, Any]:
    """Submit, waiting as long as a retryable refusal asks for."""
    for tried in range(_TRIES):
        try:
            return operations.submit(actor, data).body
        except OmlError as error:
            if not error.retryable or tried == _TRIES - 1:
                raise
            time.sleep(error.retry_after_seconds or 1)
    raise AssertionError("unreachable")


def _actor(key: str) -> Actor:
    try:
        if key.startswith("oml_k_"):
            return actor_of_secret(key, channel=Channel.CLI)
        return actor_of_key(key, channel=Channel.CLI)
    except OmlError as error:
        raise CommandError(f"--key: {error.message} ({error.code})") from None

"""``manage.py intake_folder DIR``: a folder as source records; run it again after a change, or after it was killed."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory.records.actions.intake import IncomingFile, intake_folder
from oml.core.actor import Channel
from workareas.authentication import actor_of_key
from workareas.management.acting import refusals_printed


class Command(BaseCommand):
    help = (
        "Take a folder in as source records: one for it, one per file, one per part of its text. Hidden files stay out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--key", required=True, metavar="KEY", help="a writer key (key_…); its principal owns them")
        parser.add_argument("--name", help="the folder's name in the records (default: its last part)")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"].resolve()
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder")
        files = [IncomingFile(_named(path.relative_to(folder)), path.read_bytes) for path in _files(folder)]
        counts: Counter[str] = Counter()
        columns = (TextColumn("taking in"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with refusals_printed(), Progress(*columns, console=Console(stderr=True)) as progress:
            actor = actor_of_key(options["key"], channel=Channel.CLI)
            task = progress.add_task("taking in", total=len(files) + 1)
            for step in intake_folder(actor, folder=options["name"] or folder.name, files=files):
                counts[step.outcome] += 1
                progress.advance(task)
        self.stdout.write(
            ", ".join(f"{counts[word]} {word}" for word in ("created", "updated", "unchanged", "removed"))
        )


def _named(path: Path) -> str:
    """The path as text; bytes of a name that are none stand there as ``\\xe9``, so that one file stops no folder."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]

"""``manage.py import_records``: another engine's entries of one principal into the ledger here, all or none."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from memory.records.exchange import import_entries
from oml.core.actor import Channel
from workareas.authentication import actor_of_key
from workareas.management.acting import refusals_printed


class Command(BaseCommand):
    help = "Take in JSON lines of export_records. Importing a file twice, or files in another order, changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--key", required=True, metavar="KEY", help="a writer key of the principal (key_…)")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with refusals_printed(), path.open(encoding="utf-8") as file:
            actor = actor_of_key(options["key"], channel=Channel.CLI)
            with Progress(*columns, console=Console(stderr=True)) as progress:
                task = progress.add_task("importing", total=path.stat().st_size)

                def lines() -> Iterator[str]:
                    for line in file:
                        progress.advance(task, len(line.encode()))
                        yield line

                result = import_entries(actor, lines())
        self.stdout.write(
            f"{result['entries']} entries of {result['records']} records taken in, {result['known']} known already, "
            f"{result['erased']} of erased records left out."
        )

"""``manage.py rebuild_records``: every cache of source records anew from the ledger, in one transaction."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory.records.rebuild import count_records, rebuild


class Command(BaseCommand):
    help = "Write the caches of source records again from their ledger. Safe to interrupt and to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        done = 0
        columns = (TextColumn("rebuilding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as progress:
            task = progress.add_task("rebuilding", total=count_records())
            for step in rebuild():
                done += step
                progress.advance(task, step)
        self.stdout.write(f"{done} records rebuilt.")

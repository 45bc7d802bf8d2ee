"""``manage.py rebuild_serving``: the index of recall anew from the artifacts, while recall goes on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory.recall.rebuild import indexed_artifacts, rebuild_serving


class Command(BaseCommand):
    help = "Build the index of recall again from the artifacts. Safe to interrupt and to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        built = 0
        columns = (TextColumn("rebuilding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as progress:
            task = progress.add_task("rebuilding", total=indexed_artifacts().count())
            for step in rebuild_serving():
                built += step
                progress.advance(task, step)
        self.stdout.write(f"{built} rows built.")

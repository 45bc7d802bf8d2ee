"""``manage.py evidence_export``: the same bundle as ``POST /v1/evidence``, into a file, with a progress bar."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from oml.core.actor import Actor
from oml.crypto.errors import SecretUnusable
from oml.journal.errors import JournalContradicted
from oml.journal.selectors import head_seq
from review.evidence.export import Bundle, export_evidence
from workareas.management.acting import acting, add_acting_arguments, refusals_printed


class Command(BaseCommand):
    help = "Write a signed evidence bundle; check it anywhere with `oml-verify bundle FILE --keys KEYS`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to write; must not exist yet")
        parser.add_argument("--scope", help="workarea, id or path (default: the whole tenant)")
        parser.add_argument("--from", dest="from_seq", type=int, metavar="SEQ", help="first entry (default: 1)")
        parser.add_argument("--to", dest="to_seq", type=int, metavar="SEQ", help="last entry (default: the newest)")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"].exists():
            raise CommandError(f"{options['file']} exists; evidence is never overwritten")
        actor = acting(options)
        try:
            with refusals_printed():
                bundle = self._export(actor, options)
        except (SecretUnusable, JournalContradicted) as error:
            raise CommandError(str(error)) from None
        with bundle.file, open(options["file"], "xb") as target:
            shutil.copyfileobj(bundle.file, target, 1 << 20)
        self.stdout.write(
            f"{bundle.entries:,} entries, seq {bundle.from_seq} to {bundle.to_seq}, in {options['file']}\n"
            f"sha256 {bundle.sha256}, journalled as evidence.exported"
        )

    def _export(self, actor: Actor, options: dict[str, Any]) -> Bundle:
        console = Console(stderr=True)
        columns = (TextColumn("entries"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            last = options["to_seq"] or head_seq(actor.tenant_id)
            task = progress.add_task("entries", total=max(0, last - (options["from_seq"] or 1) + 1))
            return export_evidence(
                actor,
                scope=options["scope"],
                from_seq=options["from_seq"],
                to_seq=options["to_seq"],
                advance=lambda count: progress.advance(task, count),
            )

"""``manage.py evidence_export``: the same bundle as ``POST /v1/evidence``, into a file, with a progress bar."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from oml.core.actor import Actor, Channel
from oml.core.errors import OmlError
from oml.crypto.errors import SecretUnusable
from oml.journal.errors import JournalContradicted
from oml.journal.selectors import head_seq
from review.evidence.export import Bundle, export_evidence
from workareas.authentication import actor_of_key
from workareas.selectors.tenants import first_administrator, only_tenant


class Command(BaseCommand):
    help = "Write a signed evidence bundle; check it anywhere with `oml-verify bundle FILE --keys KEYS`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to write; must not exist yet")
        parser.add_argument("--scope", help="workarea, id or path (default: the whole tenant)")
        parser.add_argument("--from", dest="from_seq", type=int, metavar="SEQ", help="first entry (default: 1)")
        parser.add_argument("--to", dest="to_seq", type=int, metavar="SEQ", help="last entry (default: the newest)")
        parser.add_argument("--tenant", help="short name; may be left out while there is one tenant")
        parser.add_argument("--by", help="admin key id to act as (default: the tenant's first admin key)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"].exists():
            raise CommandError(f"{options['file']} exists; evidence is never overwritten")
        try:
            actor = self._actor(options["by"], options["tenant"])
            bundle = self._export(actor, options)
        except (SecretUnusable, JournalContradicted) as error:
            raise CommandError(str(error)) from None
        except OmlError as error:
            raise CommandError(f"{error.message} ({error.code}: {error.rule})") from None
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

    def _actor(self, by: str | None, tenant: str | None) -> Actor:
        if by:
            return actor_of_key(by, channel=Channel.CLI)
        slug = tenant or only_tenant()
        if slug is None:
            raise CommandError("say --tenant NAME: there is no tenant yet, or more than one")
        actor = first_administrator(slug)
        if actor is None:
            raise CommandError(f"tenant {slug} has no usable admin key on its root; say --by KEY_ID")
        return actor

"""``manage.py quota``: a tenant's writes and reads per minute, shown or set (D6, FR-8)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workareas.actions.keys import set_quota
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.selectors.tenants import quotas


class Command(BaseCommand):
    help = "Show a tenant's quotas, or set them: quota --writes 600 --reads none. Every replica enforces its share."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--writes", help="writes per minute, or none")
        parser.add_argument("--reads", help="reads per minute, or none")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        actor = acting(options)
        writes, reads = quotas(actor)
        if options["writes"] is not None or options["reads"] is not None:
            writes = _limit("--writes", options["writes"], writes)
            reads = _limit("--reads", options["reads"], reads)
            with refusals_printed():
                set_quota(actor, writes_per_minute=writes, reads_per_minute=reads)
        self.stdout.write(f"writes per minute: {_said(writes)}\nreads per minute:  {_said(reads)}")


def _limit(option: str, text: str | None, before: int | None) -> int | None:
    if text is None:
        return before
    if text == "none":
        return None
    if not text.isdecimal():
        raise CommandError(f"{option} is a whole number, or none")
    return int(text)


def _said(limit: int | None) -> str:
    return "no limit" if limit is None else str(limit)

"""``manage.py erase``: destroy an artifact's content for good, or say beforehand what would go."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memory.claims.actions.lifecycle import erase_memory
from workareas.management.acting import acting, add_acting_arguments, refusals_printed


class Command(BaseCommand):
    help = "Destroy an artifact's content for good; ids, digests and the journal stay. --preview changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("artifact")
        parser.add_argument("--reason", required=True, help="only a commitment to it is kept")
        parser.add_argument("--preview", action="store_true", help="only say what would go")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            told = erase_memory(
                acting(options),
                artifact=options["artifact"],
                reason=options["reason"],
                preview=options["preview"],
            )
        what = f"{told['artifact_id']} ({told['claim_key']}, version {told['version']})"
        self.stdout.write(f"{what}, {told['state']}: would go" if told["preview"] else f"{what} is erased; gone are")
        for name, count in told["destroyed"].items():
            self.stdout.write(f"  {count:>8,}  {name.replace('_', ' ')}")

"""``manage.py erase_record``: destroy what source records said, in every version, or say beforehand what would go."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memory.records.actions.erase import erase_record
from workareas.management.acting import acting, add_acting_arguments, refusals_printed


class Command(BaseCommand):
    help = (
        "Destroy what source records said, in every version, for good; ids, digests, ledger and journal stay. "
        "--preview changes nothing. Several records are erased one after another."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("records", nargs="+", metavar="SR", help="sr_…")
        parser.add_argument("--reason", required=True, help="only a commitment to it is kept")
        parser.add_argument("--preview", action="store_true", help="only say what would go")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        actor = acting(options)
        for sr_id in options["records"]:
            with refusals_printed():
                told = erase_record(actor, sr_id=sr_id, reason=options["reason"], preview=options["preview"])
            versions = told["versions"]
            what = f"{told['sr_id']}, {versions:,} version{'s' if versions != 1 else ''}"
            self.stdout.write(f"{what}: would go" if told["preview"] else f"{what}: erased; gone are")
            for name, count in told["destroyed"].items():
                self.stdout.write(f"  {count:>10,}  {name.replace('_', ' ')}")
            self.stdout.write(f"  {told['citing_claims']:>10,}  claims cite it and keep their own text")
            for pinned in told["pinned"]:
                self.stdout.write(f"  {pinned} is pinned to it and stays")

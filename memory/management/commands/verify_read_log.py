"""``manage.py verify_read_log``: do the reads still match the seals that the journal holds of them?

Exit code 1 when a sealed read was changed, removed or slipped in. It reads only. That the seals themselves are
genuine is what ``verify_journal`` says.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.recall.sealing import SealsChecked, check_seals
from workareas.selectors.tenants import tenant_ids


class Command(BaseCommand):
    help = "Check every tenant's read log against the seals in its journal. Reads only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="TEN", help="only this tenant (ten_…)")

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = tenant_ids()
        if options["tenant"]:
            if options["tenant"] not in tenants:
                raise CommandError(f"there is no tenant {options['tenant']}")
            tenants = [options["tenant"]]
        broken = 0
        for tenant_id in tenants:
            checked = check_seals(tenant_id)
            broken += bool(checked.broken)
            self._print(checked)
        if broken:
            raise CommandError(f"{broken} of {len(tenants)} read logs broken")
        self.stdout.write(self.style.SUCCESS(f"{len(tenants)} of {len(tenants)} read logs match their seals"))

    def _print(self, checked: SealsChecked) -> None:
        word = "BROKEN" if checked.broken else "intact"
        self.stdout.write(
            f"{checked.tenant_id}  {checked.reads:,} reads in {checked.seals:,} seals {word}, "
            f"{checked.unsealed:,} not sealed yet"
        )
        for found in checked.broken:
            self.stdout.write(
                f"  seal at seq {found.seq}: reads {found.first} to {found.last}, "
                f"{found.sealed} were sealed, {found.found} are there"
                + ("" if found.sealed != found.found else ", not the same")
            )

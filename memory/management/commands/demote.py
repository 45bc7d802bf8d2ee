"""``manage.py demote``: take a promoted claim out of recall (design: admission, After promotion)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memory.claims.actions.lifecycle import demote_memory
from workareas.management.acting import acting, add_acting_arguments, refusals_printed


class Command(BaseCommand):
    help = "Take a promoted claim out of recall; it stays in history and in the evidence."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("artifact")
        parser.add_argument("--reason", required=True, help="kept in words beside the journal")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            told = demote_memory(acting(options), artifact=options["artifact"], reason=options["reason"])
        self.stdout.write(f"{told['artifact_id']} ({told['claim_key']}, version {told['version']}) is {told['state']}.")

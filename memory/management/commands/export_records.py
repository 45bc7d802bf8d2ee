"""``manage.py export_records``: one principal's ledger as JSON lines, for another engine's ``import_records``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from memory.records.exchange import exported
from oml.core.actor import Channel
from workareas.authentication import actor_of_key
from workareas.management.acting import refusals_printed


class Command(BaseCommand):
    help = "Write the ledger of a key's principal to a file as JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--key", required=True, metavar="KEY", help="a key of the principal (key_…)")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            actor = actor_of_key(options["key"], channel=Channel.CLI)
        lines = 0
        with options["file"].open("w", encoding="utf-8") as file:
            for line in exported(actor):
                file.write(line + "\n")
                lines += 1
        self.stdout.write(f"{lines} lines written to {options['file']}.")

"""``manage.py database_roles``: give the application's database role its rights, or check that it has no more.

Run as the owner after every ``migrate``; with ``--check`` run as the application, before every start.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from oml.journal.roles import RoleUnfit, findings, statements


class Command(BaseCommand):
    help = "Separate the role that owns the tables from the role that the server runs as."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--grant", metavar="ROLE", help="give this existing role the application's rights")
        what.add_argument("--print", metavar="ROLE", dest="show", help="print the SQL that --grant would run")
        what.add_argument("--check", action="store_true", help="exit 1 when the connected role could change history")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            self._check()
            return
        try:
            script = statements(options["grant"] or options["show"])
        except RoleUnfit as problem:
            raise CommandError(str(problem)) from None
        if options["show"]:
            self.stdout.write("".join(f"{statement};\n" for statement in script))
            return
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in script:
                cursor.execute(statement)
        self.stdout.write(self.style.SUCCESS(f"{len(script)} grants for {options['grant']}"))

    def _check(self) -> None:
        found = findings()
        for one in found:
            self.stdout.write(f"{one.table}: the connected role {_words(one.privilege)}")
        if found:
            raise CommandError("the connected role could change history")
        self.stdout.write(self.style.SUCCESS("the connected role can add to history and change none of it"))


def _words(privilege: str) -> str:
    return f"has {privilege}" if privilege.isupper() else privilege

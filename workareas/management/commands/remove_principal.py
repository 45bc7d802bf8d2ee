"""``manage.py remove_principal``: an actor is gone for good, its keys and its private state with it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from workareas.actions.removal import remove_principal
from workareas.management.acting import acting, add_acting_arguments, refusals_printed


class Command(BaseCommand):
    help = "Remove an agent, a human or a service: its keys are revoked, its private agent state is destroyed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("principal", help="id of the principal (pri_…)")
        parser.add_argument("--reason", required=True, help="why; kept in words beside the journal")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            done = remove_principal(acting(options), principal=options["principal"], reason=options["reason"])
        keys = ", ".join(done.keys_revoked) or "none"
        self.stdout.write(f"{done.principal.pk} ({done.principal.name}) is removed. Keys revoked: {keys}.")

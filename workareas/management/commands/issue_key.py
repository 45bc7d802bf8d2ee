"""``manage.py issue_key``: a key for an agent, its secret printed once (seed: one key per agent)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from oml.core.actor import Role
from oml.core.clock import parse_rfc3339
from workareas.actions.keys import GrantSpec, NewPrincipal, issue_key
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.verbs import Capability
from workareas.words import PrincipalKind

_ROLES = [str(role) for role in Role if role is not Role.OPERATOR]


class Command(BaseCommand):
    help = (
        "Issue a key and print its secret once. Example: issue_key --name 'Metals writer' --role writer "
        "--grant universe.procurement:reader --grant universe.procurement:writer"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--name", help="name of a new agent")
        who.add_argument("--principal", help="id of an existing principal (pri_…)")
        parser.add_argument("--role", required=True, choices=_ROLES)
        parser.add_argument(
            "--grant", action="append", default=[], metavar="WORKAREA:CAPABILITY", help="may be repeated"
        )
        parser.add_argument("--expires-at", help="RFC 3339 time with offset; never, when left out")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            expires_at = parse_rfc3339(options["expires_at"]) if options["expires_at"] else None
        except ValueError:
            raise CommandError("--expires-at is an RFC 3339 time with offset, such as 2027-01-31T12:00:00Z") from None
        with refusals_printed():
            issued = issue_key(
                acting(options),
                principal=options["principal"] or NewPrincipal(options["name"], PrincipalKind.AGENT),
                role=Role(options["role"]),
                grants=[_grant(text) for text in options["grant"]],
                expires_at=expires_at,
            )
        self.stdout.write(
            f"Key {issued.key.pk} of {issued.key.principal_id}, role {issued.key.role}.\n"
            f"Secret, shown this once: {issued.secret}"
        )


def _grant(text: str) -> GrantSpec:
    workarea, _, capability = text.rpartition(":")
    if not workarea or capability not in list(Capability):
        raise CommandError(f"--grant {text}: write WORKAREA:CAPABILITY, capability one of {', '.join(Capability)}")
    return GrantSpec(workarea, Capability(capability))

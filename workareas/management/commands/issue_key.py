"""``manage.py issue_key``: a key for an agent, its secret printed once (seed: one key per agent)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from oml.core.actor import Actor, Channel, Role
from oml.core.clock import parse_rfc3339
from oml.core.errors import OmlError
from workareas.actions.keys import GrantSpec, NewPrincipal, issue_key
from workareas.authentication import actor_of_key
from workareas.selectors.tenants import first_administrator, only_tenant
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
        parser.add_argument("--tenant", help="short name; may be left out while there is one tenant")
        parser.add_argument("--by", help="admin key id to act as (default: the tenant's first admin key)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            issued = issue_key(
                self._actor(options["by"], options["tenant"]),
                principal=options["principal"] or NewPrincipal(options["name"], PrincipalKind.AGENT),
                role=Role(options["role"]),
                grants=[_grant(text) for text in options["grant"]],
                expires_at=parse_rfc3339(options["expires_at"]) if options["expires_at"] else None,
            )
        except OmlError as error:
            raise CommandError(f"{error.message} ({error.code}: {error.rule})") from None
        except ValueError:
            raise CommandError("--expires-at is an RFC 3339 time with offset, such as 2027-01-31T12:00:00Z") from None
        self.stdout.write(
            f"Key {issued.key.pk} of {issued.key.principal_id}, role {issued.key.role}.\n"
            f"Secret, shown this once: {issued.secret}"
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


def _grant(text: str) -> GrantSpec:
    workarea, _, capability = text.rpartition(":")
    if not workarea or capability not in list(Capability):
        raise CommandError(f"--grant {text}: write WORKAREA:CAPABILITY, capability one of {', '.join(Capability)}")
    return GrantSpec(workarea, Capability(capability))

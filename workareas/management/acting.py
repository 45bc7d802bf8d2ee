"""Who acts when a person runs a command on the server: an administrator's key, named or the tenant's first."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError

from oml.core.actor import Actor, Channel
from oml.core.errors import OmlError
from workareas.authentication import actor_of_key
from workareas.selectors.tenants import first_administrator, only_tenant


def add_acting_arguments(parser: ArgumentParser) -> None:
    """``--tenant`` and ``--by``, the same for every command that acts."""
    parser.add_argument("--tenant", help="short name; may be left out while there is one tenant")
    parser.add_argument("--by", help="admin key id to act as (default: the tenant's first admin key)")


def acting(options: dict[str, Any]) -> Actor:
    """The actor that the options name.

    Raises:
        CommandError: no tenant or administrator can be told, or the key is not usable.
    """
    with refusals_printed():
        if options["by"]:
            return actor_of_key(options["by"], channel=Channel.CLI)
        slug = options["tenant"] or only_tenant()
        if slug is None:
            raise CommandError("say --tenant NAME: there is no tenant yet, or more than one")
        actor = first_administrator(slug)
        if actor is None:
            raise CommandError(f"tenant {slug} has no usable admin key on its root; say --by KEY_ID")
        return actor


@contextmanager
def refusals_printed() -> Iterator[None]:
    """A typed refusal as a command says it: the message, the code and the rule; exit code 1."""
    try:
        yield
    except OmlError as error:
        raise CommandError(f"{error.message} ({error.code}: {error.rule})") from None

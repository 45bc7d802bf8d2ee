"""``manage.py ban``: what admission refuses, at submission and again at the verdict."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from oml.core.actor import Actor
from workareas.actions.bans import add_ban, remove_ban
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.selectors.bans import MAX_LIMIT, bans
from workareas.words import BanKind


class Command(BaseCommand):
    help = "Ban an author by key or principal, a text by digest, or an artifact as a source; list bans, or lift one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        add = acts.add_parser("add", help="refuse it from now on")
        add.add_argument("kind", choices=[str(kind) for kind in BanKind])
        add.add_argument("value", help="an id, or the SHA-256 of a text")
        add.add_argument("--reason")
        every = acts.add_parser("list", help="what is banned, newest first")
        lift = acts.add_parser("lift", help="let it in again")
        lift.add_argument("ban")
        for one in (add, every, lift):
            add_acting_arguments(one)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            for line in getattr(self, f"_{options['act']}")(acting(options), options):
                self.stdout.write(line)

    def _add(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        ban = add_ban(actor, kind=options["kind"], value=options["value"], reason=options["reason"])
        return [f"{ban.pk}: {ban.kind} {ban.value} is banned."]

    def _list(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        rows, cursor = [], None
        while True:
            page = bans(actor, limit=MAX_LIMIT, cursor=cursor)
            rows += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return [f"{row['ban_id']}  {row['created_at']}  {row['kind']} {row['value']}" for row in rows] or ["No bans."]

    def _lift(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        remove_ban(actor, ban=options["ban"])
        return [f"{options['ban']} is lifted."]

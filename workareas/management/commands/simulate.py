"""``manage.py simulate``: open a fence for an audience of keys, change who is inside, close it for good (D10)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from oml.core.actor import Actor
from workareas.actions.simulations import change_audience, close_simulation, create_simulation
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.selectors.simulations import simulation_body


class Command(BaseCommand):
    help = "Open a simulation for an audience of keys, change its audience, or close it for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        start = acts.add_parser("open", help="rows that carry its id are then served to its audience alone")
        start.add_argument("name")
        start.add_argument("--key", action="append", default=[], help="a key of the audience; may be repeated")
        audience = acts.add_parser("audience", help="let keys in, or out")
        audience.add_argument("simulation")
        audience.add_argument("--add", action="append", default=[], metavar="KEY")
        audience.add_argument("--remove", action="append", default=[], metavar="KEY")
        close = acts.add_parser("close", help="what is inside is then served to nobody")
        close.add_argument("simulation")
        for one in (start, audience, close):
            add_acting_arguments(one)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            body = simulation_body(getattr(self, f"_{options['act']}")(acting(options), options))
        state = f"closed {body['closed_at']}" if body["closed_at"] else "open"
        self.stdout.write(f"{body['simulation_id']}: {body['name']}, {state}")
        self.stdout.write(f"  audience: {', '.join(body['audience']) or 'nobody'}")

    def _open(self, actor: Actor, options: dict[str, Any]) -> Any:
        return create_simulation(actor, name=options["name"], audience=options["key"])

    def _audience(self, actor: Actor, options: dict[str, Any]) -> Any:
        return change_audience(actor, simulation=options["simulation"], add=options["add"], remove=options["remove"])

    def _close(self, actor: Actor, options: dict[str, Any]) -> Any:
        return close_simulation(actor, simulation=options["simulation"])

"""``manage.py workarea``: the tree from the command line (design: http-api, CLI twins)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from oml.core.actor import Actor
from workareas.actions.nodes import Crew, advance_status, create_workarea, set_policy, update_crew
from workareas.actions.reassign import AccessChange, reassign
from workareas.ladder import Step
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.selectors.nodes import administered_nodes
from workareas.selectors.policies import effective_policy

_NUMBERS = ("held_expiry_s", "min_verdicts", "serve_ttl_s")
_FLAGS = ("self_signed_allowed", "lineage_exclusion", "reason_required")


class Command(BaseCommand):
    help = "Show the tree, or create, advance, move, staff or set the review policy of a workarea."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        tree = acts.add_parser("tree", help="the nodes you administer, with status and crew")
        create = acts.add_parser("create", help="make a child node, in development")
        create.add_argument("parent")
        create.add_argument("leaf")
        status = acts.add_parser("status", help="one step up the ladder, never down")
        status.add_argument("workarea")
        status.add_argument("status", choices=[str(step) for step in Step])
        move = acts.add_parser("move", help="move a node with its subtree under another parent")
        move.add_argument("workarea")
        move.add_argument("parent")
        move.add_argument("--dry-run", action="store_true", help="only say whose access would change")
        crew = acts.add_parser("crew", help="record who works there")
        crew.add_argument("workarea")
        crew.add_argument("name")
        for one in (create, crew):
            one.add_argument("--charter", metavar="URI", help="recorded, never fetched")
            one.add_argument("--manager", help="who manages the crew elsewhere")
        create.add_argument("--crew", metavar="NAME")
        policy = acts.add_parser("policy", help="set what a node says about review, and print what then holds")
        policy.add_argument("workarea")
        for name in _NUMBERS:
            policy.add_argument(f"--{name.replace('_', '-')}", type=int)
        for name in _FLAGS:
            policy.add_argument(f"--{name.replace('_', '-')}", choices=["yes", "no"])
        for one in (status, move):
            one.add_argument("--reason")
        for one in (tree, create, status, move, crew, policy):
            add_acting_arguments(one)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            for line in getattr(self, f"_{options['act']}")(acting(options), options):
                self.stdout.write(line)

    def _tree(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        return [_node(node) for node in administered_nodes(actor)]

    def _create(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        crew = Crew(options["crew"], options["charter"], options["manager"]) if options["crew"] else None
        node = create_workarea(actor, parent=options["parent"], leaf=options["leaf"], crew=crew)
        return [f"{node.path} ({node.pk}) is there, in {node.status}."]

    def _status(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        node = advance_status(actor, workarea=options["workarea"], status=options["status"], reason=options["reason"])
        return [f"{node.path} ({node.pk}) is {node.status}."]

    def _move(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        dry = options["dry_run"]
        move = reassign(
            actor, workarea=options["workarea"], parent=options["parent"], reason=options["reason"], dry_run=dry
        )
        head = f"{move.old_path} {'would become' if dry else 'is now'} {move.new_path}, {move.nodes} nodes."
        tail = ["… and more."] if move.truncated else []
        return [head, *(_change(change) for change in move.changes), *tail]

    def _crew(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        crew = Crew(options["name"], options["charter"], options["manager"])
        node = update_crew(actor, workarea=options["workarea"], crew=crew)
        return [f"{node.path}: crew {node.crew_name}."]

    def _policy(self, actor: Actor, options: dict[str, Any]) -> list[str]:
        settings: dict[str, Any] = {name: options[name] for name in _NUMBERS if options[name] is not None}
        settings |= {name: options[name] == "yes" for name in _FLAGS if options[name] is not None}
        row = set_policy(actor, workarea=options["workarea"], settings=settings)
        told = effective_policy(row.workarea).as_dict()
        return [f"{row.workarea.path}:", *(f"  {name}: {value}" for name, value in told.items())]


def _node(node: Any) -> str:
    crew = f"  crew {node.crew_name}" if node.crew_name else ""
    return f"{'  ' * node.path.count('.')}{node.leaf}  {node.status}{crew}"


def _change(change: AccessChange) -> str:
    words = [f"gains {', '.join(change.gained)}"] if change.gained else []
    words += [f"loses {', '.join(change.lost)}"] if change.lost else []
    return f"  {change.key_id} {' and '.join(words)} at {change.path}"

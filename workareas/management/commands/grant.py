"""``manage.py grant``: allow and deny keys, and give people and groups their permissions (D7)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from oml.core.actor import Actor
from workareas.actions.groups import group_named, human_named, set_group_member
from workareas.actions.keys import GrantSpec, add_grant, remove_grant, set_human_access
from workareas.actions.space_roles import set_space_role
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.rules import HUMAN_PERMISSIONS
from workareas.space_roles import Persistence, SpaceRole
from workareas.verbs import Capability
from workareas.words import Effect

_PERMISSIONS = [prefix + name for name in (*HUMAN_PERMISSIONS, *Persistence) for prefix in ("", "deny_")]


class Command(BaseCommand):
    help = "Allow or deny a key a capability over a subtree (deny wins), or give a human or a group a permission."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        add = acts.add_parser("add", help="allow a key a capability from a node down; --deny refuses it")
        add.add_argument("key")
        add.add_argument("workarea")
        add.add_argument("capability", choices=[str(capability) for capability in Capability])
        add.add_argument("--deny", action="store_true")
        add.add_argument("--reason")
        remove = acts.add_parser("remove", help="take a grant back")
        remove.add_argument("grant")
        human = acts.add_parser("human", help="give somebody who signs in a permission from a node down")
        human.add_argument("username")
        group = acts.add_parser("group", help="give everybody in a group a permission from a node down")
        group.add_argument("group")
        for one in (human, group):
            one.add_argument("workarea")
            one.add_argument("permission", choices=_PERMISSIONS)
        member = acts.add_parser("member", help="take somebody who signs in into a group")
        member.add_argument("group")
        member.add_argument("username")
        role = acts.add_parser("space-role", help="give somebody who signs in a preset role in a space, or none")
        role.add_argument("username")
        role.add_argument("workarea")
        role.add_argument("role", choices=[*map(str, SpaceRole), "none"])
        for one in (human, group, member):
            one.add_argument("--take-back", action="store_true", help="undo it")
        for one in (add, remove, human, group, member, role):
            add_acting_arguments(one)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            self.stdout.write(getattr(self, f"_{options['act'].replace('-', '_')}")(acting(options), options))

    def _add(self, actor: Actor, options: dict[str, Any]) -> str:
        effect = Effect.DENY if options["deny"] else Effect.ALLOW
        spec = GrantSpec(options["workarea"], Capability(options["capability"]), effect)
        grant = add_grant(actor, key=options["key"], spec=spec, reason=options["reason"])
        says = "may not" if options["deny"] else "may"
        return f"{grant.pk}: {grant.key_id} {says} {grant.capability} from {grant.workarea.path} down."

    def _remove(self, actor: Actor, options: dict[str, Any]) -> str:
        remove_grant(actor, grant=options["grant"])
        return f"{options['grant']} is taken back."

    def _human(self, actor: Actor, options: dict[str, Any]) -> str:
        return self._give(actor, human_named(actor, options["username"]), options["username"], options)

    def _group(self, actor: Actor, options: dict[str, Any]) -> str:
        return self._give(actor, group_named(actor, options["group"]), f"group {options['group']}", options)

    def _give(self, actor: Actor, holder: Any, name: str, options: dict[str, Any]) -> str:
        given = not options["take_back"]
        set_human_access(
            actor,
            holder=holder,
            workarea=options["workarea"],
            permission=options["permission"],
            granted=given,
        )
        return f"{name} {'has' if given else 'no longer has'} {options['permission']} on {options['workarea']}."

    def _member(self, actor: Actor, options: dict[str, Any]) -> str:
        inside = not options["take_back"]
        set_group_member(actor, group=options["group"], username=options["username"], member=inside)
        return f"{options['username']} is {'in' if inside else 'no longer in'} {options['group']}."

    def _space_role(self, actor: Actor, options: dict[str, Any]) -> str:
        human = human_named(actor, options["username"])
        role = None if options["role"] == "none" else SpaceRole(options["role"])
        node, given = set_space_role(actor, principal=human.pk, workarea=options["workarea"], role=role)
        named = " and ".join(sorted(permission.spoken for permission in given)) or "no permission over agent state"
        return f"{options['username']} has {named} from {node.path} down."

"""People's access in the console: an object permission on a subtree, for somebody or for a group (D7)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest

from oml.console.actions import ConsoleAction, Done
from workareas.actions.groups import group_named, human_named, set_group_member
from workareas.actions.keys import set_human_access
from workareas.admin.gate import actor_of
from workareas.models import Principal, Workarea
from workareas.rules import HUMAN_PERMISSIONS
from workareas.space_roles import Persistence
from workareas.words import PrincipalKind

_PERMISSIONS = [
    (f"{prefix}{name}", f"{'deny: ' if prefix else ''}{name.replace('_', ' ')}")
    for prefix in ("", "deny_")
    for name in (*HUMAN_PERMISSIONS, *map(str, Persistence))
]


class PeopleForm(forms.Form):
    """Who, and what."""

    holder = forms.ChoiceField(
        choices=[("person", "somebody who signs in"), ("group", "everybody in a group")], label="For"
    )
    name = forms.CharField(
        max_length=150,
        help_text="The name that they sign in with, or the group's name; a group is made when it is first named.",
    )
    permission = forms.ChoiceField(choices=_PERMISSIONS)
    take_back = forms.BooleanField(required=False, label="Take it back instead")


def _people(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Done:
    actor = actor_of(request)
    find = human_named if data["holder"] == "person" else group_named
    given = not data["take_back"]
    set_human_access(
        actor, holder=find(actor, data["name"]), workarea=row.pk, permission=data["permission"], granted=given
    )
    who = data["name"] if data["holder"] == "person" else f"the group {data['name']}"
    return Done(f"Now {who} {'has' if given else 'no longer has'} {data['permission']} on {row.path}.")


class GroupForm(forms.Form):
    """Which group, and in or out."""

    group = forms.CharField(max_length=100, help_text="The group's name; it is made when it is first named.")
    take_out = forms.BooleanField(required=False, label="Take them out instead")


def _member(request: HttpRequest, row: Principal, data: dict[str, Any]) -> Done:
    inside = not data["take_out"]
    set_group_member(actor_of(request), group=data["group"], username=row.username, member=inside)
    return Done(f"Now {row.name} is {'in' if inside else 'no longer in'} the group {data['group']}.")


GROUP = ConsoleAction(
    name="group",
    label="Take into a group",
    consequence="Whoever is in a group has every permission that the group was given, and is denied whatever it is "
    "denied; from the next call on.",
    form=GroupForm,
    perform=_member,
    available=lambda principal: principal.kind == PrincipalKind.HUMAN and principal.is_active,
)
PEOPLE_HERE = ConsoleAction(
    name="people",
    label="Give people access here",
    consequence="It holds for this workarea and everything below it, at once. A deny wins over every allow, wherever "
    "it stands. What it permits is still bounded by the role that somebody was enrolled with.",
    form=PeopleForm,
    perform=_people,
)

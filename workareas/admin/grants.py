"""Grants in the console: given on a key's or a workarea's page, taken back on their own, each foreseen first (D7)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest

from oml.console.actions import ConsoleAction, Done
from oml.console.foresight import Foresight
from workareas.actions.keys import GrantSpec, add_grant, remove_grant
from workareas.admin.fields import reason_field
from workareas.admin.gate import actor_of
from workareas.models import Grant, Key, Workarea
from workareas.selectors.foresight import GrantForeseen, grant_foreseen, removal_foreseen
from workareas.selectors.suggestions import administered_paths, keys_by_name
from workareas.verbs import Capability
from workareas.words import Effect

_EFFECTS = [(Effect.ALLOW, "allow"), (Effect.DENY, "deny: wins over every allow, wherever it stands")]


class _GrantForm(forms.Form):
    capability = forms.ChoiceField(choices=[(one, one) for one in Capability])
    effect = forms.ChoiceField(choices=_EFFECTS)
    reason = reason_field()


class GrantToKeyForm(_GrantForm):
    """A grant of the key whose page it is."""

    workarea = forms.CharField(max_length=4096, help_text="Path or id; the grant covers its whole subtree.")
    field_order = ("workarea", "capability", "effect", "reason")


class GrantHereForm(_GrantForm):
    """A grant on the workarea whose page it is."""

    key = forms.CharField(max_length=64, help_text="Id (key_…).")
    field_order = ("key", "capability", "effect", "reason")


class TakeBackForm(forms.Form):
    """Nothing to fill in: what would change is shown, and confirmed."""


def _asked(row: Key | Workarea, data: dict[str, Any]) -> tuple[str, str]:
    return (row.pk, data["workarea"]) if isinstance(row, Key) else (data["key"], row.pk)


def _foresee(request: HttpRequest, row: Key | Workarea, data: dict[str, Any]) -> Foresight:
    key, workarea = _asked(row, data)
    found = grant_foreseen(
        actor_of(request),
        key=key,
        workarea=workarea,
        capability=Capability(data["capability"]),
        effect=Effect(data["effect"]),
    )
    return _told(found, f"{data['effect'].capitalize()} {data['capability']} on {found.node.path} and all below it.")


def _grant(request: HttpRequest, row: Key | Workarea, data: dict[str, Any]) -> Done:
    key, workarea = _asked(row, data)
    spec = GrantSpec(workarea, Capability(data["capability"]), Effect(data["effect"]))
    grant = add_grant(actor_of(request), key=key, spec=spec, reason=data["reason"] or None)
    return Done(f"Grant {grant.pk}: {grant.effect} {grant.capability} on {grant.workarea.path} for {grant.key_id}.")


def _foresee_removal(request: HttpRequest, row: Grant, data: dict[str, Any]) -> Foresight:
    found = removal_foreseen(actor_of(request), grant=row.pk)
    return _told(found, f"{row.effect.capitalize()} {row.capability} on {found.node.path} is taken back.")


def _remove(request: HttpRequest, row: Grant, data: dict[str, Any]) -> Done:
    remove_grant(actor_of(request), grant=row.pk)
    return Done(f"Grant {row.pk} is taken back.")


def _told(found: GrantForeseen, sentence: str) -> Foresight:
    facts = [("Key", f"{found.key.pk} of {found.key.principal.name}, role {found.key.role}")]
    if not found.live:
        facts.append(("Note", "this key is revoked, or its principal is switched off: it can do nothing now"))
    facts.append(("Workareas in the subtree", str(found.nodes)))
    return Foresight(
        sentence,
        facts=tuple(facts),
        columns=("Workarea", "Gains", "Loses"),
        rows=tuple(
            (change.path, ", ".join(change.gained) or "nothing", ", ".join(change.lost) or "nothing")
            for change in found.changes
        ),
        none="What this key can do changes nowhere: another rule says the same already, or a deny wins.",
        more="More workareas change than are listed." if found.truncated else "",
    )


_CONSEQUENCE = "It holds at once. Every call that was decided before is decided again."

GRANT_TO_KEY = ConsoleAction(
    name="grant",
    label="Grant something",
    consequence=_CONSEQUENCE,
    form=GrantToKeyForm,
    perform=_grant,
    foresee=_foresee,
    available=lambda key: key.revoked_at is None,
    suggestions=lambda request: {"workarea": [(path, "") for path in administered_paths(actor_of(request))]},
)
GRANT_HERE = ConsoleAction(
    name="grant",
    label="Grant something here",
    consequence=_CONSEQUENCE,
    form=GrantHereForm,
    perform=_grant,
    foresee=_foresee,
    suggestions=lambda request: {"key": keys_by_name(actor_of(request))},
)
TAKE_BACK = ConsoleAction(
    name="take-back",
    label="Take this grant back",
    consequence=_CONSEQUENCE,
    form=TakeBackForm,
    perform=_remove,
    foresee=_foresee_removal,
)

"""Bans and simulations: what admission refuses, and fences; each changes through the same actions as over the API."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from oml.console.actions import ActionAdmin, ConsoleAction, Done
from workareas.actions.bans import add_ban, remove_ban
from workareas.actions.simulations import change_audience, close_simulation, create_simulation
from workareas.admin.fields import KeyIds, reason_field
from workareas.admin.gate import actor_of
from workareas.models import Ban, Simulation
from workareas.words import BanKind

_BAN_WORDS = {
    BanKind.KEY: "a key: everything it submits or proposes",
    BanKind.PRINCIPAL: "a principal: everything that any of its keys submits or proposes",
    BanKind.DIGEST: "a text: exactly this one, by its SHA-256",
    BanKind.ARTIFACT: "an artifact: everything that derives from it",
}


class BanForm(forms.Form):
    """What admission shall refuse."""

    kind = forms.ChoiceField(choices=list(_BAN_WORDS.items()), label="Refuse")
    value = forms.CharField(
        max_length=128, label="Which", help_text="The id (key_…, pri_…, art_…), or the 64 hex digits of a SHA-256."
    )
    reason = reason_field()


class ConfirmForm(forms.Form):
    """Nothing to fill in: the page is the confirmation."""


class SimulationForm(forms.Form):
    """A new fence and whom it lets in."""

    name = forms.CharField(max_length=200)
    audience = KeyIds(help_text="Ids of keys (key_…), one a line. Reviewers of what is inside belong in it too.")


class AudienceForm(forms.Form):
    """Who is let in, and who is shown out."""

    add = KeyIds(label="Let in", help_text="Ids of keys (key_…), one a line.")
    remove = KeyIds(label="Show out", help_text="Ids of keys (key_…), one a line.")


def _ban(request: HttpRequest, row: None, data: dict[str, Any]) -> Done:
    ban = add_ban(actor_of(request), kind=data["kind"], value=data["value"], reason=data["reason"] or None)
    return Done(f"Ban {ban.pk}: admission refuses {ban.kind} {ban.value}.")


def _lift(request: HttpRequest, row: Ban, data: dict[str, Any]) -> Done:
    remove_ban(actor_of(request), ban=row.pk)
    return Done(f"Ban {row.pk} is lifted: admission decides about {row.kind} {row.value} as about any other.")


def _open(request: HttpRequest, row: None, data: dict[str, Any]) -> Done:
    made = create_simulation(actor_of(request), name=data["name"], audience=data["audience"])
    return Done(f"Simulation {made.pk} is open; keys in its audience: {len(data['audience'])}.")


def _audience(request: HttpRequest, row: Simulation, data: dict[str, Any]) -> Done:
    change_audience(actor_of(request), simulation=row.pk, add=data["add"], remove=data["remove"])
    return Done(f"Keys let in: {len(data['add'])}; shown out: {len(data['remove'])}.")


def _close(request: HttpRequest, row: Simulation, data: dict[str, Any]) -> Done:
    close_simulation(actor_of(request), simulation=row.pk)
    return Done(f"Simulation {row.pk} is closed.")


@admin.register(Ban)
class BanAdmin(ActionAdmin):
    list_display = ("id", "kind", "value", "created_by", "created_at")
    list_filter = ("kind",)
    search_fields = ("=id", "=value")
    ordering = ("-id",)
    shown = ("id", "kind", "value", "created_by", "created_at")
    console_actions = (
        ConsoleAction(
            name="ban",
            label="Ban something",
            consequence="Admission refuses it from now on, at submission and again at the verdict, so it also stops "
            "what already waits. Nothing that was promoted is hidden by it: demote or erase that.",
            form=BanForm,
            perform=_ban,
            per_row=False,
        ),
        ConsoleAction(
            name="lift",
            label="Lift this ban",
            consequence="Admission stops refusing it at once. What was refused meanwhile is not submitted by that: "
            "its author sends it again.",
            form=ConfirmForm,
            perform=_lift,
        ),
    )


@admin.register(Simulation)
class SimulationAdmin(ActionAdmin):
    list_display = ("id", "name", "created_by", "created_at", "closed_at")
    search_fields = ("=id", "name")
    ordering = ("-id",)
    shown = ("id", "name", "keys_inside", "created_by", "created_at", "closed_at")
    console_actions = (
        ConsoleAction(
            name="open",
            label="Open a simulation",
            consequence="Whatever is submitted under its id exists for its audience alone, on every way of reading.",
            form=SimulationForm,
            perform=_open,
            per_row=False,
        ),
        ConsoleAction(
            name="audience",
            label="Change the audience",
            consequence="Whoever is let in sees all that is inside, at once; whoever is shown out sees none of it, "
            "their own submissions included.",
            form=AudienceForm,
            perform=_audience,
            available=lambda simulation: simulation.closed_at is None,
        ),
        ConsoleAction(
            name="close",
            label="Close this simulation",
            consequence="It cannot be opened again: nothing more enters, and what is inside is served to nobody.",
            form=ConfirmForm,
            perform=_close,
            available=lambda simulation: simulation.closed_at is None,
        ),
    )

    @admin.display(description="audience")
    def keys_inside(self, simulation: Any) -> str:
        return ", ".join(simulation.audience.order_by("pk").values_list("pk", flat=True)) or "nobody"

"""Keys: read-only, issued, rotated, granted and revoked through the same actions as everywhere (D6, D13)."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from oml.console.actions import ActionAdmin, ConsoleAction, Done
from oml.console.panels import Panel
from oml.console.parts import Part
from oml.console.readonly import ReadOnlyInline
from oml.core.actor import Role
from oml.core.clock import now
from oml.core.errors import Validation
from workareas.actions.keys import MAX_OVERLAP_S, GrantSpec, NewPrincipal, issue_key, revoke_key, rotate_key
from workareas.admin.fields import reason_field
from workareas.admin.gate import actor_of, administered
from workareas.admin.grants import GRANT_TO_KEY
from workareas.admin.words import key_state, keys_granted_in
from workareas.models import Grant, Key
from workareas.rules import within
from workareas.selectors.reach import reach_of
from workareas.selectors.suggestions import administered_paths, principals_with_keys
from workareas.verbs import Capability
from workareas.words import PrincipalKind

_DAY = timedelta(days=1)
_ROLE_WORDS = {
    Role.READER: "reader: recalls and reads",
    Role.WRITER: "writer: reads and submits",
    Role.DREAMER: "dreamer: reads, proposes and reviews",
    Role.ADMIN: "admin: reads and administers",
}


class IssueKeyForm(forms.Form):
    """One key with at most one workarea's grants; further grants are further acts."""

    principal = forms.CharField(
        required=False,
        max_length=64,
        label="Existing principal",
        help_text="Id (pri_…) of whoever exists already. Leave empty to create one.",
    )
    name = forms.CharField(
        required=False, max_length=200, label="New principal's name", help_text="For example: Metals crew writer"
    )
    kind = forms.ChoiceField(
        required=False,
        label="New principal's kind",
        choices=[(PrincipalKind.AGENT, "agent"), (PrincipalKind.SERVICE, "service")],
    )
    role = forms.ChoiceField(
        choices=list(_ROLE_WORDS.items()), help_text="A ceiling: no grant ever lifts a key above its role."
    )
    workarea = forms.CharField(
        required=False, max_length=4096, help_text="Path or id; the grants cover its whole subtree."
    )
    capabilities = forms.MultipleChoiceField(
        required=False,
        label="Grants there",
        choices=[(c, c) for c in Capability],
        widget=forms.CheckboxSelectMultiple,
        help_text="Without any, the key exists and reaches nothing.",
    )
    expires_at = forms.DateTimeField(
        required=False,
        label="Expires (UTC)",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="Leave empty for a key that does not expire.",
    )


class RotateKeyForm(forms.Form):
    """How long the secret before still works."""

    overlap_hours = forms.IntegerField(
        min_value=0,
        max_value=MAX_OVERLAP_S // 3600,
        initial=0,
        label="Overlap in hours",
        help_text="For so long the secret before works as well, so that whoever uses it can be changed over. 0: it "
        "stops at once. At most 30 days.",
    )


class RevokeKeyForm(forms.Form):
    """Why; when it was used last is shown before it is confirmed."""

    reason = reason_field()


def _issue(request: HttpRequest, row: None, data: dict[str, Any]) -> Done:
    if bool(data["principal"]) == bool(data["name"].strip()):
        raise Validation("name either an existing principal or a new one, not both", param="principal")
    if data["capabilities"] and not data["workarea"]:
        raise Validation("grants need a workarea", param="workarea")
    expires = data["expires_at"]
    issued = issue_key(
        actor_of(request),
        principal=data["principal"] or NewPrincipal(data["name"], PrincipalKind(data["kind"])),
        role=Role(data["role"]),
        grants=[GrantSpec(data["workarea"], Capability(name)) for name in data["capabilities"]],
        expires_at=expires.astimezone(UTC) if expires else None,
    )
    return Done(
        sentence="The key was issued.",
        facts=(
            ("Key", issued.key.pk),
            ("Principal", f"{issued.key.principal.name} ({issued.key.principal_id})"),
            ("Role", issued.key.role),
            ("Grants", ", ".join(f"{c} on {data['workarea']}" for c in data["capabilities"]) or "none"),
        ),
        secret=issued.secret,
    )


def _revoke(request: HttpRequest, row: Key, data: dict[str, Any]) -> Done:
    revoke_key(actor_of(request), key=row.pk, reason=data["reason"] or None)
    return Done(f"Key {row.pk} is revoked. Its next call is refused.")


def _rotate(request: HttpRequest, row: Key, data: dict[str, Any]) -> Done:
    issued = rotate_key(actor_of(request), key=row.pk, overlap_s=data["overlap_hours"] * 3600)
    until = issued.key.previous_expires_at
    return Done(
        sentence="The key has a new secret; its id and grants are the same.",
        facts=(
            ("Key", issued.key.pk),
            ("The secret before", f"works until {until:%Y-%m-%d %H:%M} UTC" if until else "works no more"),
        ),
        secret=issued.secret,
    )


def _use(request: HttpRequest, row: Key) -> tuple[tuple[str, str], ...]:
    used = row.last_used_at
    return (
        ("Principal", row.principal.name),
        ("Last used", f"{used:%Y-%m-%d %H:%M} UTC, give or take a minute" if used else "never"),
        ("Used in the last 24 hours", "yes" if used and now() - used < _DAY else "no"),
        ("Grants it holds", str(row.grants.count())),
    )


def _suggest(request: HttpRequest) -> dict[str, list[tuple[str, str]]]:
    actor = actor_of(request)
    return {
        "workarea": [(path, "") for path in administered_paths(actor)],
        "principal": principals_with_keys(actor),
    }


def _reach(request: HttpRequest, row: Key) -> list[tuple[str, ...]]:
    scope = administered(request)
    return [
        (one.path, ", ".join(one.capabilities) or "nothing: denied")
        for one in reach_of(row)
        if scope.holds(one.path) or any(within(root, one.path) for root in scope.allow)
    ]


class GrantsOfKey(ReadOnlyInline):
    model = Grant
    places = ("workarea__path",)
    show_change_link = True
    fk_name = "key"
    verbose_name_plural = "grants (each covers the subtree; a deny wins)"
    shown = ("effect", "capability", "workarea", "journal_seq", "created_at")

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("workarea").order_by("-effect", "workarea__path")


@admin.register(Key)
class KeyAdmin(ActionAdmin):
    """Never a secret or its digest: the secret is shown once, in the answer that issued it."""

    list_display = (
        "id",
        "principal",
        "role",
        "credential",
        "state",
        "last_four",
        "last_used_at",
        "expires_at",
        "created_at",
    )
    list_display_links = ("id",)
    list_filter = ("role", "interactive")
    list_select_related = ("principal",)
    search_fields = ("=id", "=last_four", "principal__name")
    ordering = ("-id",)
    shown = (
        "id",
        "principal",
        "role",
        "credential",
        "state",
        "last_four",
        "last_used_at",
        "expires_at",
        "revoked_at",
        "created_at",
    )
    inlines = (GrantsOfKey,)
    panels = (
        Panel(
            title="What this key can reach (from each place down, after every deny)",
            columns=("Workarea", "It can"),
            rows=_reach,
            none="Nothing.",
        ),
    )
    row_links = (("Explain access", lambda key: f"{reverse('admin:explain')}?key={key.pk}"),)
    console_actions = (
        ConsoleAction(
            name="issue",
            label="Issue a key",
            consequence="A new key works at once, with exactly the grants below. Its secret is shown once, on the "
            "next page, and can never be shown again.",
            form=IssueKeyForm,
            perform=_issue,
            per_row=False,
            suggestions=_suggest,
        ),
        ConsoleAction(
            name="rotate",
            label="Give this key a new secret",
            consequence="The new secret is shown once, on the next page, and can never be shown again.",
            form=RotateKeyForm,
            perform=_rotate,
            facts=_use,
            available=lambda key: key.revoked_at is None and not key.interactive,
        ),
        GRANT_TO_KEY,
        ConsoleAction(
            name="revoke",
            label="Revoke this key",
            consequence="Every call with this key is refused from now on. It cannot be taken back; what was written "
            "with it stays, under its name.",
            form=RevokeKeyForm,
            perform=_revoke,
            facts=_use,
            available=lambda key: key.revoked_at is None,
        ),
    )

    def in_part(self, rows: Any, part: Part) -> Any:
        """Keys that are granted something in the part."""
        return rows.filter(pk__in=keys_granted_in(part))

    @admin.display(description="used by", ordering="interactive")
    def credential(self, key: Key) -> str:
        return "a signed-in human" if key.interactive else "API secret"

    @admin.display(description="state")
    def state(self, key: Key) -> str:
        return key_state(key)

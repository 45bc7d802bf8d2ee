"""Tenants, with their quotas, and principals."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from oml.console.actions import ActionAdmin, ConsoleAction, Done
from oml.console.parts import Part, part_of
from oml.console.readonly import ReadOnlyInline
from workareas.actions.keys import set_quota
from workareas.actions.removal import remove_principal
from workareas.admin.fields import reason_field
from workareas.admin.gate import actor_of
from workareas.admin.humans import GROUP
from workareas.admin.words import key_state, keys_granted_in
from workareas.models import Key, Principal, Tenant


class QuotaForm(forms.Form):
    """Both limits, as they shall be."""

    writes_per_minute = forms.IntegerField(required=False, help_text="A whole number; empty for no limit.")
    reads_per_minute = forms.IntegerField(required=False, help_text="A whole number; empty for no limit.")


def _quota(request: HttpRequest, row: Tenant, data: dict[str, Any]) -> Done:
    set_quota(actor_of(request), **data)
    writes, reads = (_limit(data[name]) for name in ("writes_per_minute", "reads_per_minute"))
    return Done(f"Writes per minute: {writes}. Reads per minute: {reads}.")


def _limit(limit: int | None) -> str:
    return "no limit" if limit is None else str(limit)


@admin.register(Tenant)
class TenantAdmin(ActionAdmin):
    tenant_path = "id"
    console_actions = (
        ConsoleAction(
            name="quota",
            label="Set the quotas",
            consequence="Every replica enforces its share of the limit, within seconds. Beyond it calls are refused as "
            "limit.quota, with the seconds to wait; a limit of 0 refuses every call.",
            form=QuotaForm,
            perform=_quota,
            initial=lambda request, tenant: {
                "writes_per_minute": tenant.writes_per_minute,
                "reads_per_minute": tenant.reads_per_minute,
            },
        ),
    )
    list_display = ("slug", "name", "relaxed_review", "writes_per_minute", "reads_per_minute", "created_at")
    shown = ("id", "slug", "name", "relaxed_review", "writes_per_minute", "reads_per_minute", "created_at")


class RemoveForm(forms.Form):
    """Why somebody goes."""

    reason = reason_field(required=True)


def _remove(request: HttpRequest, row: Principal, data: dict[str, Any]) -> Done:
    removal = remove_principal(actor_of(request), principal=row.pk, reason=data["reason"])
    return Done(f"Removed: {row.name}. Keys revoked: {len(removal.keys_revoked)}.")


class KeysOfPrincipal(ReadOnlyInline):
    model = Key
    fk_name = "principal"  # a key also names who issued it
    verbose_name_plural = "keys"
    shown = ("id", "role", "last_four", "state", "expires_at", "last_used_at")
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> Any:
        part = part_of(request)
        rows = super().get_queryset(request)
        return rows if part is None else rows.filter(pk__in=keys_granted_in(part))

    @admin.display(description="state")
    def state(self, key: Any) -> str:
        return key_state(key)


@admin.register(Principal)
class PrincipalAdmin(ActionAdmin):
    """Never the password, nor its hash: the page shows what is listed and nothing else."""

    list_display = ("name", "kind", "id", "username", "is_active", "is_staff", "created_at")
    list_filter = ("kind", "is_active", "is_staff")
    search_fields = ("=id", "name", "username")
    ordering = ("-id",)
    shown = ("id", "name", "kind", "username", "email", "is_active", "is_staff", "last_login", "created_at")
    inlines = (KeysOfPrincipal,)

    console_actions = (
        GROUP,
        ConsoleAction(
            name="remove",
            label="Remove this actor",
            consequence="Nobody signs in or calls as it again: every key of it is revoked, and the agent state that is "
            "private to it is destroyed. What it shared or submitted stays, under its name. It cannot be taken back.",
            form=RemoveForm,
            perform=_remove,
            available=lambda principal: principal.is_active,
        ),
    )

    def in_part(self, rows: Any, part: Part) -> Any:
        """Whoever has a key that is granted something in the part."""
        return rows.filter(pk__in=Key.objects.filter(pk__in=keys_granted_in(part)).values("principal_id"))

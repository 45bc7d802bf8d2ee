"""Tenants and principals, read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from oml.console.readonly import ReadOnlyAdmin, ReadOnlyInline
from workareas.admin.words import key_state
from workareas.models import Key, Principal, Tenant


@admin.register(Tenant)
class TenantAdmin(ReadOnlyAdmin):
    tenant_path = "id"
    list_display = ("slug", "name", "relaxed_review", "writes_per_minute", "reads_per_minute", "created_at")
    shown = ("id", "slug", "name", "relaxed_review", "writes_per_minute", "reads_per_minute", "created_at")


class KeysOfPrincipal(ReadOnlyInline):
    model = Key
    fk_name = "principal"  # a key also names who issued it
    verbose_name_plural = "keys"
    shown = ("id", "role", "last_four", "state", "expires_at", "last_used_at")
    show_change_link = True

    @admin.display(description="state")
    def state(self, key: Any) -> str:
        return key_state(key)


@admin.register(Principal)
class PrincipalAdmin(ReadOnlyAdmin):
    """Never the password, nor its hash: the page shows what is listed and nothing else."""

    list_display = ("name", "kind", "id", "username", "is_active", "is_staff", "created_at")
    list_filter = ("kind", "is_active", "is_staff")
    search_fields = ("=id", "name", "username")
    ordering = ("-id",)
    shown = ("id", "name", "kind", "username", "email", "is_active", "is_staff", "last_login", "created_at")
    inlines = (KeysOfPrincipal,)

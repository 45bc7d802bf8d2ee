"""Bans and simulations, read-only; both change through the API's actions."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from oml.console.readonly import ReadOnlyAdmin
from workareas.models import Ban, Simulation


@admin.register(Ban)
class BanAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "value", "created_by", "created_at")
    list_filter = ("kind",)
    search_fields = ("=id", "=value")
    ordering = ("-id",)
    shown = ("id", "kind", "value", "created_by", "created_at")


@admin.register(Simulation)
class SimulationAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "created_by", "created_at", "closed_at")
    search_fields = ("=id", "name")
    ordering = ("-id",)
    shown = ("id", "name", "keys_inside", "created_by", "created_at", "closed_at")

    @admin.display(description="audience")
    def keys_inside(self, simulation: Any) -> str:
        return ", ".join(simulation.audience.order_by("pk").values_list("pk", flat=True)) or "nobody"

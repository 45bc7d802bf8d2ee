"""Edges, read-only; the proposer's note is withheld like any text (R3)."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from memory.admin.claims import WITHHELD, without_text
from memory.graph.models import Edge
from oml.console.readonly import ReadOnlyAdmin


@admin.register(Edge)
class EdgeAdmin(ReadOnlyAdmin):
    places = ("from_workarea__path",)  # an edge lives on its from node
    list_display = (
        "id",
        "kind",
        "label",
        "state",
        "from_workarea",
        "to_workarea",
        "proposer_principal",
        "proposed_at",
        "decided_at",
    )
    list_display_links = ("id",)
    list_filter = ("kind", "state")
    search_fields = ("=id", "=from_artifact__id", "=to_artifact__id", "label")
    ordering = ("-id",)
    shown = (
        "id",
        "kind",
        "label",
        "state",
        "from_workarea",
        "from_artifact",
        "to_workarea",
        "to_artifact",
        "simulation_id",
        "proposer_principal",
        "proposer_key",
        "proposed_at",
        "decided_at",
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = without_text(super().get_queryset(request), "from_artifact", "to_artifact").defer(
            "note",
            "note_salt",
            *(f"{end}__{name}" for end in ("from_artifact", "to_artifact") for name in WITHHELD),
        )
        return rows.select_related("from_artifact", "to_artifact", "from_workarea", "to_workarea", "proposer_principal")

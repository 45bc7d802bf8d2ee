"""The journal in the admin console: every entry as it was hashed, read-only (D1).

Entries carry ids, digests and closed words, so the whole canonical text may be shown to the tenant's administrator.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from oml.console import tiles
from oml.console.parts import Part, part_of
from oml.console.readonly import ReadOnlyAdmin
from oml.console.tiles import Tile
from oml.core.clock import rfc3339_seconds
from oml.journal.models import JournalEntry, JournalHead
from oml.journal.registry import REGISTRY


class EventTypeFilter(admin.SimpleListFilter):
    """By event type, from the registry: a DISTINCT over the whole journal would not stay cheap."""

    title = "event"
    parameter_name = "event"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in sorted(REGISTRY)]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(event_type=self.value()) if self.value() else queryset


@admin.register(JournalEntry)
class JournalEntryAdmin(ReadOnlyAdmin):
    list_display = ("seq", "at", "event_type", "subject_id", "actor", "workarea_id")
    list_filter = (EventTypeFilter,)
    search_fields = ("=subject_id", "=workarea_id")
    search_help_text = "The exact id of a subject (an artifact, a key, a grant …) or of a workarea."
    ordering = ("-seq",)
    shown = (
        "seq",
        "at",
        "event_type",
        "subject_id",
        "workarea_id",
        "far_workarea_id",
        "simulation_id",
        "in_tail",
        "record",
        "leaf",
        "chain",
    )

    def in_part(self, rows: Any, part: Part) -> Any:
        """Entries about the part's workareas; what is about no workarea is the root's to see."""
        return rows.filter(part.nodes("workarea_id"))

    @admin.display(description="by key")
    def actor(self, entry: JournalEntry) -> str:
        return str(json.loads(entry.canonical)["actor"]["key"])

    @admin.display(description="in a reader's tail", boolean=True)
    def in_tail(self, entry: JournalEntry) -> bool:
        return bool(entry.tail)

    @admin.display(description="record, as hashed but indented")
    def record(self, entry: JournalEntry) -> str:
        return format_html("<pre>{}</pre>", json.dumps(json.loads(entry.canonical), indent=2, ensure_ascii=False))

    @admin.display(description="leaf hash")
    def leaf(self, entry: JournalEntry) -> str:
        return bytes(entry.leaf_hash).hex()

    @admin.display(description="chain hash")
    def chain(self, entry: JournalEntry) -> str:
        return bytes(entry.chain_hash).hex()


@admin.register(JournalHead)
class JournalHeadAdmin(ReadOnlyAdmin):
    list_display = ("tenant_id", "seq", "permission_epoch")
    shown = ("tenant_id", "seq", "permission_epoch", "chain")

    @admin.display(description="chain hash")
    def chain(self, head: JournalHead) -> str:
        return bytes(head.chain_hash).hex()


def _head(request: HttpRequest) -> list[Tile]:
    if part_of(request) is not None:
        return []  # of the whole tenant, so the root's to see
    user: Any = request.user
    newest = JournalEntry.objects.filter(tenant_id=user.tenant_id).order_by("-seq").first()
    if newest is None:
        return [Tile("Journal", "empty")]
    detail = f"newest entry {rfc3339_seconds(newest.at)}: {newest.event_type}"
    return [Tile("Journal head", str(newest.seq), detail, address="journal/journalentry/")]


tiles.register(_head, order=30)

"""Who read what. The log holds no query, only a keyed digest that tells two equal queries from two others."""

from __future__ import annotations

from django.contrib import admin

from memory.recall.models import ReadLog
from oml.console.readonly import ReadOnlyAdmin


@admin.register(ReadLog)
class ReadLogAdmin(ReadOnlyAdmin):
    list_display = ("at", "surface", "channel", "key_id", "principal_id", "workarea_id", "results")
    list_filter = ("surface", "channel")
    search_fields = ("=key_id", "=principal_id", "=workarea_id")
    ordering = ("-id",)
    shown = ("at", "surface", "channel", "key_id", "principal_id", "workarea_id", "query_digest", "returned")

    @admin.display(description="returned")
    def results(self, read: ReadLog) -> int:
        return len(read.returned)

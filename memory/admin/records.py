"""Source records in the console: that they are there, never what they say.

A record is private to its principal, an administrator's console included: no content, no property, no note.
"""

from __future__ import annotations

from django.contrib import admin

from memory.records.models import Lane, Record, RecordEntry
from oml.console.readonly import ReadOnlyAdmin


@admin.register(Lane)
class LaneAdmin(ReadOnlyAdmin):
    places = ("workarea__path",)
    list_display = ("uuid", "owner", "home_of", "workarea", "default_source_type", "created_at")
    list_select_related = ("owner", "home_of", "workarea")
    search_fields = ("=owner__id", "=home_of__id")
    ordering = ("-created_at",)
    shown = ("uuid", "owner", "home_of", "workarea", "default_source_type", "created_at")


@admin.register(Record)
class RecordAdmin(ReadOnlyAdmin):
    list_display = ("sr_id", "owner", "source_type", "authority", "version", "size", "ingested_at", "deleted")
    list_filter = ("source_type", "deleted")
    list_select_related = ("owner",)
    search_fields = ("=sr_id", "=owner__id")
    ordering = ("-ingested_at", "sr_id")
    shown = (
        "sr_id",
        "owner",
        "source_type",
        "authority",
        "first_engine",
        "ingested_at",
        "version",
        "written_at",
        "size",
        "deleted",
    )


@admin.register(RecordEntry)
class RecordEntryAdmin(ReadOnlyAdmin):
    list_display = ("sr_id", "version", "engine_id", "written_at", "author_key_id", "change", "size", "deleted")
    list_filter = ("deleted",)
    search_fields = ("=sr_id", "=author_key_id")
    ordering = ("-id",)
    shown = ("sr_id", "version", "engine_id", "event_id", "written_at", "author_key_id", "change", "size", "deleted")

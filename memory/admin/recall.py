"""What recall finds, and who read what.

Of a serving row only its place and state are shown: its terms and vectors are made of the text, and so is the
speaker's name (R3). The log holds no query, only a keyed digest that tells two equal queries from two others.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import BooleanField, Case, Value, When
from django.http import HttpRequest

from memory.admin.claims import WITHHELD, without_text
from memory.recall.models import ReadLog, ServingRow
from oml.console.parts import Part
from oml.console.readonly import ReadOnlyAdmin


@admin.register(ReadLog)
class ReadLogAdmin(ReadOnlyAdmin):
    list_display = ("at", "surface", "channel", "key_id", "principal_id", "workarea_id", "results")
    list_filter = ("surface", "channel")
    search_fields = ("=key_id", "=principal_id", "=workarea_id")
    ordering = ("-id",)
    shown = ("at", "surface", "channel", "key_id", "principal_id", "workarea_id", "query_digest", "returned")

    def in_part(self, rows: Any, part: Part) -> Any:
        """Reads of the part's workareas."""
        return rows.filter(part.nodes("workarea_id"))

    @admin.display(description="returned")
    def results(self, read: ReadLog) -> int:
        return len(read.returned)


@admin.register(ServingRow)
class ServingRowAdmin(ReadOnlyAdmin):
    places = ("path",)
    list_display = ("artifact_id", "path", "kind", "promoted", "has_vector", "model_id", "lexer_version")
    list_filter = ("promoted", "kind")
    search_fields = ("=artifact__id", "path")
    ordering = ("-artifact_id",)
    shown = ("artifact", "path", "kind", "promoted", "promoted_at", "has_vector", "model_id", "lexer_version")

    def get_queryset(self, request: HttpRequest) -> Any:
        vector = Case(When(embedding__isnull=False, then=Value(True)), default=False, output_field=BooleanField())
        rows = super().get_queryset(request).annotate(vector=vector)
        return without_text(rows, "artifact").defer(
            "lexemes", "lexical", "embedding", "label", *(f"artifact__{name}" for name in WITHHELD)
        )

    @admin.display(description="has a vector", boolean=True)
    def has_vector(self, row: Any) -> bool:
        return bool(row.vector)

"""Artifacts, their lineage and scan reports: everything about a text and never the text (R3).

An administrator does not read memories by being one; the console therefore shows no text of any state, no envelope,
and no plain digest of the text: a digest of a short text confirms a guess. Columns are never loaded, not only hidden.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from memory.admin.lifecycle import DEMOTE, ERASE
from memory.claims.models import Artifact, Lineage, ScanReport
from oml.console.actions import ActionAdmin
from oml.console.readonly import ReadOnlyAdmin, ReadOnlyInline

WITHHELD = ("text", "text_sha256", "commitment_salt", "envelope")


def without_text(rows: Any, *ends: str) -> Any:
    """Join the artifacts that rows point to, without the columns that are withheld."""
    return rows.select_related(*ends).defer(*(f"{end}__{name}" for end in ends for name in WITHHELD))


class SourcesOfArtifact(ReadOnlyInline):
    model = Lineage
    fk_name = "artifact"
    verbose_name_plural = "declared sources"
    shown = ("position", "source", "claim_key", "state")

    def get_queryset(self, request: HttpRequest) -> Any:
        return without_text(super().get_queryset(request), "source").order_by("position")

    @admin.display(description="claim key")
    def claim_key(self, row: Lineage) -> str:
        return row.source.claim_key

    @admin.display(description="state")
    def state(self, row: Lineage) -> str:
        return row.source.state


class ScansOfArtifact(ReadOnlyInline):
    model = ScanReport
    verbose_name_plural = "scan reports"
    shown = ("scanner", "scanner_version", "outcome", "found", "at")

    @admin.display(description="findings")
    def found(self, report: ScanReport) -> str:
        return _found(report)


@admin.register(Artifact)
class ArtifactAdmin(ActionAdmin):
    console_actions = (DEMOTE, ERASE)
    places = ("workarea__path",)
    list_display = (
        "id",
        "claim_key",
        "version",
        "kind",
        "state",
        "cause",
        "scan_state",
        "workarea",
        "author_principal",
        "submitted_at",
        "held_expires_at",
    )
    list_display_links = ("id",)
    list_filter = ("state", "kind", "scan_state", "cause", "self_signed")
    search_fields = ("=id", "claim_key")
    search_help_text = "An exact id, or a part of a claim key. Texts are not searched here."
    ordering = ("-id",)
    shown = (
        "id",
        "claim_key",
        "version",
        "previous",
        "kind",
        "verb",
        "workarea",
        "simulation_id",
        "state",
        "cause",
        "self_signed",
        "scan_state",
        "author_principal",
        "author_key",
        "policy_version",
        "occurred_at",
        "thread",
        "valid_from",
        "valid_to",
        "submitted_at",
        "held_expires_at",
        "promoted_at",
        "ended_at",
        "closure",
        "envelope_keyid",
    )
    inlines = (SourcesOfArtifact, ScansOfArtifact)

    def get_queryset(self, request: HttpRequest) -> Any:
        # Everything a list or page joins is named here: Django drops list_select_related once a queryset joins.
        rows = without_text(super().get_queryset(request), "previous").defer(*WITHHELD)
        return rows.select_related("previous", "workarea", "author_principal")


@admin.register(Lineage)
class LineageAdmin(ReadOnlyAdmin):
    tenant_path = "artifact__tenant_id"
    places = ("artifact__workarea__path",)
    list_display = ("artifact", "source", "position")
    list_display_links = None
    search_fields = ("=artifact__id", "=source__id")
    ordering = ("-id",)
    shown = ("artifact", "source", "position")

    def get_queryset(self, request: HttpRequest) -> Any:
        return without_text(super().get_queryset(request), "artifact", "source")


@admin.register(ScanReport)
class ScanReportAdmin(ReadOnlyAdmin):
    tenant_path = "artifact__tenant_id"
    places = ("artifact__workarea__path",)
    list_display = ("id", "artifact_id", "scanner", "scanner_version", "outcome", "found", "at")
    list_filter = ("outcome", "scanner")
    search_fields = ("=artifact__id",)
    ordering = ("-id",)
    shown = ("artifact", "scanner", "scanner_version", "outcome", "found", "at")

    def get_queryset(self, request: HttpRequest) -> Any:
        return without_text(super().get_queryset(request), "artifact")

    @admin.display(description="findings")
    def found(self, report: ScanReport) -> str:
        return _found(report)


def _found(report: ScanReport) -> str:
    """Rules with their counts; spans are of use only beside the text."""
    counts: dict[str, int] = {}
    for finding in report.findings:
        counts[finding["rule"]] = counts.get(finding["rule"], 0) + 1
    return ", ".join(f"{rule} ×{count}" for rule, count in sorted(counts.items())) or "none"

"""Serves and verdicts in the admin console, read-only.

A verdict's words stay out: they are written for the file, not for whoever administers, who may also run the author.
The evidence export is the journalled way to read them.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from oml.console.readonly import ReadOnlyAdmin
from review.models import EdgeServe, EdgeVerdict, Serve, Verdict

_ARTIFACT = ("text", "text_sha256", "commitment_salt", "envelope")


@admin.register(Serve)
class ServeAdmin(ReadOnlyAdmin):
    places = ("artifact__workarea__path",)
    list_display = ("id", "claim_key", "artifact_id", "reviewer_principal", "created_at", "expires_at", "consumed_at")
    search_fields = ("=id", "=artifact__id", "artifact__claim_key", "reviewer_principal__name")
    ordering = ("-id",)
    shown = (
        "id",
        "artifact",
        "reviewer_principal",
        "reviewer_key",
        "content_digest",
        "created_at",
        "expires_at",
        "consumed_at",
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return _without_text(super().get_queryset(request))

    @admin.display(description="claim key")
    def claim_key(self, serve: Serve) -> str:
        return serve.artifact.claim_key


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    tenant_path = "artifact__tenant_id"
    places = ("artifact__workarea__path",)
    list_display = (
        "id",
        "verdict",
        "claim_key",
        "artifact_id",
        "reason_code",
        "reviewer_principal",
        "self_signed",
        "at",
    )
    list_filter = ("verdict", "reason_code", "self_signed")
    search_fields = ("=id", "=artifact__id", "artifact__claim_key", "reviewer_principal__name")
    ordering = ("-id",)
    shown = (
        "id",
        "artifact",
        "serve",
        "verdict",
        "reason_code",
        "self_signed",
        "reviewer_principal",
        "reviewer_key",
        "at",
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return _without_text(super().get_queryset(request)).defer(
            "reason", "reason_salt", "envelope", *(f"artifact__{name}" for name in _ARTIFACT)
        )

    @admin.display(description="claim key")
    def claim_key(self, verdict: Verdict) -> str:
        return verdict.artifact.claim_key


@admin.register(EdgeServe)
class EdgeServeAdmin(ReadOnlyAdmin):
    places = ("edge__from_workarea__path",)
    list_display = ("id", "edge_id", "reviewer_principal", "created_at", "expires_at", "consumed_at")
    list_select_related = ("reviewer_principal",)
    search_fields = ("=id", "=edge__id", "reviewer_principal__name")
    ordering = ("-id",)
    shown = ("id", "edge", "reviewer_principal", "reviewer_key", "created_at", "expires_at", "consumed_at")


@admin.register(EdgeVerdict)
class EdgeVerdictAdmin(ReadOnlyAdmin):
    tenant_path = "edge__tenant_id"
    places = ("edge__from_workarea__path",)
    list_display = ("id", "verdict", "edge_id", "reason_code", "reviewer_principal", "at")
    list_filter = ("verdict", "reason_code")
    search_fields = ("=id", "=edge__id", "reviewer_principal__name")
    ordering = ("-id",)
    shown = ("id", "edge", "serve", "verdict", "reason_code", "reviewer_principal", "reviewer_key", "at")

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request).select_related("reviewer_principal")
        return rows.defer("reason", "reason_salt", "envelope")


def _without_text(rows: Any) -> Any:
    # Everything a list joins is named here: Django drops list_select_related once a queryset joins.
    return rows.select_related("artifact", "reviewer_principal").defer(*(f"artifact__{name}" for name in _ARTIFACT))

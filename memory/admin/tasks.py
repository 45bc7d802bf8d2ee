"""Work that waits, as far as it is about this tenant's artifacts."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest

from memory.claims.models import Artifact
from oml.console.parts import part_of
from oml.console.readonly import ReadOnlyAdmin
from oml.jobs.models import OutboxTask


@admin.register(OutboxTask)
class OutboxTaskAdmin(ReadOnlyAdmin):
    """A task names its artifact and nothing else, so the artifact's tenant is the task's."""

    tenant_path = None  # narrowed in get_queryset: the row itself has no tenant
    list_display = ("id", "name", "subject", "attempts", "last_error", "available_at", "created_at")
    ordering = ("available_at", "id")
    search_fields = ("name",)
    shown = ("name", "subject", "attempts", "last_error", "available_at", "created_at")

    def get_queryset(self, request: HttpRequest) -> Any:
        user: Any = request.user
        part = part_of(request)
        held = Q() if part is None else part.under("workarea__path")
        mine = Artifact.objects.filter(held, tenant_id=user.tenant_id).values("pk")
        rows = super().get_queryset(request).annotate(subject_id=KeyTextTransform("artifact_id", "args"))
        return rows.filter(subject_id__in=mine)

    @admin.display(description="artifact")
    def subject(self, task: Any) -> str:
        return str(task.subject_id)

"""The tree, its grants and its review policies; nodes move and grants come and go through actions."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from oml.console.actions import ActionAdmin
from oml.console.panels import Panel
from oml.console.readonly import ReadOnlyAdmin, ReadOnlyInline
from workareas.admin.grants import GRANT_HERE, TAKE_BACK
from workareas.admin.humans import PEOPLE_HERE
from workareas.admin.moves import MOVE
from workareas.admin.tree import CHILD, CREW, POLICY, STEP
from workareas.models import Grant, ReviewPolicy, Workarea
from workareas.selectors.inherited import grants_above
from workareas.selectors.reach import holders_at


class GrantsOnWorkarea(ReadOnlyInline):
    model = Grant
    fk_name = "workarea"
    verbose_name_plural = "grants set here (those set above it apply as well)"
    show_change_link = True
    shown = ("key", "principal", "capability", "effect", "created_at")

    def get_queryset(self, request: Any) -> Any:
        # Denies first: they win.
        return super().get_queryset(request).select_related("key__principal").order_by("-effect", "capability")

    @admin.display(description="principal")
    def principal(self, grant: Any) -> str:
        return str(grant.key.principal.name)


def _inherited(request: HttpRequest, node: Workarea) -> list[tuple[str, ...]]:
    return [
        (grant.effect, grant.capability, grant.workarea.path, grant.key.principal.name, grant.key_id)
        for grant in grants_above(node)
    ]


def _holders(request: HttpRequest, node: Workarea) -> list[tuple[str, ...]]:
    return [(one.capability, one.principal, ", ".join(one.comes_from), one.key_id) for one in holders_at(node)]


@admin.register(Workarea)
class WorkareaAdmin(ActionAdmin):
    places = ("path",)
    list_display = ("indented", "status", "crew_name", "id", "created_at")
    list_filter = ("status",)
    search_fields = ("=id", "path")
    ordering = ("path",)
    shown = (
        "id",
        "path",
        "parent",
        "status",
        "crew_name",
        "crew_charter_uri",
        "crew_external_manager",
        "created_at",
    )
    inlines = (GrantsOnWorkarea,)
    console_actions = (CHILD, MOVE, STEP, GRANT_HERE, PEOPLE_HERE, CREW, POLICY)
    panels = (
        Panel(
            title="Grants inherited from above (denies first: a deny wins wherever it stands)",
            columns=("Effect", "Capability", "Set on", "Principal", "Key"),
            rows=_inherited,
            none="None: nothing is set above it.",
        ),
        Panel(
            title="Who can do what here (keys and people, after every deny)",
            columns=("Capability", "Principal", "Comes from", "Key"),
            rows=_holders,
            none="Nobody can do anything here.",
        ),
    )

    @admin.display(description="workarea", ordering="path")
    def indented(self, node: Workarea) -> str:
        """The leaf, indented by its depth; the whole path is on the node's page."""
        depth = node.path.count(".")
        return "\u2003" * depth + (node.leaf if depth else node.path)


@admin.register(Grant)
class GrantAdmin(ActionAdmin):
    console_actions = (TAKE_BACK,)
    tenant_path = "key__tenant_id"
    places = ("workarea__path",)
    list_display = ("id", "effect", "capability", "workarea", "key", "principal", "journal_seq", "created_at")
    list_display_links = ("id",)
    list_filter = ("effect", "capability")
    list_select_related = ("workarea", "key__principal")
    search_fields = ("=id", "=key__id", "key__principal__name", "workarea__path")
    ordering = ("-id",)
    shown = ("id", "key", "workarea", "capability", "effect", "granted_by", "journal_seq", "created_at")

    @admin.display(description="principal")
    def principal(self, grant: Any) -> str:
        return str(grant.key.principal.name)


@admin.register(ReviewPolicy)
class ReviewPolicyAdmin(ReadOnlyAdmin):
    """What one workarea sets; an empty value is inherited from above."""

    tenant_path = "workarea__tenant_id"
    places = ("workarea__path",)
    list_display = (
        "workarea",
        "held_expiry_s",
        "min_verdicts",
        "self_signed_allowed",
        "serve_ttl_s",
        "lineage_exclusion",
        "reason_required",
        "version",
        "updated_at",
    )
    list_select_related = ("workarea",)
    ordering = ("workarea__path",)
    shown = list_display

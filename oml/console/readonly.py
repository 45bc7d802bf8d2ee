"""Read-only admin pages, each tenant's for itself.

What must never happen here: a row of another tenant, a row outside the part of the tenant that somebody administers,
a row changed, a filter over a column that is not shown. The last one is a door that Django leaves open: by default any
``?field__startswith=`` filters a list, and a filter over a withheld column answers questions about it, letter by letter
(R3).
"""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from oml.console.parts import Part, part_of

JOURNAL = "admin:journal_journalentry_changelist"


class ReadOnlyAdmin(admin.ModelAdmin):
    """Lists and pages that show rows and change none.

    Attributes:
        tenant_path: look-up from the model to its tenant's id; None only for rows that belong to no tenant.
        places: look-ups to the paths of workareas; a delegated administrator sees a row where one of them is theirs,
            and no row of a model without places.
        shown: the fields of the row's page, in order; nothing else of the row is rendered.
        filters_on: names beside ``list_filter`` that links may filter by.
    """

    tenant_path: ClassVar[str | None] = "tenant_id"
    places: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()
    filters_on: ClassVar[tuple[str, ...]] = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions = None
    save_as = False
    view_on_site = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        if self.tenant_path is None:
            return rows
        user: Any = request.user
        rows = rows.filter(**{self.tenant_path: user.tenant_id})
        part = part_of(request)
        return rows if part is None else self.in_part(rows, part)

    def in_part(self, rows: QuerySet[Any], part: Part) -> QuerySet[Any]:
        """The rows that a delegated administrator may see."""
        return in_places(rows, part, self.places)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown

    def get_list_select_related(self, request: HttpRequest) -> Any:
        return self.list_select_related or False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only what the page itself offers to filter by."""
        names = set(self.filters_on)
        for item in self.list_filter:
            if isinstance(item, list | tuple):
                names.add(str(item[0]))
            elif isinstance(item, str):
                names.add(item)
            else:
                names.add(str(getattr(item, "parameter_name", "")))
        endings = ("", "__exact", "__isnull", "__id__exact", "__gte", "__lt")
        return any(lookup == name + ending for name in names if name for ending in endings)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.admin_site.has_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.admin_site.has_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        raise PermissionDenied("rows change through actions, which are journalled")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        raise PermissionDenied("rows change through actions, which are journalled")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        raise PermissionDenied("rows change through actions, which are journalled")

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:  # type: ignore[override]
        """Nothing: the journal is the one history."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> None:  # type: ignore[override]
        """Nothing: the journal is the one history."""

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:  # type: ignore[override]
        """Nothing: the journal is the one history."""

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """*History* is what the journal says about this row."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(f"{reverse(JOURNAL)}?{urlencode({'q': unquote(object_id)})}")


def in_places(rows: QuerySet[Any], part: Part, places: tuple[str, ...]) -> QuerySet[Any]:
    """The rows of which one place lies in the part; none, where a row has no place."""
    if not places:
        return rows.none()
    return rows.filter(functools.reduce(operator.or_, (part.under(place) for place in places)))


class ReadOnlyInline(admin.TabularInline):
    """Rows that belong to the row of the page; as unchangeable as the page.

    Attributes:
        places: as of a list; without any, the inline shows all that belongs to a row that may be seen.
    """

    template = "admin/console_inline.html"
    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = False
    places: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        part = part_of(request) if self.places else None
        return rows if part is None else in_places(rows, part, self.places)

    @property
    def media(self) -> forms.Media:
        """No script: there is no row to add."""
        return forms.Media()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.admin_site.has_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

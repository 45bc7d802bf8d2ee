"""The admin site: who may enter is decided by a gate that the room of access brings, and by nothing else.

Why this module exists: Django's own admin lets every staff user in, keeps a second log and changes rows directly.
What must never happen here: entry without the gate (no gate, no entry), a write outside the journal, a page for
one tenant's administrator that shows another tenant's rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.models import LogEntry
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse

from oml.console import tiles

Gate = Callable[[HttpRequest], bool]
View = Callable[..., HttpResponse]

# What Django's site offers and this product does not: passwords change by an administrator's act, in the journal.
_LEFT_OUT = {"password_change", "password_change_done", "view_on_site"}

_gate: Gate | None = None


def set_gate(gate: Gate) -> None:
    """Bring the one function that says who may enter; ``workareas.admin`` does."""
    global _gate
    _gate = gate


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the console that belongs to no model."""

    route: str
    name: str
    title: str
    summary: str
    view: View


_pages: list[Page] = []


def register_page(page: Page) -> None:
    """Add a page; it is linked from the console's start page."""
    _pages.append(page)


class ConsoleSite(AdminSite):
    """OML's admin console."""

    site_header = "OML administration"
    site_title = "OML admin"
    index_title = "Administration"
    site_url = None  # administrators review nothing: a link to the queue would only lead to a refusal
    # Lists need the width; the start page and the breadcrumbs lead everywhere.
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        """Active staff whom the gate lets in; asked once per request."""
        known = getattr(request, "_console_entry", None)
        if known is None:
            user: Any = request.user
            known = bool(user.is_active and user.is_staff and _gate is not None and _gate(request))
            request._console_entry = known  # type: ignore[attr-defined]
        return bool(known)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """One sign-in page for the whole product; whoever is signed in and may not enter is told so."""
        if request.user.is_authenticated and not self.has_permission(request):
            return render(request, "admin/denied.html", status=403)
        target = request.GET.get("next") or reverse("admin:index", current_app=self.name)
        return redirect_to_login(target)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """The start page: tiles, pages, then the lists."""
        extra = {"tiles": tiles.for_request(request), "pages": _pages, **(extra_context or {})}
        return super().index(request, extra)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        own = [path(page.route, self.admin_view(self._with_context(page)), name=page.name) for page in _pages]
        kept = [url for url in super().get_urls() if getattr(url, "name", None) not in _LEFT_OUT]
        return [*own, *kept]

    def get_log_entries(self, request: HttpRequest) -> Any:
        """Django's second log stays empty: the journal is the one history."""
        return LogEntry.objects.none()

    def _with_context(self, page: Page) -> View:
        def view(request: HttpRequest, **words: Any) -> HttpResponse:
            request.console_context = {**self.each_context(request), "title": page.title}  # type: ignore[attr-defined]
            return page.view(request, **words)

        return view

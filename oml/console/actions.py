"""Writes of the console: each is a page that says what will happen, and one application function.

A secret that an action returns is printed in the POST's own answer and exists nowhere else: not in a message, a
log, a session or a redirect, and the answer may not be stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse

from oml.console.readonly import ReadOnlyAdmin
from oml.core.errors import OmlError


@dataclass(frozen=True, slots=True)
class Done:
    """What an action answers: a sentence, and facts or a secret to be shown this once."""

    sentence: str
    facts: tuple[tuple[str, str], ...] = ()
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ConsoleAction:
    """One write, as the console offers it.

    Attributes:
        name: last part of its address.
        label: what the button says.
        consequence: what will have happened, said before it does.
        form: what it asks for.
        perform: ``(request, row or None, cleaned data) -> Done``; raises OmlError to refuse.
        per_row: whether it acts on one row.
        available: whether it can be offered for a row at all; the action itself still decides.
        suggestions: per field what the browser may complete, as (value, words); typing something else is fine.
    """

    name: str
    label: str
    consequence: str
    form: type[forms.Form]
    perform: Callable[[HttpRequest, Any, dict[str, Any]], Done]
    per_row: bool = True
    available: Callable[[Any], bool] = lambda row: True
    suggestions: Callable[[HttpRequest], dict[str, list[tuple[str, str]]]] = lambda request: {}


class ActionAdmin(ReadOnlyAdmin):
    """A read-only admin with confirmed actions beside it.

    Attributes:
        console_actions: the writes.
        row_links: label and address of further pages about a row.
    """

    console_actions: ClassVar[tuple[ConsoleAction, ...]] = ()
    row_links: ClassVar[tuple[tuple[str, Callable[[Any], str]], ...]] = ()
    change_list_template = "admin/console_list.html"
    change_form_template = "admin/console_row.html"

    def get_urls(self) -> list[URLPattern]:
        opts = self.model._meta
        own = [
            path(
                f"<path:object_id>/{action.name}/" if action.per_row else f"{action.name}/",
                self.admin_site.admin_view(self._page(action)),
                name=f"{opts.app_label}_{opts.model_name}_{action.name}",
            )
            for action in self.console_actions
        ]
        return own + super().get_urls()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        offered = [(self._address(action), action.label) for action in self.console_actions if not action.per_row]
        return super().changelist_view(request, {"console_actions": offered, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        offered = [
            (self._address(action, row.pk), action.label)
            for action in self.console_actions
            if action.per_row and row is not None and action.available(row)
        ]
        offered += [(address(row), label) for label, address in self.row_links if row is not None]
        extra = {"console_actions": offered, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra)

    def _address(self, action: ConsoleAction, *row: str) -> str:
        opts = self.model._meta
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{action.name}", args=row)

    def _page(self, action: ConsoleAction) -> Callable[..., HttpResponse]:
        def view(request: HttpRequest, object_id: str | None = None) -> HttpResponse:
            if not self.has_view_permission(request):
                raise PermissionDenied
            row = self.get_object(request, object_id) if object_id is not None else None
            if action.per_row and row is None:
                raise Http404
            response = self._answer(request, action, row)
            response.headers["Cache-Control"] = "no-store"
            return response

        return view

    def _answer(self, request: HttpRequest, action: ConsoleAction, row: Any) -> HttpResponse:
        form = action.form(request.POST if request.method == "POST" else None)
        refusal: OmlError | None = None
        if request.method == "POST" and form.is_valid():
            try:
                done = action.perform(request, row, form.cleaned_data)
            except OmlError as error:
                refusal = error
            else:
                return self._done(request, action, row, done)
        status = refusal.status if refusal else (400 if form.is_bound else 200)
        suggestions = action.suggestions(request)
        for name in suggestions:
            form.fields[name].widget.attrs["list"] = f"{name}-suggestions"
        words = {"action": action, "row": row, "form": form, "refusal": refusal, "suggestions": suggestions}
        return render(request, "admin/console_action.html", {**self._context(request, action), **words}, status=status)

    def _done(self, request: HttpRequest, action: ConsoleAction, row: Any, done: Done) -> HttpResponse:
        if done.secret:
            words = {"action": action, "done": done}
            return render(request, "admin/console_secret.html", {**self._context(request, action), **words})
        messages.success(request, done.sentence)
        opts = self.model._meta
        name = f"admin:{opts.app_label}_{opts.model_name}_"
        target = reverse(f"{name}change", args=[row.pk]) if row is not None else reverse(f"{name}changelist")
        return HttpResponseRedirect(target)

    def _context(self, request: HttpRequest, action: ConsoleAction) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.model._meta, "title": action.label}

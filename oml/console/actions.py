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
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse

from oml.console.foresight import AGAIN, SEEN, Foresight
from oml.console.panels import Panel, draw
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
        foresee: ``(request, row or None, cleaned data) -> Foresight``; where there is one it is shown, and only a
            confirmation of what was shown performs; raises OmlError where the act itself would be refused. With
            nothing to fill in it is what the page opens with.
        facts: ``(request, row or None) -> names and values`` that are worth knowing before.
        initial: what the fields hold when the page is opened.
    """

    name: str
    label: str
    consequence: str
    form: type[forms.Form]
    perform: Callable[[HttpRequest, Any, dict[str, Any]], Done]
    per_row: bool = True
    available: Callable[[Any], bool] = lambda row: True
    suggestions: Callable[[HttpRequest], dict[str, list[tuple[str, str]]]] = lambda request: {}
    foresee: Callable[[HttpRequest, Any, dict[str, Any]], Foresight] | None = None
    facts: Callable[[HttpRequest, Any], tuple[tuple[str, str], ...]] = lambda request, row: ()
    initial: Callable[[HttpRequest, Any], dict[str, Any]] = lambda request, row: {}


class ActionAdmin(ReadOnlyAdmin):
    """A read-only admin with confirmed actions beside it.

    Attributes:
        console_actions: the writes.
        row_links: label and address of further pages about a row.
        panels: further tables on a row's page.
    """

    console_actions: ClassVar[tuple[ConsoleAction, ...]] = ()
    row_links: ClassVar[tuple[tuple[str, Callable[[Any], str]], ...]] = ()
    panels: ClassVar[tuple[Panel, ...]] = ()
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
        row = self.get_object(request, unquote(object_id))
        offered = [
            (self._address(action, row.pk), action.label)
            for action in self.console_actions
            if action.per_row and row is not None and action.available(row)
        ]
        offered += [(address(row), label) for label, address in self.row_links if row is not None]
        drawn = draw(self.panels, request, row) if row is not None else []
        extra = {"console_actions": offered, "panels": drawn, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra)

    def _address(self, action: ConsoleAction, *row: str) -> str:
        opts = self.model._meta
        # Django's lists quote ids in addresses, so every address here is quoted and every id that comes in unquoted.
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{action.name}", args=[quote(pk) for pk in row])

    def _page(self, action: ConsoleAction) -> Callable[..., HttpResponse]:
        def view(request: HttpRequest, object_id: str | None = None) -> HttpResponse:
            if not self.has_view_permission(request):
                raise PermissionDenied
            row = self.get_object(request, unquote(object_id)) if object_id is not None else None
            if action.per_row and row is None:
                raise Http404
            response = self._answer(request, action, row)
            response.headers["Cache-Control"] = "no-store"
            return response

        return view

    def _answer(self, request: HttpRequest, action: ConsoleAction, row: Any) -> HttpResponse:
        posted = request.method == "POST"
        # A form that asks for nothing is complete as soon as its page is opened, so what it would do comes at once.
        asked = posted or (action.foresee is not None and not action.form.base_fields)
        form = action.form(request.POST if asked else None, initial=action.initial(request, row))
        refusal: OmlError | None = None
        if asked and form.is_valid() and AGAIN not in request.POST:
            try:
                foreseen = action.foresee(request, row, form.cleaned_data) if action.foresee else None
                if foreseen is not None and (not posted or request.POST.get(SEEN) != foreseen.digest):
                    return self._foreseen(request, action, row, form, foreseen)
                done = action.perform(request, row, form.cleaned_data)
            except OmlError as error:
                refusal = error
            else:
                return self._done(request, action, row, done)
        status = refusal.status if refusal else (400 if form.errors else 200)
        suggestions = action.suggestions(request)
        for name in suggestions:
            form.fields[name].widget.attrs["list"] = f"{name}-suggestions"
        words = {"action": action, "row": row, "form": form, "refusal": refusal, "suggestions": suggestions}
        # A template calls whatever it is given, so it is given answers.
        words |= {"facts": action.facts(request, row), "foresees": action.foresee is not None}
        return render(request, "admin/console_action.html", {**self._context(request, action), **words}, status=status)

    def _foreseen(
        self, request: HttpRequest, action: ConsoleAction, row: Any, form: forms.Form, foreseen: Foresight
    ) -> HttpResponse:
        words = {"action": action, "row": row, "form": form, "foreseen": foreseen, "changed": SEEN in request.POST}
        return render(request, "admin/console_foresight.html", {**self._context(request, action), **words})

    def _done(self, request: HttpRequest, action: ConsoleAction, row: Any, done: Done) -> HttpResponse:
        if done.secret:
            words = {"action": action, "done": done}
            return render(request, "admin/console_secret.html", {**self._context(request, action), **words})
        messages.success(request, done.sentence)
        opts = self.model._meta
        name = f"admin:{opts.app_label}_{opts.model_name}_"
        stays = row is not None and self.get_object(request, row.pk) is not None
        target = reverse(f"{name}change", args=[quote(row.pk)]) if stays else reverse(f"{name}changelist")
        return HttpResponseRedirect(target)

    def _context(self, request: HttpRequest, action: ConsoleAction) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.model._meta, "title": action.label}

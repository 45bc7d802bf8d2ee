"""The access explainer: key × verb × workarea → the authorizer's own Decision, printed (D7)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from oml.console.site import Page, register_page
from oml.core.errors import OmlError
from workareas.admin.gate import actor_of
from workareas.selectors.explain import explain_access
from workareas.selectors.suggestions import administered_paths
from workareas.verbs import Verb


class ExplainForm(forms.Form):
    """A plain GET form: an answer has an address."""

    key = forms.CharField(max_length=64, help_text="Id (key_…); every key's page links here.")
    verb = forms.ChoiceField(choices=[(verb, verb) for verb in Verb])
    workarea = forms.CharField(
        max_length=4096, help_text="Path or id.", widget=forms.TextInput(attrs={"list": "workareas"})
    )


@require_safe
def explain(request: HttpRequest) -> HttpResponse:
    """Ask and answer on one page."""
    actor = actor_of(request)
    # A key's page links here with the key alone; it is then filled in and nothing is asked yet.
    complete = {"key", "verb", "workarea"} <= set(request.GET)
    asked = ExplainForm(request.GET if complete else None, initial={"key": request.GET.get("key", "")})
    words: dict[str, Any] = {"form": asked, "paths": administered_paths(actor)}
    status = 200
    if asked.is_bound and asked.is_valid():
        data = asked.cleaned_data
        try:
            words["answer"] = explain_access(actor, key=data["key"], verb=Verb(data["verb"]), workarea=data["workarea"])
        except OmlError as refusal:
            words["refusal"] = refusal
            status = refusal.status
    context: dict[str, Any] = getattr(request, "console_context", {})
    return render(request, "admin/explain.html", {**context, **words}, status=status)


register_page(
    Page(
        route="explain/",
        name="explain",
        title="Why may this key do that?",
        summary="Which grants and denies decide what a key may do at a workarea.",
        view=explain,
    )
)

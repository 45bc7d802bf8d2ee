"""What every agents' page does first and last: find the actor, print refusals, keep nothing in a cache.

A page shows what is private to actors, so no answer may be stored anywhere. What must never happen here: an answer to
somebody without an actor, a refusal printed as success.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from oml.core.errors import OmlError
from oml.http.handler import typed
from workareas.authentication import actor_of_human

Page = Callable[..., HttpResponse]

_HINTS = {
    "auth.invalid_key": "Your account has no key to act under, or it was revoked or has expired. An administrator can "
    "enrol you again.",
    "access.forbidden": "An administrator can give you a role in the space: viewer, runner and operator read; builder "
    "and admin also delete.",
    "access.not_found": "It may have been deleted, or it lies in a space that you do not see.",
}


def inspector_page(view: Page) -> Page:
    """Wrap a view ``(request, actor, **names)``: signed-in humans only, typed refusals, never cached."""

    @login_required
    @wraps(view)
    def run(request: HttpRequest, **names: str) -> HttpResponse:
        try:
            user: Any = request.user
            response = view(request, actor_of_human(user), **names)
        except Exception as error:  # the one handler names it; unknown ones are logged there
            response = _refusal(request, typed(error))
        response.headers["Cache-Control"] = "no-store"
        return response

    return run


def _refusal(request: HttpRequest, refusal: OmlError) -> HttpResponse:
    context = {"refusal": refusal, "hint": _HINTS.get(refusal.code, "")}
    page = render(request, "agents/refused.html", context, status=refusal.status)
    for name, value in refusal.headers().items():
        page.headers[name] = value
    return page

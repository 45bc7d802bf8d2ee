"""What every review page does first and last: find the actor, print refusals, keep nothing in a cache.

A page shows held text to the one reviewer it was served to, so no answer may be stored anywhere (R3). What must
never happen here: an answer to somebody without an actor, a refusal printed as success.
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
    "auth.invalid_key": "Your account has no key to act under, or it was revoked or has expired. "
    "An administrator can enrol you as a reviewer.",
    "access.verb_ceiling": "Your account has another role. Reviewing needs an account that was enrolled as "
    "a reviewer; administrators administer and do not judge.",
    "access.not_found": "It may have been decided, or it lies outside the workareas you review.",
    "review.scan_pending": "Open it again in a moment.",
}


def reviewer_page(view: Page) -> Page:
    """Wrap a view ``(request, actor, **ids)``: signed-in humans only, typed refusals, never cached."""

    @login_required
    @wraps(view)
    def run(request: HttpRequest, **ids: str) -> HttpResponse:
        try:
            user: Any = request.user
            response = view(request, actor_of_human(user), **ids)
        except Exception as error:  # the one handler names it; unknown ones are logged there
            response = refusal_page(request, typed(error))
        response.headers["Cache-Control"] = "no-store"
        return response

    return run


def refusal_page(
    request: HttpRequest, refusal: OmlError, *, template: str = "review/refused.html", **context: Any
) -> HttpResponse:
    """A typed error as a page a person can act on, under its own status."""
    hint = _HINTS.get(refusal.code, "")
    page = render(request, template, {"refusal": refusal, "hint": hint, **context}, status=refusal.status)
    for name, value in refusal.headers().items():
        page.headers[name] = value
    return page

"""The front door: whoever signs in lands where they have something to do."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from oml.core.errors import OmlError
from workareas import access
from workareas.authentication import actor_of_human
from workareas.verbs import Verb


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Reviewers to the queue, staff who can never review to the console, others to the agents they may inspect.

    The target decides who may enter.
    """
    user: Any = request.user
    try:
        access.require_role(actor_of_human(user), Verb.REVIEW_SERVE)
    except OmlError:
        if user.is_staff:
            return redirect("admin:index")
        return redirect("agents" if access.inspects_somewhere(user.pk) else "queue")
    return redirect("queue")

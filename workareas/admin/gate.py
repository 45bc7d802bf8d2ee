"""Who may enter the console: staff whose interactive key administers something (D7), by the one authorizer."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from oml.console.site import set_gate
from oml.core.actor import Actor
from oml.core.errors import InvalidKey
from workareas import access
from workareas.authentication import actor_of_human
from workareas.verbs import Capability


def actor_of(request: HttpRequest) -> Actor:
    """The actor of the signed-in administrator; resolved once per request.

    Raises:
        InvalidKey: ``auth.invalid_key``; no usable interactive key.
    """
    known: Actor | None = getattr(request, "_console_actor", None)
    if known is None:
        user: Any = request.user
        known = actor_of_human(user)
        request._console_actor = known  # type: ignore[attr-defined]
    return known


def may_enter(request: HttpRequest) -> bool:
    """Whether the signed-in human administers anything at all."""
    try:
        actor = actor_of(request)
    except InvalidKey:
        return False
    return bool(access.load(actor).scope(Capability.ADMIN).allow)


set_gate(may_enter)

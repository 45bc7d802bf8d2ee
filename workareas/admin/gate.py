"""Who may enter the console: staff whose interactive key administers something (D7), by the one authorizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest

from oml.console.parts import set_part_of
from oml.console.site import set_gate
from oml.core.actor import Actor
from oml.core.errors import InvalidKey
from workareas import access
from workareas.authentication import actor_of_human
from workareas.models import Workarea
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
        return bool(administered(request).allow)
    except InvalidKey:
        return False


def administered(request: HttpRequest) -> access.Scope:
    """Where the signed-in administrator administers; loaded once per request."""
    known: access.Scope | None = getattr(request, "_console_scope", None)
    if known is None:
        known = access.load(actor_of(request)).scope(Capability.ADMIN)
        request._console_scope = known  # type: ignore[attr-defined]
    return known


@dataclass(frozen=True, slots=True)
class AdministeredPart:
    """A delegated administrator's subtrees, as the console's pages ask for them."""

    tenant_id: str
    scope: access.Scope

    def under(self, column: str) -> Q:
        return self.scope.predicate(column)

    def nodes(self, column: str) -> Q:
        mine = Workarea.objects.filter(self.scope.predicate(), tenant_id=self.tenant_id)
        return Q(**{f"{column}__in": mine.values("pk")})


def part_of(request: HttpRequest) -> AdministeredPart | None:
    """The part that the signed-in human administers; None for the whole tenant: the root, and no deny below it."""
    scope = administered(request)
    if "universe" in scope.allow and not scope.deny:
        return None
    return AdministeredPart(actor_of(request).tenant_id, scope)


set_gate(may_enter)
set_part_of(part_of)

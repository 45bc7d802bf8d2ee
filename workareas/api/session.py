"""DRF's hook for the few routes that signed-in humans alone may use: the session cookie, and never an API key.

**Cross-site requests.** No CSRF token is asked for, because none is needed. Every route behind this class demands a
header of its own, ``X-Org-Id``: a page of another site can make a browser send the cookie, but not that header, unless
a preflight allows it, and none is ever answered. The cookie is ``SameSite=Lax`` besides, so of what other sites cause
it goes with a plain visit at most. What must never happen here: a route without such a header.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from oml.core.actor import Actor, Channel
from oml.core.errors import Forbidden, InvalidKey
from workareas.authentication import actor_of_human


class NoKeyCarriesThis(Forbidden):
    rule = "this path is for signed-in humans; no API key can carry its permissions"

    def __init__(self) -> None:
        super().__init__("an API key cannot carry the permissions of this path; send a session cookie and no key")


class NotSignedIn(InvalidKey):
    rule = "this path needs the session cookie of a human who signed in and owns a usable key"

    def __init__(self) -> None:
        super().__init__(presented=False)
        self.message = "nobody is signed in"

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": 'Session realm="oml"'}


class SessionAuthentication(BaseAuthentication):
    """The signed-in human's interactive key; whoever sends an ``Authorization`` header is refused, cookie or not."""

    def authenticate(self, request: Request) -> tuple[Actor, Actor]:
        if "Authorization" in request.headers:
            raise NoKeyCarriesThis
        user: Any = request._request.user
        if not user.is_authenticated:
            raise NotSignedIn
        try:
            actor = actor_of_human(user, channel=Channel.HTTP)
        except InvalidKey:
            raise NotSignedIn from None
        return actor, actor


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "workareas.api.session.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "Of a human who signed in; __Host-oml-session in production",
        }

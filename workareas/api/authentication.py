"""DRF's hook into the one bearer authentication (D6)."""

from __future__ import annotations

from dataclasses import replace

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from oml.core.actor import Actor, Channel
from workareas.authentication import authenticate_bearer


class BearerAuthentication(BaseAuthentication):
    """Every route of ``/v1`` needs a key; there is no anonymous one. ``request.auth`` is the actor."""

    def authenticate(self, request: Request) -> tuple[Actor, Actor]:
        actor = authenticate_bearer(request.headers.get("Authorization"), channel=Channel.HTTP)
        actor = replace(actor, client=request.headers.get("User-Agent"))
        return actor, actor

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="oml"'

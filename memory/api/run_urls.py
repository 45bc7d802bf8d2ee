"""Routes of agents and runs under ``/v1``. A run is also known by its own token."""

from __future__ import annotations

from dataclasses import replace

from django.urls import URLPattern
from rest_framework.request import Request

from memory.api import run_operations as do
from memory.runs.tokens import authenticate_run_or_key
from oml.core.actor import Actor, Channel
from oml.http.routes import route
from workareas.api.authentication import BearerAuthentication


class RunOrKeyAuthentication(BearerAuthentication):
    """A key of the identity that a run executes as, or the run's own token while it is running."""

    def authenticate(self, request: Request) -> tuple[Actor, Actor]:
        actor = authenticate_run_or_key(request.headers.get("Authorization"), channel=Channel.HTTP)
        actor = replace(actor, client=request.headers.get("User-Agent"))
        return actor, actor


urlpatterns: list[URLPattern] = [
    route("agents", BearerAuthentication, post=do.register, get=do.list_agents),
    route("agents/<str:scope>/<str:name>", BearerAuthentication, get=do.agent_info),
    route("runs", BearerAuthentication, post=do.start, get=do.list_runs),
    route("runs/<str:run>", RunOrKeyAuthentication, get=do.run_info),
    route("runs/<str:run>/context", RunOrKeyAuthentication, get=do.context),
    route("runs/<str:run>/finish", RunOrKeyAuthentication, post=do.finish),
]

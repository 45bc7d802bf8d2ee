"""Routes of agent state under the paths that the seed names, for signed-in humans (seed: agent-memory)."""

from __future__ import annotations

from django.urls import URLPattern

from memory.api import persistence_operations as do
from oml.http.operations import Operation
from oml.http.routes import route_by
from oml.http.views import OperationView
from workareas.api.session import SessionAuthentication

_STATE = "api/agents/<str:scope>/<str:name>/persistence"


def _route(where: str, **methods: Operation) -> URLPattern:
    # The headers are demanded of every one of these: they are what keeps other sites out (see SessionAuthentication).
    return route_by(OperationView, where, SessionAuthentication, methods, headers=(do.ORG, do.SPACE))


urlpatterns = [
    _route(_STATE, get=do.list_state, delete=do.delete_many),
    _route(f"{_STATE}/memories/<str:id>", delete=do.delete_memory),
    _route(f"{_STATE}/pinned/<str:id>", delete=do.delete_slot),
]

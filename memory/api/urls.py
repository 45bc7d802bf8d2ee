"""Routes of memory under ``/v1``."""

from __future__ import annotations

from django.urls import URLPattern

from memory.api import lifecycle
from memory.api import operations as do
from oml.http.operations import Operation
from oml.http.routes import route
from workareas.api.authentication import BearerAuthentication


def _route(where: str, **methods: Operation) -> URLPattern:
    return route(where, BearerAuthentication, **methods)


urlpatterns = [
    _route("memories", post=do.submit),
    _route("memories/<str:artifact>", get=do.read_artifact),
    _route("memories/<str:artifact>/versions", post=do.new_version),
    _route("memories/<str:artifact>/withdraw", post=do.withdraw),
    _route("memories/<str:artifact>/demote", post=lifecycle.demote),
    _route("memories/<str:artifact>/erase", post=lifecycle.erase),
    _route("recall", post=do.recall),
    _route("my-work", get=do.my_work),
    _route("workareas/<str:workarea>", get=do.workarea_info),
    _route("graph", post=do.scoped_graph),
    _route("edges", post=do.propose_relation),
    _route("events", get=do.events_tail),
]

"""Routes of the human gate under ``/v1``."""

from __future__ import annotations

from django.urls import URLPattern, path

from oml.http.operations import Operation
from oml.http.routes import route
from review.api import operations as do
from review.api.evidence import Evidence
from review.api.parts import Part
from workareas.api.authentication import BearerAuthentication


def _route(where: str, **methods: Operation) -> URLPattern:
    return route(where, BearerAuthentication, **methods)


urlpatterns = [
    _route("review/queue", get=do.queue),
    _route("review/edges", get=do.edges),
    _route("review/serves", post=do.serve),
    path("review/serves/<str:serve_id>/parts/<str:part>", Part.as_view()),
    _route("review/verdicts", post=do.verdict),
    path("evidence", Evidence.as_view()),
]

"""Routes of source records: ``/v1/records…`` and the batch under the path that the seed names."""

from __future__ import annotations

from django.urls import URLPattern

from memory.api import record_erasure
from memory.api import record_operations as do
from oml.http.large_views import LargeOperationView
from oml.http.operations import Operation
from oml.http.routes import route_by
from workareas.api.authentication import BearerAuthentication


def _route(where: str, **methods: Operation) -> URLPattern:
    return route_by(LargeOperationView, where, BearerAuthentication, methods)


urlpatterns = [
    _route("v1/records", post=do.ingest_one),
    _route("v1/records/gather", post=do.gather),
    _route("v1/records/timeline", get=do.timeline),
    _route("v1/records/intake", post=do.folder_intake),
    _route("v1/records/<str:sr_id>", get=do.read, patch=do.update, delete=do.tombstone),
    _route("v1/records/<str:sr_id>/history", get=do.history),
    _route("v1/records/<str:sr_id>/properties", post=do.property_add, delete=do.property_remove),
    _route("v1/records/<str:sr_id>/connections", post=do.connect, delete=do.disconnect),
    _route("v1/records/<str:sr_id>/corrections", post=do.correct),
    _route("v1/records/<str:sr_id>/adjustments", post=do.adjust),
    _route("v1/records/<str:sr_id>/erase", post=record_erasure.erase),
    _route("v1/record-groups", post=do.group),
    _route("v1/lanes", get=do.lanes, post=do.open_lane),
    _route("api/v2/ingest/batch", post=do.ingest_batch),
]

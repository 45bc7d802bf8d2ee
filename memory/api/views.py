"""``/v1``'s memory routes: each view calls one operation."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import operations, shapes
from oml.http.schema import answers
from oml.http.views import OperationView, query_data
from workareas.api.authentication import BearerAuthentication


class MemoryView(OperationView):
    authentication_classes = (BearerAuthentication,)


class Memories(MemoryView):
    @extend_schema(
        operation_id="submit_memory",
        summary="Submit a memory or a derived fact: held on arrival",
        request=shapes.SubmitShape,
        responses=answers(operations.submit),
    )
    def post(self, request: Request) -> Response:
        return self.perform(request, operations.submit, request.data)


class Memory(MemoryView):
    @extend_schema(
        operation_id="read_memory",
        summary="Read one promoted artifact in full",
        responses=answers(operations.read_artifact),
    )
    def get(self, request: Request, artifact: str) -> Response:
        return self.perform(
            request, operations.read_artifact, {**query_data(request.query_params), "artifact": artifact}
        )


class Recall(MemoryView):
    @extend_schema(
        operation_id="recall",
        summary="Search promoted memories of a subtree; steering first",
        request=shapes.RecallShape,
        responses=answers(operations.recall),
    )
    def post(self, request: Request) -> Response:
        return self.perform(request, operations.recall, request.data)


class MyWork(MemoryView):
    @extend_schema(
        operation_id="my_work",
        summary="The calling key's own submissions and where each stands",
        parameters=[shapes.MyWorkShape],
        responses=answers(operations.my_work),
    )
    def get(self, request: Request) -> Response:
        data = query_data(request.query_params, whole=frozenset({"limit"}))
        return self.perform(request, operations.my_work, data)


class WorkareaInfo(MemoryView):
    @extend_schema(
        operation_id="workarea_info",
        summary="One workarea: status, crew, the caller's effective verbs",
        parameters=[OpenApiParameter("workarea", str, OpenApiParameter.PATH, description="Workarea id or path.")],
        responses=answers(operations.workarea_info),
    )
    def get(self, request: Request, workarea: str) -> Response:
        data = {**query_data(request.query_params), "workarea": workarea}
        return self.perform(request, operations.workarea_info, data)


class Events(MemoryView):
    @extend_schema(
        operation_id="events_tail",
        summary="Poll journal events in scope, from a client-held sequence",
        parameters=[shapes.TailShape],
        responses=answers(operations.events_tail),
    )
    def get(self, request: Request) -> Response:
        data = query_data(request.query_params, whole=frozenset({"after_seq", "limit"}))
        return self.perform(request, operations.events_tail, data)

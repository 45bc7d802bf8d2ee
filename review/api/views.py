"""``/v1/review``: each view calls one operation."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from oml.http.schema import answers
from oml.http.views import OperationView, query_data
from review.api import operations, shapes
from workareas.api.authentication import BearerAuthentication


class ReviewView(OperationView):
    authentication_classes = (BearerAuthentication,)


class Queue(ReviewView):
    @extend_schema(
        operation_id="review_queue",
        summary="Held items in the nodes this key reviews, least time left first",
        parameters=[shapes.QueueShape],
        responses=answers(operations.queue),
    )
    def get(self, request: Request) -> Response:
        data = query_data(request.query_params, whole=frozenset({"limit"}))
        return self.perform(request, operations.queue, data)


class Serves(ReviewView):
    @extend_schema(
        operation_id="review_serve",
        summary="Open a held item: a single-use, expiring serve",
        request=shapes.ServeShape,
        responses=answers(operations.serve),
    )
    def post(self, request: Request) -> Response:
        return self.perform(request, operations.serve, request.data)


class Verdicts(ReviewView):
    @extend_schema(
        operation_id="review_verdict",
        summary="Ratify or reject what was served",
        request=shapes.VerdictShape,
        responses=answers(operations.verdict),
    )
    def post(self, request: Request) -> Response:
        return self.perform(request, operations.verdict, request.data)

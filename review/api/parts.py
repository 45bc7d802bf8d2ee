"""``GET /v1/review/serves/{srv}/parts/{part}``: streamed, and marked served when the last byte was handed over."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from memory.api.record_answers import RECORD
from oml.core.actor import Actor
from oml.core.errors import InvalidKey
from oml.http.fields import StrictSerializer
from oml.http.large_views import write
from oml.http.schema import ERROR
from oml.http.views import OperationView, query_data
from review.actions.part import ShownPart, serve_part
from workareas.api.authentication import BearerAuthentication


class NoFields(StrictSerializer):
    """A request that is all in its path."""


class Part(OperationView):
    authentication_classes = (BearerAuthentication,)

    @extend_schema(
        operation_id="review_part",
        summary="One part of a served item: fetch every part before the verdict",
        parameters=[
            OpenApiParameter("serve_id", str, OpenApiParameter.PATH),
            OpenApiParameter("part", str, OpenApiParameter.PATH),
        ],
        responses={200: RECORD, "4XX": ERROR, "5XX": ERROR},
    )
    def get(self, request: Request, serve_id: str, part: str) -> Any:
        actor = request.auth
        if not isinstance(actor, Actor):
            raise InvalidKey(presented=False)
        NoFields.parse(query_data(request.query_params))
        shown = serve_part(actor, serve_id=serve_id, part=part)
        # HEAD sends no bytes, so whoever asks with it has not been shown anything.
        pieces = sent(shown) if request.method == "GET" else iter(())
        response = StreamingHttpResponse(pieces, content_type="application/json")
        response["Cache-Control"] = "no-store"
        return response


def sent(shown: ShownPart) -> Generator[bytes, None, None]:
    """The part's JSON; served once the last piece was taken."""
    yield from write(shown.body)
    shown.mark()

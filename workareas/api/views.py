"""``/v1``'s routes of who and where."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from oml.http.schema import answers
from oml.http.views import OperationView, query_data
from workareas.api import operations
from workareas.api.authentication import BearerAuthentication


class DeploymentKeys(OperationView):
    authentication_classes = (BearerAuthentication,)

    @extend_schema(
        operation_id="deployment_keys",
        summary="Public keys that envelopes are verified with",
        responses=answers(operations.deployment_keys),
    )
    def get(self, request: Request) -> Response:
        return self.perform(request, operations.deployment_keys, query_data(request.query_params))

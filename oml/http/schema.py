"""What OpenAPI says of every route: the success body, the typed error, the bearer key."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension

from oml.http.fields import Described
from oml.http.operations import Operation

ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "rule", "message", "retryable"],
            "properties": {
                "code": {"type": "string"},
                "rule": {"type": "string"},
                "message": {"type": "string"},
                "retryable": {"type": "boolean"},
                "retry_after_seconds": {"type": "integer"},
                "param": {"type": "string"},
            },
        }
    },
}


def answers(operation: Operation) -> dict[Any, Any]:
    """drf-spectacular's ``responses`` for an operation."""
    good = dict(operation.answer)
    success: dict[Any, Any] = {201: good, 200: good} if operation.creates else {200: good}
    if not operation.answer:
        success = {204: None}
    return {**success, "4XX": ERROR, "5XX": ERROR}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "workareas.api.authentication.BearerAuthentication"
    match_subclasses = True
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API key, oml_k_…"}


class RunOrKeyScheme(BearerScheme):  # type: ignore[no-untyped-call]
    """Another scheme, as another credential opens the route too; of two with one name OpenAPI would keep either."""

    target_class = "memory.api.run_urls.RunOrKeyAuthentication"
    name = "run_or_key"
    priority = 1

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API key, oml_k_…, or a run's token, oml_r_…"}


class DescribedField(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = Described
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = self.target.json_schema()
        return schema

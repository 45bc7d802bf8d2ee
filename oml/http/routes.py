"""Routes as data: a path, and per method the operation it calls. The one view behind every ``/v1`` route.

What comes with the URL joins the body or the query as one JSON object, so an operation sees the same request
whichever way it came (D13).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.urls import URLPattern, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from oml.core.errors import Validation
from oml.http.fields import Listing, StrictSerializer, Whole
from oml.http.operations import Operation
from oml.http.schema import answers
from oml.http.views import OperationView, query_data

_PARAMETER = re.compile(r"<str:(\w+)>")
_WITH_BODY = ("post", "put", "patch")


def route(where: str, authentication: type[BaseAuthentication], **methods: Operation) -> URLPattern:
    """A URL pattern that answers each named HTTP method with its operation.

    Args:
        where: Django path under the include; ``<str:name>`` parts become fields of the request.
        authentication: how the actor is found.
        methods: ``get=``, ``post=``, ``delete=`` … an operation each.
    """
    return route_by(OperationView, where, authentication, methods)


def route_by(
    base: type[OperationView],
    where: str,
    authentication: type[BaseAuthentication],
    methods: Mapping[str, Operation],
    *,
    headers: tuple[str, ...] = (),
) -> URLPattern:
    """As :func:`route`, read and printed by another view.

    Args:
        headers: names of request headers that become fields of the request, by the same name.
    """
    named = tuple(_PARAMETER.findall(where))
    view = type("RoutedView", (base,), {"authentication_classes": (authentication,)})
    for method, operation in methods.items():
        setattr(view, method, _handler(method, operation, named, headers))
    return path(where, view.as_view())  # type: ignore[attr-defined]  # made by type() above


def _handler(method: str, operation: Operation, named: tuple[str, ...], headers: tuple[str, ...]) -> Any:
    has_body = method in _WITH_BODY
    whole = frozenset(name for name, field in operation.shape().fields.items() if isinstance(field, Whole))

    lists = frozenset(name for name, field in operation.shape().fields.items() if isinstance(field, Listing))

    def handle(self: OperationView, request: Request, **parts: str) -> Any:
        data = request.data if has_body else query_data(request.query_params, whole=whole, lists=lists)
        if not isinstance(data, dict):
            raise Validation("the body is a JSON object")
        for name in parts:
            if name in data:
                raise Validation(f"{name} is part of the path, not a field of this request", param=name)
        for name in headers:
            if name in data:
                raise Validation(f"{name} is a header, not a field of this request", param=name)
            if name in request.headers:
                parts[name] = request.headers[name]
        return self.perform(request, operation, {**data, **parts})

    handle.__name__ = method
    rest = _without(operation.shape, (*named, *headers))
    return extend_schema(
        operation_id=operation.name,
        summary=operation.summary or operation.name,
        request=rest if has_body else None,
        parameters=[
            *(OpenApiParameter(name, str, OpenApiParameter.PATH) for name in named),
            *(OpenApiParameter(name, str, OpenApiParameter.HEADER, required=True) for name in headers),
            *([] if has_body or not rest().fields else [rest]),
        ],
        responses=answers(operation),
    )(handle)


@cache
def _without(shape: type[StrictSerializer], named: tuple[str, ...]) -> type[StrictSerializer]:
    if not named:
        return shape
    left = {name: field for name, field in shape().fields.items() if name not in named}
    return type(f"{shape.__name__.removesuffix('Shape')}Body", (StrictSerializer,), left)

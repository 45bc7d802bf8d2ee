"""The view every ``/v1`` route is made of: parse, call one operation, print."""

from __future__ import annotations

import re
from typing import Any

from django.http import QueryDict
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from oml.core.actor import Actor
from oml.core.errors import InvalidKey, Validation
from oml.http.operations import Answer, Operation
from oml.http.parsers import StrictJSONParser

_WHOLE = re.compile(r"-?[0-9]{1,16}\Z")


class OnlyJson(DefaultContentNegotiation):
    """The answer is JSON whatever Accept says: there is nothing else to choose from, so nothing to refuse."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class OperationView(APIView):
    """Base of thin views; subclasses say how their method finds its operation."""

    parser_classes: tuple[type[BaseParser], ...] = (StrictJSONParser,)
    content_negotiation_class = OnlyJson
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]

    def perform(self, request: Request, operation: Operation, data: Any) -> Any:
        """Run an operation for the request's actor, which the view's authentication put there."""
        actor = request.auth
        if not isinstance(actor, Actor):
            raise InvalidKey(presented=False)
        return self.printed(operation(actor, data))

    def printed(self, answer: Answer) -> Any:
        """The answer as a response."""
        return Response(answer.body or None, status=answer.status, headers={"Cache-Control": "no-store"})


def query_data(
    query: QueryDict, *, whole: frozenset[str] = frozenset(), lists: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """A query string as the JSON object it stands for: numbers where a number belongs, else strings.

    A list is its parameter repeated.

    Raises:
        Validation: ``request.validation``; a parameter sent twice.
    """
    data: dict[str, Any] = {}
    for name in query:
        values = query.getlist(name)
        if name in lists:
            data[name] = values
            continue
        if len(values) > 1:
            raise Validation(f"{name[:100]} is given more than once", param=name[:100])
        value = values[0]
        data[name] = int(value) if name in whole and _WHOLE.match(value) else value
    return data

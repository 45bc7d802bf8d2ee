"""The view of routes whose texts have no largest size: the body is read and the answer written in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from django.http import HttpResponseBase, StreamingHttpResponse

from oml.http.large import StreamedJSONParser
from oml.http.operations import Answer
from oml.http.views import OperationView


@runtime_checkable
class WritesJSON(Protocol):
    """A text too large to be in an answer; it writes itself."""

    def json(self) -> Iterator[bytes]: ...


class LargeOperationView(OperationView):
    """As :class:`OperationView`, in bounded memory."""

    parser_classes = (StreamedJSONParser,)

    def printed(self, answer: Answer) -> Any:
        if any(isinstance(value, WritesJSON) for value in answer.body.values()):
            return streamed(answer.body, answer.status)
        return super().printed(answer)


def streamed(body: dict[str, Any], status: int) -> HttpResponseBase:
    """An answer with large members, as a stream."""
    response = StreamingHttpResponse(write(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def write(body: dict[str, Any]) -> Iterator[bytes]:
    """The JSON of an object, its large members in pieces."""
    opening = b"{"
    for name, value in body.items():
        yield opening + json.dumps(name).encode() + b":"
        opening = b","
        if isinstance(value, WritesJSON):
            yield from value.json()
        else:
            yield json.dumps(value, ensure_ascii=False).encode()
    yield b"}" if body else b"{}"

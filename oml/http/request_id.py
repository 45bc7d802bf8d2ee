"""A request id on every answer and log line: the caller's, when it is short and plain, else our own."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from logging import Filter, LogRecord

from django.http import HttpRequest, HttpResponse

from oml.core.ids import new_id

_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
current: ContextVar[str] = ContextVar("request_id", default="-")


class RequestIdMiddleware:
    """Sets ``X-Request-Id``; nothing decides by it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get("X-Request-Id", "")
        token = current.set(sent if _PLAIN.match(sent) else new_id("req"))
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = current.get()
            return response
        finally:
            current.reset(token)


class RequestIdFilter(Filter):
    """Gives every log record its ``request_id``."""

    def filter(self, record: LogRecord) -> bool:
        record.request_id = current.get()
        return True

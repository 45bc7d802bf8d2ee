"""The one error handler of ``/v1``: whatever was raised leaves as a typed error, and says nothing it should not."""

from __future__ import annotations

import logging
import sys
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from oml.core.errors import (
    InvalidKey,
    MethodNotAllowed,
    OmlError,
    SizeExceeded,
    Unavailable,
    UnknownRoute,
    UnsupportedMedia,
    Validation,
)

logger = logging.getLogger(__name__)

_APIS = ("/v1", "/mcp", "/api/")

# A kept "not found" would outlive the ratification that makes the thing readable.
NEVER_STORED = {"Cache-Control": "no-store"}


def typed(error: BaseException) -> OmlError:
    """The typed error that an exception is for the outside; unknown ones are logged by class name alone."""
    match error:
        case OmlError():
            return error
        case exceptions.MethodNotAllowed():
            return MethodNotAllowed("this path does not answer that method")
        case exceptions.UnsupportedMediaType():
            return UnsupportedMedia("send the body as application/json")
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return InvalidKey()
        case exceptions.NotFound() | Http404():
            return UnknownRoute("no such path")
        case RequestDataTooBig():
            return SizeExceeded("the request body is too large")
        case exceptions.APIException() | SuspiciousOperation():
            return Validation("the request could not be read")
        case DatabaseError() | InterfaceError():
            logger.error("database refused or is away: %s", type(error).__name__, exc_info=_where(error))
            return Unavailable()
    logger.error("unexpected %s", type(error).__name__, exc_info=_where(error))
    return Unavailable("something went wrong here")


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's hook: print the typed error with its status and headers."""
    refusal = typed(error)
    if isinstance(refusal, MethodNotAllowed):
        view = context.get("view")
        refusal = MethodNotAllowed(refusal.message, allow=tuple(getattr(view, "allowed_methods", ())))
    return Response(refusal.as_dict(), status=refusal.status, headers={**NEVER_STORED, **refusal.headers()})


def json_error(refusal: OmlError) -> JsonResponse:
    """A typed error outside DRF: health, unknown paths, discovery."""
    return JsonResponse(refusal.as_dict(), status=refusal.status, headers={**NEVER_STORED, **refusal.headers()})


@csrf_exempt
def unknown_route(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    """Whatever no route names, under the API's prefixes."""
    return json_error(UnknownRoute("no such path"))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's ``handler500``: what escaped a page, told to a person; under an API's prefix as the typed error.

    The pages need neither session nor database, which may be what is away.
    """
    error = sys.exc_info()[1] or RuntimeError()
    if request.path.startswith(_APIS):
        return json_error(typed(error))
    away = isinstance(error, OperationalError | InterfaceError)
    headers = {**NEVER_STORED, **(Unavailable().headers() if away else {})}
    page = render_to_string("503.html" if away else "500.html")
    return HttpResponse(page, status=503 if away else 500, headers=headers)


def _where(error: BaseException) -> Any:
    # A traceback without the exception's own message: the message may quote what was sent.
    return (type(error), type(error)("(message withheld)") if _plain(error) else None, error.__traceback__)


def _plain(error: BaseException) -> bool:
    try:
        type(error)("(message withheld)")
    except Exception:
        return False
    return True

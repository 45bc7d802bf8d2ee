"""The Django view behind every MCP mount: the checks that belong to HTTP, in one fixed order.

Host, Origin, method, key, content type, size, then the message. The method comes before the key, so that the
GET with which many clients open is a quiet 405 and never starts an OAuth dance; the key comes before the
body, so that nobody without one has anything parsed. What must never happen here: a session id, a stream, a
redirect, a body on a 202, an answer that is not JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt

from oml.core.errors import (
    Forbidden,
    MethodNotAllowed,
    OmlError,
    SizeExceeded,
    UnsupportedMedia,
    Validation,
)
from oml.http.chunked import said_length
from oml.http.handler import typed
from oml.http.large import split
from oml.http.parsers import MAX_BODY_BYTES
from oml.mcp.errors import RpcError, parse_error, refusal_as_rpc_error, without_id
from oml.mcp.protocol import Reply, answer
from oml.mcp.tools import Mount
from oml.mcp.wire import Message, read_message, write_message


def view_of(mount: Mount) -> Callable[[HttpRequest], HttpResponse]:
    """The view that serves one mount. Keys are not ambient, so there is no CSRF to guard against."""

    @csrf_exempt
    def mcp_endpoint(request: HttpRequest) -> HttpResponse:
        try:
            return _response(_serve(mount, request))
        except RpcError as error:
            return _response(_rpc_failure(error))
        except Exception as raised:  # the outermost net; an unexpected text may quote the request
            return refuse(typed(raised))

    return mcp_endpoint


def refuse(refusal: OmlError) -> HttpResponse:
    """A refusal at the level of HTTP: its status, and a JSON-RPC error that answers no request in particular."""
    return _response(Reply(refusal.status, without_id(refusal_as_rpc_error(refusal)), refusal.headers()))


def _serve(mount: Mount, request: HttpRequest) -> Reply:
    """The order of a request (design page mcp)."""
    host = _require_host(request)
    _require_origin(request, host)
    if request.method != "POST":
        raise MethodNotAllowed("the MCP endpoint answers POST only; it opens no stream", allow=("POST",))
    actor = mount.authenticate(request.headers.get("Authorization"))
    if request.content_type != "application/json":
        raise UnsupportedMedia("send the JSON-RPC message as application/json")
    message = _read_large(request) if mount.any_size else read_message(_read_body(request))
    headers = {name.lower(): value for name, value in request.headers.items()}
    return answer(mount, actor, message, headers)


def _require_host(request: HttpRequest) -> str:
    try:
        return request.get_host()
    except DisallowedHost:
        raise Validation("this host name is not served here", param="Host") from None


def _require_origin(request: HttpRequest, host: str) -> None:
    """Refuse foreign web pages (DNS rebinding): an Origin must be this host or be configured.

    Agents send none. The scheme is not compared, since TLS may end at a proxy, and the host was checked
    before.
    """
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return
    try:
        place = urlsplit(origin)
    except ValueError:
        place = urlsplit("")
    if place.scheme in ("http", "https") and place.netloc.lower() == host.lower():
        return
    raise Forbidden("this Origin may not call the MCP endpoint", rule="only configured web origins may call (MCP)")


def _read_body(request: HttpRequest) -> bytes:
    """The body, up to the limit that holds for ``/v1`` too."""
    too_large = SizeExceeded(f"a request body has at most {MAX_BODY_BYTES} bytes")
    try:
        if said_length(request.headers.get("Content-Length")) > MAX_BODY_BYTES:
            raise too_large
        body = request.read(MAX_BODY_BYTES + 1)
    except (ValueError, UnreadablePostError):
        raise parse_error("the body could not be read") from None
    if len(body) > MAX_BODY_BYTES:
        raise too_large
    return body


def _read_large(request: HttpRequest) -> Message:
    """A message whose contents may be of any size; they wait in a file until a tool asks for them."""
    try:
        rest, texts = split(request)
    except Validation as error:
        raise parse_error(error.message) from None
    except UnreadablePostError:
        raise parse_error("the body could not be read") from None
    return read_message(rest, texts)


def _rpc_failure(error: RpcError) -> Reply:
    """A message so malformed that no era could be told; the id is echoed when it was usable."""
    body = without_id(error.as_dict())
    if error.request_id is not None:
        body["id"] = error.request_id
    return Reply(error.status or 400, body)


def _response(reply: Reply) -> HttpResponse:
    if reply.body is None:
        response = HttpResponse(status=reply.status)
        # Some clients wait for an event stream, or choke on an empty JSON text, when a 202 names a type.
        del response["Content-Type"]
    else:
        response = HttpResponse(write_message(reply.body), status=reply.status, content_type="application/json")
    for name, value in reply.headers.items():
        response[name] = value
    response["Cache-Control"] = "no-store"
    return response

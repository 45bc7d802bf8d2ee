"""JSON-RPC errors of the MCP face, and how a typed refusal looks at the level of HTTP.

Two families, never mixed: a *protocol* error (:class:`RpcError`) says that the message itself cannot be
served; a *refusal* (``OmlError``) is the product's own answer and travels as a tool result, or, before a
message was read, as a JSON-RPC error without an id whose code is the HTTP status. What must never happen
here: the text of an unexpected exception, or anything the caller sent as content, in an answer or a log line.
"""

from __future__ import annotations

from typing import Any

from mcp_types.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR

from oml.core.errors import OmlError, Validation

# The specification asks for tool names of at most 128 characters; a longer one is echoed cut.
LONGEST_ECHOED_NAME = 128


class RpcError(Exception):
    """A message that cannot be served, as JSON-RPC error fields.

    Args:
        code: JSON-RPC error code, of the specification or of JSON-RPC itself.
        message: what is wrong with the message; never any of its content.
        data: the ``data`` member, where the specification or our taxonomy has one.
        request_id: id to answer under, when the message carried a usable one.
        status: HTTP status where it does not follow from the era (parse errors and malformed envelopes).
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        data: Any = None,
        request_id: str | int | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id
        self.status = status

    def as_dict(self) -> dict[str, Any]:
        """The ``error`` member of the JSON-RPC answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


def parse_error(reason: str) -> RpcError:
    """-32700 with HTTP 400: the body is not one JSON text in UTF-8."""
    return RpcError(PARSE_ERROR, f"Parse error: {reason}", data=Validation(reason).as_dict(), status=400)


def invalid_request(reason: str, *, request_id: str | int | None = None) -> RpcError:
    """-32600 with HTTP 400: JSON, but not one JSON-RPC request or notification."""
    return RpcError(
        INVALID_REQUEST,
        f"Invalid request: {reason}",
        data=Validation(reason).as_dict(),
        request_id=request_id,
        status=400,
    )


def unknown_method(method: str) -> RpcError:
    """-32601: a method that this revision does not have or this server does not offer."""
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:LONGEST_ECHOED_NAME]}")


def invalid_params(reason: str) -> RpcError:
    """-32602: the parameters do not have the shape that the method declares."""
    return RpcError(INVALID_PARAMS, f"Invalid params: {reason}")


def unknown_tool(name: str) -> RpcError:
    """-32602 in the words of the seed: R1 says absent, so an attempt meets an unknown tool."""
    return RpcError(
        INVALID_PARAMS,
        f"Unknown tool: {name[:LONGEST_ECHOED_NAME]}. This surface carries no promote, sign, demote, delete "
        "or admin verb (R1); see tools/list for the complete catalog.",
    )


def refusal_as_rpc_error(refusal: OmlError) -> dict[str, Any]:
    """The ``error`` member for a refusal at the level of HTTP.

    The code is the HTTP status, outside JSON-RPC's reserved block; the message repeats the typed error
    because most clients show nothing else; ``data`` is the typed error itself.
    """
    return {
        "code": refusal.status,
        "message": f"{refusal.code}: {refusal.message}",
        "data": refusal.as_dict(),
    }


def without_id(error: dict[str, Any]) -> dict[str, Any]:
    """An answer to no request in particular.

    JSON-RPC spells the missing id as null; the Python client shows the error only in that spelling, and no
    client minds it.
    """
    return {"jsonrpc": "2.0", "id": None, "error": error}

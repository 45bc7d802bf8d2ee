"""From the bytes of one POST to one JSON-RPC message, strictly; pure, no Django.

What must never happen here: a message that two readers could understand differently (NaN, invalid UTF-8, a
name twice, a boolean id, a batch) passing as valid, or an exception other than ``RpcError`` leaving.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from mcp_types.jsonrpc import JSONRPC_VERSION

from oml.http.parsers import once_each
from oml.mcp.errors import invalid_request, parse_error

if TYPE_CHECKING:
    from oml.http.large import LongTexts


@dataclass(frozen=True, slots=True)
class Message:
    """One request, or one notification (no id, nothing is owed)."""

    method: str
    params: dict[str, Any]
    request_id: str | int | None
    body: dict[str, Any]
    #: Long texts that were set aside while the message was read; see :mod:`oml.http.large`.
    texts: LongTexts | None = None

    @property
    def is_notification(self) -> bool:
        return self.request_id is None


def read_message(raw: bytes, texts: LongTexts | None = None) -> Message:
    """Decode and check one message.

    Raises:
        RpcError: -32700 for what is not JSON in UTF-8, -32600 for a batch, a posted response or a malformed
            envelope; both with HTTP 400.
    """
    decoded = _decode(raw)
    if isinstance(decoded, list):
        raise invalid_request("batches are not served; send one request or notification per POST")
    if not isinstance(decoded, dict):
        raise invalid_request("the body must be one JSON-RPC request or notification object")
    request_id = _request_id(decoded)
    if decoded.get("jsonrpc") != JSONRPC_VERSION:
        raise invalid_request('"jsonrpc" must be "2.0"', request_id=request_id)
    method = decoded.get("method")
    if not isinstance(method, str):
        raise invalid_request("a string method is required; responses are not accepted", request_id=request_id)
    params = decoded.get("params")
    if params is not None and not isinstance(params, dict):
        raise invalid_request("params must be an object", request_id=request_id)
    return Message(method=method, params=params or {}, request_id=request_id, body=decoded, texts=texts)


def write_message(body: dict[str, Any]) -> bytes:
    """JSON bytes of an answer. ASCII only: an id or a name echoed with a lone surrogate must not break it."""
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def _decode(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise parse_error("the body is not UTF-8") from None
    try:
        return json.loads(text, parse_constant=_refuse_number, parse_float=_finite, object_pairs_hook=once_each)
    # ValueError also covers integers beyond Python's digit limit; RecursionError is deep nesting.
    except (ValueError, RecursionError):
        raise parse_error("the body is not one JSON text") from None


def _request_id(decoded: dict[str, Any]) -> str | int | None:
    """The id when there is one; key presence, not its value, makes a request of a message."""
    if "id" not in decoded:
        return None
    request_id = decoded["id"]
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        raise invalid_request("an id must be a string or an integer")
    return request_id


def _refuse_number(_literal: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError("a number beyond the range of a double")
    return number

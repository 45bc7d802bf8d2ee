"""A laboratory mount: the real endpoint over tools that need no database, and a caller that speaks both eras.

The transport is tested here without the product behind it; what the product's own tools answer is tested for
parity with ``/v1``. The ``test_*`` tools are those that the official conformance suite calls by name.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.test import RequestFactory

from oml.core.errors import InvalidKey, QuotaExceeded, Validation
from oml.mcp.endpoint import view_of
from oml.mcp.tools import Mount, Tool

KEY = "oml_k_" + "0" * 26
MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


@dataclass(frozen=True)
class Body:
    body: dict[str, Any]
    status: int = 200


class Recorder:
    """Keeps what reached the tools, so that a test can say that nothing did."""

    def __init__(self, *, keep: int = 100) -> None:
        self.calls: deque[dict[str, Any]] = deque(maxlen=keep)

    def echo(self, _actor: Any, data: dict[str, Any]) -> Body:
        self.calls.append(data)
        if "text" in data and not isinstance(data["text"], str):
            raise Validation("text must be a string", param="text")
        return Body({"echo": data})


def _quota(_actor: Any, _data: dict[str, Any]) -> Body:
    raise QuotaExceeded("write quota exhausted for this key's tenant", retry_after_seconds=7)


def _crash(_actor: Any, data: dict[str, Any]) -> Body:
    raise RuntimeError(f"could not store {data}")


def lab_tool(name: str, operation: Callable[[Any, dict[str, Any]], Body], schema: dict[str, Any] | None = None) -> Tool:
    return Tool(
        name=name,
        title=name,
        description=f"Laboratory tool {name}.",
        input_schema=schema or {"type": "object", "properties": {"text": {"type": "string"}}},
        operation=operation,
        read_only=True,
        idempotent=True,
    )


def authenticate(header: str | None) -> str:
    if header is None:
        raise InvalidKey(presented=False)
    if header != f"Bearer {KEY}":
        raise InvalidKey
    return "lab actor"


def lab_mount(recorder: Recorder | None = None, *, name: str = "lab") -> Mount:
    recorder = recorder or Recorder()
    tools = (
        lab_tool("lab_echo", recorder.echo),
        lab_tool("lab_quota", _quota),
        lab_tool("lab_crash", _crash),
    )
    return Mount(
        name=name,
        title="Laboratory",
        path="mcp",
        instructions="Laboratory.",
        authenticate=authenticate,
        tools=lambda _actor: tools,
    )


@dataclass(frozen=True)
class Exchange:
    """One answer of the endpoint."""

    response: HttpResponse

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def json(self) -> Any:
        return json.loads(self.response.content)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]

    @property
    def result(self) -> dict[str, Any]:
        return self.json["result"]

    def header(self, name: str) -> str | None:
        return self.response.headers.get(name)


class Caller:
    """Speaks MCP in the legacy or the modern era, as a client would.

    Args:
        request: hands one HTTP request over and returns the response; signature of ``Client.generic``.
        key: secret to present, None for none.
    """

    def __init__(self, request: Callable[..., Any], *, key: str | None = KEY, path: str = "/mcp") -> None:
        self.request = request
        self.key = key
        self.path = path

    @classmethod
    def of_view(cls, view: Callable[..., HttpResponse], *, key: str | None = KEY) -> Caller:
        """A caller of one view, without middleware."""
        factory = RequestFactory()
        return cls(lambda *args, **kwargs: view(factory.generic(*args, **kwargs)), key=key)

    def send(
        self,
        body: bytes,
        *,
        method: str = "POST",
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> Exchange:
        sent = dict(headers or {})
        if self.key is not None:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        # CONTENT_TYPE apart: the factory leaves the header out of requests without a body.
        return Exchange(
            self.request(method, self.path, body, content_type=content_type, headers=sent, CONTENT_TYPE=content_type)
        )

    def post(self, message: Any, *, headers: dict[str, str] | None = None) -> Exchange:
        return self.send(json.dumps(message).encode(), headers=headers)

    def legacy(self, method: str, params: dict[str, Any] | None = None, *, version: str | None = HANDSHAKE) -> Exchange:
        headers = {"MCP-Protocol-Version": version} if version else {}
        return self.post(rpc(method, params), headers=headers)

    def modern(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        version: str = MODERN,
        headers: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
    ) -> Exchange:
        message = rpc(method, enveloped(params or {}, version=version))
        sent = {"MCP-Protocol-Version": version, "Mcp-Method": method}
        if "name" in (params or {}):
            sent["Mcp-Name"] = params["name"]
        sent |= headers or {}
        return self.post(message, headers={name: value for name, value in sent.items() if name not in without})

    def call(self, tool: str, arguments: dict[str, Any] | None = None, *, era: str = "legacy") -> Exchange:
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        return self.legacy("tools/call", params) if era == "legacy" else self.modern("tools/call", params)


def rpc(method: str, params: dict[str, Any] | None = None, request_id: Any = 7) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else message | {"params": params}


def enveloped(params: dict[str, Any], *, version: str = MODERN) -> dict[str, Any]:
    return params | {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "lab", "version": "1"},
        }
    }


def refused(exchange: Exchange, code: str) -> dict[str, Any]:
    """The typed error of a tool result, after checking that it is one in every respect."""
    assert exchange.status == 200
    assert exchange.result["isError"] is True
    assert json.loads(exchange.result["content"][0]["text"]) == exchange.result["structuredContent"]
    error = exchange.result["structuredContent"]["error"]
    assert error["code"] == code
    return error


def lab_caller(recorder: Recorder | None = None, *, key: str | None = KEY) -> Caller:
    return Caller.of_view(view_of(lab_mount(recorder)), key=key)

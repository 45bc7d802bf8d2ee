"""What a tool is, what a mount is, and the one way to call a tool: arguments in, an MCP tool result out.

A tool holds no logic: its ``operation`` is the function that the ``/v1`` twin calls too, with the same checks
of shape, so both faces refuse alike. What must never happen here: a refusal turned into a protocol error, or
an unexpected exception shown to the caller.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from oml.http.handler import typed


class Answer(Protocol):
    """What an operation returns: the ``/v1`` body (and the status that only HTTP needs)."""

    @property
    def body(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of a catalog.

    Attributes:
        name: wire name.
        title: short name for people.
        description: written for a model: when to use it, what happens next, what to do on each refusal.
        input_schema: flat JSON Schema object; never closed by ``additionalProperties``, because a ``tenant``
            that is sent must be ignored (D6) and a validating client would refuse it.
        operation: ``operation(actor, arguments)``; the function behind the ``/v1`` twin, raising
            ``OmlError``.
        read_only: the call changes nothing but the read log.
        idempotent: the same call again changes nothing further.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    operation: Callable[[Any, dict[str, Any]], Answer]
    read_only: bool
    idempotent: bool

    def as_dict(self) -> dict[str, Any]:
        """The entry as ``tools/list`` shows it; no outputSchema, since clients hold refusals against it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": dict(self.input_schema),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": False,
                "idempotentHint": self.idempotent,
                "openWorldHint": False,
            },
        }


def _unchanged(actor: Any, _client: str | None) -> Any:
    return actor


@dataclass(frozen=True, slots=True)
class Mount:
    """One MCP endpoint: where it is, who may enter, what it offers.

    Attributes:
        name: server name told to clients.
        title: the same for people.
        path: URL path without slashes at its ends, such as ``mcp/records``.
        instructions: guidance that clients may put before a model.
        authenticate: resolves the ``Authorization`` header, raising ``OmlError`` when it resolves to nobody.
        tools: the catalog for whoever was authenticated, in listing order.
        reported: the actor together with the name that its client gives in a call's ``_meta``.
        any_size: whether a request may carry a content of any size; the limit of ``/v1`` holds otherwise.
    """

    name: str
    title: str
    path: str
    instructions: str
    authenticate: Callable[[str | None], Any]
    tools: Callable[[Any], Sequence[Tool]]
    reported: Callable[[Any, str | None], Any] = _unchanged
    any_size: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An MCP tool result and the HTTP headers that go with it."""

    content: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def call_tool(tool: Tool, actor: Any, arguments: dict[str, Any]) -> ToolResult:
    """Run one tool. Every refusal becomes a result with ``isError`` and the typed error in it.

    Source: seed, catalog conventions; design page mcp, order of a request, items 5 to 7.
    """
    try:
        return ToolResult(_result(tool.operation(actor, arguments).body, is_error=False))
    except Exception as raised:  # the handler of /v1 names it, or logs it by class alone; its text stays here
        refusal = typed(raised)
    return ToolResult(_result(refusal.as_dict(), is_error=True), refusal.headers())


def _result(body: dict[str, Any], *, is_error: bool) -> dict[str, Any]:
    # The text block repeats the object: one widespread client drops structuredContent on errors, and clients
    # of revisions before 2025-06-18 know only text.
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], "structuredContent": body, "isError": is_error}

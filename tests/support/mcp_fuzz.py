"""Random bodies and headers for the MCP endpoint: mostly nearly right, sometimes noise, always
reproducible."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from tests.support.mcp_lab import HANDSHAKE, MODERN, enveloped

METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "prompts/get",
    "notifications/initialized",
    "subscriptions/listen",
    "",
    "\ud800",
)
WORDS = (
    "",
    "x",
    "\x00",
    "\ud800",
    "ü漢",
    "a" * 5000,
    "wa_01",
    "universe",
    "../..",
    "%00",
    "'; --",
    "{}",
    "null",
)
VERSIONS = (MODERN, HANDSHAKE, "2025-03-26", "1999-01-01", "", "ü", "2026-07-28, 2026-07-28")


@dataclass(frozen=True)
class Shot:
    """One request."""

    body: bytes
    headers: dict[str, str]
    content_type: str
    method: str


class Fuzzer:
    """Makes shots from one seed.

    Args:
        seed: the same seed makes the same shots.
        tools: tool names to aim at, with the argument names that each knows.
    """

    def __init__(self, seed: int, tools: dict[str, tuple[str, ...]]) -> None:
        self.random = random.Random(seed)
        self.tools = tools

    def shot(self) -> Shot:
        message = self.message()
        body = json.dumps(message).encode()
        if self.random.random() < 0.2:
            body = self.damage(body)
        return Shot(body, self.headers(message), self.content_type(), self.method())

    def message(self) -> Any:
        draw = self.random.random()
        if draw < 0.1:
            return self.value()
        name = self.random.choice((*self.tools, "oml_promote", self.word()))
        message: dict[str, Any] = {
            "jsonrpc": self.often("2.0"),
            "id": self.often(self.random.choice((1, "a", 2**40))),
            "method": self.often(self.random.choice((*METHODS, "tools/call", "tools/call", "tools/call"))),
        }
        params: Any = {"name": self.often(name), "arguments": self.often(self.arguments(name))}
        if self.random.random() < 0.5:
            params = enveloped(params, version=self.random.choice(VERSIONS))
        message["params"] = self.often(params)
        if self.random.random() < 0.15:
            message.pop(self.random.choice(list(message)))
        return [message] if draw > 0.97 else message

    def arguments(self, tool: str) -> dict[str, Any]:
        known = self.tools.get(tool, ("text",))
        chosen = [name for name in known if self.random.random() < 0.7]
        if self.random.random() < 0.2:
            chosen.append(self.random.choice(("tenant", "tenant_id", "extra", self.word())))
        return {name: self.value() for name in chosen}

    def value(self, depth: int = 0) -> Any:
        kinds = ["word", "word", "number", "none", "flag"] + (["list", "object"] if depth < 3 else [])
        match self.random.choice(kinds):
            case "word":
                return self.word()
            case "number":
                return self.random.choice((0, 1, -1, 50, 51, 2**31, 2**63, 2**70, 0.5, 1e300))
            case "none":
                return None
            case "flag":
                return self.random.choice((True, False))
            case "list":
                return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
            case _:
                return {self.word(): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def headers(self, message: Any) -> dict[str, str]:
        sent = {}
        if self.random.random() < 0.6:
            sent["MCP-Protocol-Version"] = self.random.choice(VERSIONS)
        if self.random.random() < 0.6:
            method = message.get("method") if isinstance(message, dict) else None
            sent["Mcp-Method"] = method if isinstance(method, str) and self.random.random() < 0.8 else self.word()
        if self.random.random() < 0.6:
            params = message.get("params") if isinstance(message, dict) else None
            name = params.get("name") if isinstance(params, dict) else None
            sent["Mcp-Name"] = name if isinstance(name, str) and self.random.random() < 0.8 else self.word()
        for name in ("Accept", "Mcp-Session-Id", "Last-Event-ID", "Origin", "Content-Length", "Host"):
            if self.random.random() < 0.03:
                sent[name] = self.word()
        # As WSGI hands headers over: no control characters, bytes read as Latin-1.
        return {
            name: value.encode("utf-8", "replace").decode("latin-1").replace("\x00", "").replace("\n", "")
            for name, value in sent.items()
        }

    def content_type(self) -> str:
        return "application/json" if self.random.random() < 0.95 else self.random.choice(("", "text/html", "a;b=c;"))

    def method(self) -> str:
        return "POST" if self.random.random() < 0.97 else self.random.choice(("GET", "DELETE", "OPTIONS", "PUT"))

    def word(self) -> str:
        return self.random.choice(WORDS)

    def often(self, value: Any) -> Any:
        return value if self.random.random() < 0.93 else self.value()

    def damage(self, body: bytes) -> bytes:
        at = self.random.randrange(len(body) + 1)
        match self.random.randrange(4):
            case 0:
                return body[:at]
            case 1:
                return body[:at] + self.random.randbytes(self.random.randrange(1, 8)) + body[at:]
            case 2:
                return body[:at] + b'"NaN":NaN,' + body[at:]
            case _:
                return self.random.randbytes(self.random.randrange(64))

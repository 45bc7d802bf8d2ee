"""Some thousand random requests: never a 5xx, never a body that is not JSON-RPC, never an execution by
accident."""

from __future__ import annotations

import pytest
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from pydantic import TypeAdapter

from tests.support.mcp_fuzz import Fuzzer
from tests.support.mcp_lab import Caller, Exchange, lab_caller

ANSWER: TypeAdapter = TypeAdapter(JSONRPCResponse | JSONRPCError)
STATUSES = {200, 202, 400, 403, 404, 405, 413, 415}


def check(exchange: Exchange) -> None:
    assert exchange.status in STATUSES
    assert exchange.header("Mcp-Session-Id") is None
    if exchange.status == 202 or exchange.response.content == b"":
        assert exchange.status == 202
        assert exchange.response.content == b""
        return
    assert exchange.header("Content-Type") == "application/json"
    body = exchange.json
    assert body["jsonrpc"] == "2.0"
    assert ("result" in body) != ("error" in body)
    if "\\ud800" not in exchange.response.content.decode():  # an id with a lone surrogate is echoed as it came
        ANSWER.validate_json(exchange.response.content)


def fire(caller: Caller, fuzzer: Fuzzer, shots: int) -> dict[int, int]:
    seen: dict[int, int] = {}
    for _ in range(shots):
        shot = fuzzer.shot()
        exchange = caller.send(shot.body, method=shot.method, content_type=shot.content_type, headers=shot.headers)
        check(exchange)
        seen[exchange.status] = seen.get(exchange.status, 0) + 1
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_endpoint__thousands_of_random_requests__are_all_answered_in_the_protocol(seed):
    tools = {"lab_echo": ("text",), "lab_quota": (), "lab_crash": ("text",)}
    seen = fire(lab_caller(), Fuzzer(seed, tools), 1500)
    assert seen[200] > 100  # the shots are near enough to hit
    assert seen[400] > 100

"""Both protocol eras on one endpoint: methods, header ladder, versions, wording."""

from __future__ import annotations

import pytest
from mcp_types.methods import serialize_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS

from oml import __version__
from tests.support.mcp_lab import HANDSHAKE, MODERN, Recorder, enveloped, lab_caller, rpc

SENTENCE = (
    "Unknown tool: oml_promote. This surface carries no promote, sign, demote, delete or admin verb (R1); "
    "see tools/list for the complete catalog."
)
NOT_OFFERED = [
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "completion/complete",
    "nonsense",
]


def initialize(version: str) -> dict:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "lab", "version": "1"}}


# --- handshake era --------------------------------------------------------------------------------


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_initialize__known_revision__is_answered_with_it(version):
    result = lab_caller().legacy("initialize", initialize(version), version=None).result
    assert result["protocolVersion"] == version
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert result["serverInfo"] == {"name": "lab", "title": "Laboratory", "version": __version__}
    serialize_server_result("initialize", version, result)


@pytest.mark.parametrize("version", ["2026-07-28", "2099-01-01", "nonsense"])
def test_initialize__other_revision__is_countered_with_the_latest_handshake_revision(version):
    assert lab_caller().legacy("initialize", initialize(version), version=None).result["protocolVersion"] == HANDSHAKE


def test_initialize__then_nothing_else__stores_nothing():
    caller = lab_caller()
    caller.legacy("initialize", initialize("2024-11-05"))
    assert caller.legacy("tools/list", {}, version="2025-11-25").status == 200


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 5}, {"protocolVersion": "2025-11-25"}])
def test_initialize__wrong_parameters__are_invalid_params_over_http_200(params):
    exchange = lab_caller().legacy("initialize", params)
    assert exchange.status == 200
    assert exchange.error["code"] == -32602


@pytest.mark.parametrize("version", [None, *HANDSHAKE_PROTOCOL_VERSIONS])
def test_tools_list__handshake_era__has_the_tools_and_no_modern_fields(version):
    result = lab_caller().legacy("tools/list", {}, version=version).result
    assert [tool["name"] for tool in result["tools"]] == ["lab_echo", "lab_quota", "lab_crash"]
    assert set(result) == {"tools"}
    serialize_server_result("tools/list", version or "2025-03-26", result)


def test_tools_list__without_params__is_answered():
    assert lab_caller().post(rpc("tools/list")).status == 200


def test_tools_list__a_cursor_that_nobody_issued__is_invalid_params():
    exchange = lab_caller().legacy("tools/list", {"cursor": "x"})
    assert (exchange.status, exchange.error["code"]) == (200, -32602)


@pytest.mark.parametrize("method", [*NOT_OFFERED, "server/discover", "logging/setLevel", "resources/subscribe"])
def test_method_not_offered__handshake_era__is_32601_over_http_200(method):
    exchange = lab_caller().legacy(method, {"uri": "x", "level": "info", "ref": {}, "argument": {}})
    assert exchange.status == 200
    assert exchange.error["code"] in (-32601, -32602)
    assert exchange.json["id"] == 7


def test_unknown_tool__handshake_era__is_the_sentence_of_the_seed_over_http_200():
    exchange = lab_caller().call("oml_promote")
    assert exchange.status == 200
    assert exchange.json == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": SENTENCE}}


# --- modern era -----------------------------------------------------------------------------------


def test_discover__modern_era__is_complete_private_and_lists_every_revision():
    exchange = lab_caller().modern("server/discover")
    result = exchange.result
    assert exchange.status == 200
    assert result["resultType"] == "complete"
    assert result["supportedVersions"] == list(reversed(KNOWN_PROTOCOL_VERSIONS))
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "private")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == __version__
    assert serialize_server_result("server/discover", MODERN, result)["supportedVersions"]


def test_tools_list__modern_era__says_how_long_it_may_be_kept_and_by_whom():
    result = lab_caller().modern("tools/list").result
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 300_000, "private")
    serialize_server_result("tools/list", MODERN, result)


def test_tools_call__modern_era__is_complete_and_conforms():
    result = lab_caller().call("lab_echo", {"text": "x"}, era="modern").result
    assert result["resultType"] == "complete"
    serialize_server_result("tools/call", MODERN, result)


def test_unknown_tool__modern_era__is_the_sentence_of_the_seed_over_http_400():
    exchange = lab_caller().call("oml_promote", era="modern")
    assert exchange.status == 400
    assert exchange.json == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": SENTENCE}}


@pytest.mark.parametrize("method", [*NOT_OFFERED, "initialize", "ping", "logging/setLevel", "subscriptions/listen"])
def test_method_not_offered__modern_era__is_404_32601(method):
    params = {
        "ref": {"type": "ref/prompt", "name": "x"},
        "argument": {"name": "a", "value": "b"},
        "notifications": {},
    }
    exchange = lab_caller().modern(method, params)
    if method == "initialize":  # selects the handshake era by its name, whatever the envelope says
        exchange = lab_caller().post(
            rpc(method, enveloped({})), headers={"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        )
    assert (exchange.status, exchange.error["code"]) == (404, -32601)
    assert exchange.json["id"] == 7


MISMATCHES = {
    "version header missing": ({}, ("MCP-Protocol-Version",)),
    "version header of the other era": ({"MCP-Protocol-Version": HANDSHAKE}, ()),
    "version header unknown": ({"MCP-Protocol-Version": "1999-01-01"}, ()),
    "method header missing": ({}, ("Mcp-Method",)),
    "method header wrong": ({"Mcp-Method": "tools/list"}, ()),
    "name header missing": ({}, ("Mcp-Name",)),
    "name header wrong": ({"Mcp-Name": "lab_quota"}, ()),
    "name header malformed base64": ({"Mcp-Name": "=?base64?!!?="}, ()),
}


@pytest.mark.parametrize(("headers", "without"), MISMATCHES.values(), ids=MISMATCHES.keys())
def test_header_ladder__header_and_body_disagree__is_400_32020_and_calls_nothing(headers, without):
    recorder = Recorder()
    exchange = lab_caller(recorder).modern("tools/call", {"name": "lab_echo"}, headers=headers, without=without)
    assert (exchange.status, exchange.error["code"]) == (400, -32020)
    assert not recorder.calls


def test_header_ladder__name_header_in_base64__is_decoded():
    exchange = lab_caller().modern("tools/call", {"name": "lab_echo"}, headers={"Mcp-Name": "=?base64?bGFiX2VjaG8=?="})
    assert exchange.status == 200


def test_header_ladder__unserved_revision__is_400_32022_with_the_list():
    exchange = lab_caller().modern("tools/list", version="2027-01-01")
    assert (exchange.status, exchange.error["code"]) == (400, -32022)
    assert exchange.error["data"] == {
        "supported": list(reversed(KNOWN_PROTOCOL_VERSIONS)),
        "requested": "2027-01-01",
    }


def test_header_ladder__handshake_revision_in_an_envelope__is_unsupported_and_not_offered_again():
    exchange = lab_caller().modern("tools/list", version=HANDSHAKE)
    assert (exchange.status, exchange.error["code"]) == (400, -32022)
    assert HANDSHAKE not in exchange.error["data"]["supported"]


@pytest.mark.parametrize("meta", [None, 5, {}, {"io.modelcontextprotocol/clientCapabilities": {}}])
def test_header_ladder__modern_header_without_its_envelope__is_400_32602(meta):
    params = {} if meta is None else {"_meta": meta}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    exchange = lab_caller().post(rpc("tools/list", params), headers=headers)
    assert (exchange.status, exchange.error["code"]) == (400, -32602)


def test_header_ladder__envelope_without_capabilities__is_400_32602():
    params = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    exchange = lab_caller().post(rpc("tools/list", params), headers=headers)
    assert (exchange.status, exchange.error["code"]) == (400, -32602)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "lab_echo", "arguments": "secret text"}])
def test_tools_call__malformed_parameters__are_32602_and_quote_nothing(params):
    exchange = lab_caller().legacy("tools/call", params)
    assert (exchange.status, exchange.error["code"]) == (200, -32602)
    assert "secret" not in exchange.response.content.decode()


@pytest.mark.parametrize("params", [{"name": "lab_echo"}, {"name": "lab_echo", "arguments": None}])
def test_tools_call__no_arguments__reaches_the_tool_with_none(params):
    recorder = Recorder()
    assert lab_caller(recorder).legacy("tools/call", params).status == 200
    assert list(recorder.calls) == [{}]


def test_unknown_tool__an_endless_name__is_echoed_cut():
    message = lab_caller().call("x" * 10_000).error["message"]
    assert len(message) < 300

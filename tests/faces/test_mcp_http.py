"""The HTTP level of the MCP endpoint: order of checks, typed refusals, and nothing that clients trip over."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.db import InterfaceError, OperationalError
from django.test import override_settings

from oml.http.parsers import MAX_BODY_BYTES
from oml.mcp.endpoint import view_of
from tests.support.mcp_lab import KEY, Caller, Recorder, lab_caller, lab_mount, rpc

PING = json.dumps(rpc("ping")).encode()
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "lab", "version": "1"},
}


def http_refusal(exchange, status: int, code: str) -> dict:
    """A JSON-RPC error without an id whose code is the HTTP status and whose data is the typed error."""
    assert exchange.status == status
    assert exchange.header("Content-Type") == "application/json"
    assert exchange.json["id"] is None
    assert exchange.json["jsonrpc"] == "2.0"
    assert exchange.error["code"] == status
    typed = exchange.error["data"]["error"]
    assert typed["code"] == code
    assert exchange.error["message"] == f"{code}: {typed['message']}"
    assert set(typed) >= {"code", "rule", "message", "retryable"}
    return typed


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_endpoint__other_method_without_a_key__is_405_before_401(method):
    exchange = lab_caller(key=None).send(b"", method=method)
    assert exchange.header("Allow") == "POST"
    assert exchange.header("WWW-Authenticate") is None
    http_refusal(exchange, 405, "request.method")


def test_endpoint__no_key__is_401_with_a_plain_challenge():
    exchange = lab_caller(key=None).send(PING)
    http_refusal(exchange, 401, "auth.invalid_key")
    assert exchange.header("WWW-Authenticate") == 'Bearer realm="oml"'


def test_endpoint__wrong_key__is_the_same_text_and_names_no_metadata():
    missing = lab_caller(key=None).send(PING)
    wrong = lab_caller(key="oml_k_" + "1" * 26).send(PING)
    assert wrong.json == missing.json
    assert wrong.header("WWW-Authenticate") == 'Bearer realm="oml", error="invalid_token"'
    assert "resource_metadata" not in wrong.header("WWW-Authenticate")


def test_endpoint__no_key_and_a_body_that_does_not_parse__is_401_before_parsing():
    http_refusal(lab_caller(key=None).send(b"{"), 401, "auth.invalid_key")


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/list", "tools/call", "server/discover"])
def test_endpoint__no_key__serves_no_method_anonymously(method):
    caller = lab_caller(key=None)
    http_refusal(caller.legacy(method, {}), 401, "auth.invalid_key")
    http_refusal(caller.modern(method, {}), 401, "auth.invalid_key")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/json-rpc"]
)
def test_endpoint__other_content_type__is_415(content_type):
    http_refusal(lab_caller().send(PING, content_type=content_type), 415, "request.media_type")


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_endpoint__json_content_type_in_any_spelling__is_served(content_type):
    assert lab_caller().send(PING, content_type=content_type).status == 200


def test_endpoint__body_over_the_limit__is_413_and_reaches_no_tool():
    recorder = Recorder()
    large = rpc("tools/call", {"name": "lab_echo", "arguments": {"text": "x" * MAX_BODY_BYTES}})
    http_refusal(lab_caller(recorder).post(large), 413, "limit.size")
    assert not recorder.calls


def test_endpoint__largest_text_in_its_most_wasteful_spelling__passes_the_size_check():
    recorder = Recorder()
    exchange = lab_caller(recorder).call("lab_echo", {"text": "\U0001f600" * 32_768})  # 12 bytes each, escaped
    assert exchange.status == 200
    assert len(recorder.calls[0]["text"]) == 32_768


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://[", "file://testserver", "http://testserver.evil.example"],
)
def test_endpoint__foreign_origin__is_403_even_with_a_key(origin):
    typed = http_refusal(lab_caller().send(PING, headers={"Origin": origin}), 403, "access.forbidden")
    assert "origin" in typed["rule"].lower()


def test_endpoint__own_or_configured_origin__is_served():
    assert lab_caller().send(PING, headers={"Origin": "http://testserver"}).status == 200
    assert lab_caller().send(PING, headers={"Origin": "https://testserver"}).status == 200
    with override_settings(CSRF_TRUSTED_ORIGINS=["https://console.example"]):
        assert lab_caller().send(PING, headers={"Origin": "https://console.example"}).status == 200


def test_endpoint__foreign_host__is_refused_before_anything_else():
    with override_settings(ALLOWED_HOSTS=["oml.example"]):
        http_refusal(lab_caller(key=None).send(b"", method="GET"), 400, "request.validation")
        exchange = lab_caller().send(PING, headers={"Host": "oml.example", "Origin": "https://evil.example"})
        http_refusal(exchange, 403, "access.forbidden")


def test_endpoint__public_host_behind_a_proxy__is_served():
    with override_settings(ALLOWED_HOSTS=["oml.example"]):
        headers = {"Host": "oml.example", "Origin": "https://oml.example"}
        assert lab_caller().send(PING, headers=headers).status == 200


@pytest.mark.parametrize("accept", [None, "application/json", "text/event-stream", "*/*", "text/html", "nonsense"])
def test_endpoint__any_accept_header__is_answered_in_json(accept):
    exchange = lab_caller().send(PING, headers={"Accept": accept} if accept else {})
    assert exchange.status == 200
    assert exchange.header("Content-Type") == "application/json"


def test_endpoint__session_id_sent__is_ignored_and_none_is_ever_issued():
    caller = lab_caller()
    sent = caller.post(rpc("ping"), headers={"Mcp-Session-Id": "abc", "Last-Event-ID": "9"})
    assert sent.status == 200
    assert sent.header("Mcp-Session-Id") is None
    assert caller.legacy("initialize", INITIALIZE).header("Mcp-Session-Id") is None


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "tools/call", "nonsense"])
def test_endpoint__notification__is_202_empty_and_executes_nothing(method):
    recorder = Recorder()
    message = {"jsonrpc": "2.0", "method": method, "params": {"name": "lab_echo", "arguments": {}}}
    exchange = lab_caller(recorder).post(message)
    assert exchange.status == 202
    assert exchange.response.content == b""
    assert exchange.header("Content-Type") is None
    assert not recorder.calls


def test_endpoint__notification_of_an_unserved_revision__is_told_so():
    exchange = lab_caller().post(
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        headers={"MCP-Protocol-Version": "1999-01-01"},
    )
    assert exchange.status == 400
    assert exchange.error["code"] == -32022


def test_endpoint__every_answer__is_not_stored_by_caches():
    assert lab_caller().send(PING).header("Cache-Control") == "no-store"
    assert lab_caller(key=None).send(PING).header("Cache-Control") == "no-store"


PARSE_ERRORS = {
    "empty": b"",
    "cut": b'{"jsonrpc":"2.0"',
    "invalid utf-8": b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}',
    "utf-16": json.dumps(rpc("ping")).encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf" + PING,
    "NaN": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
    "Infinity": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":-Infinity}}',
    "beyond a double": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}',
    "integer of 5000 digits": b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    "deep nesting": b"[" * 100_000,
    "two texts": PING + PING,
}


@pytest.mark.parametrize("body", PARSE_ERRORS.values(), ids=PARSE_ERRORS.keys())
def test_endpoint__body_that_is_not_one_json_text__is_400_parse_error(body):
    exchange = lab_caller().send(body)
    assert exchange.status == 400
    assert exchange.error["code"] == -32700
    assert exchange.error["data"]["error"]["code"] == "request.validation"


INVALID_REQUESTS = {
    "batch": [rpc("ping"), rpc("ping")],
    "empty batch": [],
    "number": 1,
    "null": None,
    "no jsonrpc": {"id": 1, "method": "ping"},
    "jsonrpc 1.0": {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    "method not a string": {"jsonrpc": "2.0", "id": 1, "method": 5},
    "posted result": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "posted error": {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    "id null": {"jsonrpc": "2.0", "id": None, "method": "ping"},
    "id true": {"jsonrpc": "2.0", "id": True, "method": "ping"},
    "id 1.5": {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
    "params a list": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
}


@pytest.mark.parametrize("message", INVALID_REQUESTS.values(), ids=INVALID_REQUESTS.keys())
def test_endpoint__json_that_is_not_one_request__is_400_invalid_request(message):
    exchange = lab_caller().post(message)
    assert exchange.status == 400
    assert exchange.error["code"] == -32600


@pytest.mark.parametrize("request_id", [0, 7, -1, "a", "", "\ud800", "ü", 2**60])
def test_endpoint__any_valid_id__comes_back_unchanged(request_id):
    exchange = lab_caller().post(rpc("ping", request_id=request_id))
    assert exchange.json == {"jsonrpc": "2.0", "id": request_id, "result": {}}


@pytest.mark.parametrize("failure", [RuntimeError, OperationalError, InterfaceError])
def test_endpoint__unexpected_failure_while_authenticating__is_503_without_its_text(caplog, failure):
    def broken(header):
        raise failure(f"cannot look up {header}")

    exchange = Caller.of_view(view_of(replace(lab_mount(), authenticate=broken))).send(PING)
    typed = http_refusal(exchange, 503, "internal.unavailable")
    assert typed["retryable"] is True
    assert exchange.header("Retry-After") == str(typed["retry_after_seconds"])
    assert KEY not in exchange.response.content.decode() + caplog.text
    assert failure.__name__ in caplog.text

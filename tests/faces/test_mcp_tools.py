"""How a tool call comes back: success, typed refusal, unexpected failure."""

from __future__ import annotations

import gc
import json

import psutil
import pytest

from tests.support.mcp_lab import Recorder, lab_caller, refused

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


@ERAS
def test_call_tool__success__is_the_object_and_the_same_json_as_text(era):
    result = lab_caller().call("lab_echo", {"text": "Grüße 漢字 \u2028"}, era=era).result
    assert result["structuredContent"] == {"echo": {"text": "Grüße 漢字 \u2028"}}
    assert result["isError"] is False
    assert [block["type"] for block in result["content"]] == ["text"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@ERAS
def test_call_tool__refusal__is_a_result_with_the_typed_error_twice(era):
    error = refused(lab_caller().call("lab_echo", {"text": 5}, era=era), "request.validation")
    assert error["param"] == "text"
    assert error["retryable"] is False


@ERAS
def test_call_tool__retryable_refusal__says_the_wait_in_the_header_and_in_the_object(era):
    exchange = lab_caller().call("lab_quota", era=era)
    error = refused(exchange, "limit.quota")
    assert error == {
        "code": "limit.quota",
        "rule": "tenant quota (journalled grant attribute; enforced per replica at limit/N)",
        "message": "write quota exhausted for this key's tenant",
        "retryable": True,
        "retry_after_seconds": 7,
    }
    assert exchange.header("Retry-After") == "7"


@ERAS
def test_call_tool__refusal_that_no_retry_helps__has_no_retry_after(era):
    assert lab_caller().call("lab_echo", {"text": 5}, era=era).header("Retry-After") is None


@ERAS
def test_call_tool__unexpected_failure__is_unavailable_and_leaks_nothing(era, caplog):
    exchange = lab_caller().call("lab_crash", {"text": "the secret ingredient"}, era=era)
    error = refused(exchange, "internal.unavailable")
    assert error["retryable"] is True
    assert exchange.header("Retry-After")
    assert "ingredient" not in exchange.response.content.decode()
    assert "ingredient" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_call_tool__same_rpc_id_twice__is_two_calls():
    recorder = Recorder()
    caller = lab_caller(recorder)
    caller.call("lab_echo", {"text": "a"})
    caller.call("lab_echo", {"text": "a"})
    assert len(recorder.calls) == 2


def test_call_tool__ten_thousand_calls__keep_no_memory():
    caller = lab_caller()
    process = psutil.Process()

    def calls(number: int) -> int:
        for _ in range(number):
            caller.call("lab_echo", {"text": "x" * 1000}, era="modern")
        gc.collect()
        return process.memory_info().rss

    before = calls(1000)
    assert calls(10_000) - before < 5_000_000  # half of what one kept text a call would come to

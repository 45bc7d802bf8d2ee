"""Shapes refuse whatever is not exactly declared, name the field by its JSON path, and change nothing they take."""

from __future__ import annotations

from typing import Any

import pytest

from memory.api.shapes import LearnShape, RecallShape, RememberShape, SubmitShape, TailShape
from memory.claims import rules
from oml.core.errors import OmlError
from review.api.shapes import VerdictShape

BODY: dict[str, Any] = {"workarea": "wa_1", "claim_key": "quote", "text": "A fact."}
VERDICT: dict[str, Any] = {"serve_id": "srv_1", "content_digest": "0" * 64, "verdict": "ratify"}
NAN, INFINITY = float("nan"), float("inf")


def refusal(shape: Any, body: Any) -> OmlError:
    with pytest.raises(OmlError) as caught:
        shape.parse(body)
    return caught.value


def fault(shape: Any, body: Any) -> str | None:
    error = refusal(shape, body)
    assert error.code == "request.validation", error.code
    return error.param


NOT_TEXT = [1, 1.0, True, False, [], {}, ["A fact."], {"text": "A fact."}, NAN]
NOT_WHOLE = ["1", 1.0, 1.5, True, False, [], {}, NAN, INFINITY, 2**53, -(2**53), 10**30, "", "one"]
NOT_FLAG = [0, 1, "true", "false", "", [], {}, NAN]


@pytest.mark.parametrize("value", NOT_TEXT)
@pytest.mark.parametrize("field", ["workarea", "claim_key", "text", "thread", "idempotency_key", "kind", "verb"])
def test_text__another_type__is_refused_by_name(field: str, value: Any) -> None:
    assert fault(SubmitShape, {**BODY, field: value}) == field


@pytest.mark.parametrize("value", NOT_WHOLE)
def test_whole__what_only_resembles_a_number__is_refused(value: Any) -> None:
    assert fault(TailShape, {"scope": "wa_1", "after_seq": value}) == "after_seq"


@pytest.mark.parametrize("value", NOT_FLAG)
def test_flag__what_only_resembles_a_boolean__is_refused(value: Any) -> None:
    assert fault(RecallShape, {"query": "q", "scope": "wa_1", "explain": value}) == "explain"


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "x\udfff", "\udc80"])
@pytest.mark.parametrize("field", ["workarea", "claim_key", "text", "thread", "idempotency_key"])
def test_text__u0000_or_a_lone_surrogate__is_refused_in_every_field(field: str, text: str) -> None:
    assert fault(SubmitShape, {**BODY, field: text}) == field


@pytest.mark.parametrize(
    "text",
    [
        "  \n\t ",
        "\ufeffbom",
        "e\u0301",
        "\u00e9",
        "👩\u200d👩\u200d👧",
        "\u202eabc",
        "\uffff",
        "\U0010ffff",
        "\x01\x7f",
        "\r\n",
    ],
)
def test_text__odd_but_legal_unicode__is_taken_unchanged(text: str) -> None:
    assert SubmitShape.parse({**BODY, "text": text})["text"] == text


def test_text__counts_characters_and_not_bytes() -> None:
    assert SubmitShape.parse({**BODY, "text": "👩" * rules.MAX_TEXT})
    error = refusal(SubmitShape, {**BODY, "text": "a" * (rules.MAX_TEXT + 1)})
    assert (error.code, error.param) == ("limit.size", "text")
    assert fault(SubmitShape, {**BODY, "text": ""}) == "text"


def test_query__beyond_its_size__is_limit_size() -> None:
    error = refusal(RecallShape, {"query": "q" * 8193, "scope": "wa_1"})
    assert (error.code, error.param) == ("limit.size", "query")
    assert RecallShape.parse({"query": "q" * 8192, "scope": "wa_1"})


@pytest.mark.parametrize("missing", BODY)
def test_required_field__missing_or_null__is_named(missing: str) -> None:
    assert fault(SubmitShape, {**BODY, missing: None}) == missing
    assert fault(SubmitShape, {name: value for name, value in BODY.items() if name != missing}) == missing


def test_null__means_omitted() -> None:
    optional = set(SubmitShape().fields) - set(BODY)
    assert SubmitShape.parse({**BODY, **dict.fromkeys(optional)}) == SubmitShape.parse(BODY)
    assert RecallShape.parse({"query": "q", "scope": "wa_1", "filters": {"kind": None}, "k": None})


@pytest.mark.parametrize("name", ["Text", "text ", "state", "principal", "key_id", "tenants", "", "\ud800", "x" * 5000])
def test_unknown_field__whatever_it_is_called__is_refused_and_printable(name: str) -> None:
    error = refusal(SubmitShape, {**BODY, name: "x"})
    assert error.code == "request.validation"
    str(error.as_dict()).encode()
    assert len(error.message) < 300


@pytest.mark.parametrize("value", ["ten_other", 7, None, {"id": "ten_other"}, ["\ud800"]])
def test_tenant__wherever_it_is_sent__is_ignored(value: Any) -> None:
    assert SubmitShape.parse({**BODY, "tenant": value, "tenant_id": value}) == SubmitShape.parse(BODY)
    assert RecallShape.parse({"query": "q", "scope": "wa_1", "filters": {"tenant_id": value}})
    assert VerdictShape.parse({**VERDICT, "tenant": value}) == VerdictShape.parse(VERDICT)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"derives_from": ["art_1", 5]}, "derives_from[1]"),
        ({"derives_from": ["art_1", None]}, "derives_from[1]"),
        ({"derives_from": ["art_1", "art_2", "art_1"]}, "derives_from[2]"),
        ({"derives_from": ["art_1", "a\x00"]}, "derives_from[1]"),
        ({"derives_from": "art_1"}, "derives_from"),
        ({"derives_from": {"0": "art_1"}}, "derives_from"),
        ({"derives_from": [["art_1"]]}, "derives_from[0]"),
        ({"attachments": [{"upload_session": 5}]}, "attachments[0].upload_session"),
        ({"attachments": [{"upload_session": "ups_1"}, {}]}, "attachments[1].upload_session"),
        ({"attachments": [{"upload_session": "ups_1", "sha256": "x"}]}, "attachments[0].sha256"),
        ({"attachments": ["ups_1"]}, "attachments[0]"),
        ({"attachments": [None]}, "attachments[0]"),
        ({"attachments": [{"upload_session": "ups_1"}, {"upload_session": "ups_1"}]}, "attachments[1]"),
        ({"evidence": [{"sr_id": "sr_1", "version": "1"}]}, "evidence[0].version"),
        ({"evidence": [{"sr_id": "sr_1", "version": True}]}, "evidence[0].version"),
        ({"derives_from": [f"art_{n}" for n in range(65)]}, "derives_from"),
        ({"attachments": [{"upload_session": f"ups_{n}"} for n in range(17)]}, "attachments"),
        ({"valid_from": "2026-10-28T00:00:00Z", "valid_to": "2026-10-27T00:00:00Z"}, "valid_to"),
    ],
)
def test_nested_fault__is_named_by_its_json_path(change: dict[str, Any], path: str) -> None:
    assert fault(SubmitShape, {**BODY, **change}) == path


def test_nested_filter__unknown_or_wrong__is_named_by_its_json_path() -> None:
    recall = {"query": "q", "scope": "wa_1"}
    assert fault(RecallShape, {**recall, "filters": {"state": "held"}}) == "filters.state"
    assert fault(RecallShape, {**recall, "filters": {"kind": "steering"}}) == "filters.kind"
    assert fault(RecallShape, {**recall, "filters": []}) == "filters"
    assert fault(RecallShape, {**recall, "filters": "kind"}) == "filters"


@pytest.mark.parametrize("body", [None, [], "text", 5, True, [BODY]])
def test_request__not_an_object__is_refused(body: Any) -> None:
    assert fault(SubmitShape, body) is None


@pytest.mark.parametrize(
    "claim_key",
    ["", ".a", "-a", "_a", "/a", ":a", "a b", "a\n", "é", "a\u200b", "а", "a" * 129, "a%", "a\\", "a;", "A\x00"],
)
def test_claim_key__outside_its_grammar__is_refused(claim_key: str) -> None:
    assert fault(SubmitShape, {**BODY, "claim_key": claim_key}) == "claim_key"


@pytest.mark.parametrize("claim_key", ["a", "0", "A" * 128, "a.b_c:d/e-f", "supplier-quote-am-7741", "a//", "a.."])
def test_claim_key__inside_its_grammar__passes(claim_key: str) -> None:
    assert SubmitShape.parse({**BODY, "claim_key": claim_key})["claim_key"] == claim_key


@pytest.mark.parametrize("key", ["", " ", "a b", "a\t", "a\n", "é", "x" * 129, "a\x7f"])
def test_idempotency_key__outside_printable_ascii__is_refused(key: str) -> None:
    assert fault(SubmitShape, {**BODY, "idempotency_key": key}) == "idempotency_key"


@pytest.mark.parametrize("key", ["!", "~" * 128, "crew-procure/run-4412/step-9"])
def test_idempotency_key__printable_ascii__passes(key: str) -> None:
    assert SubmitShape.parse({**BODY, "idempotency_key": key})["idempotency_key"] == key


@pytest.mark.parametrize(
    "moment",
    [
        "2026-10-27",
        "2026-10-27T14:11:08",
        "2026-10-27T14:11Z",
        "2026-10-27T14Z",
        "2026-W44-2T14:11:08Z",
        "20261027T141108Z",
        "2026-10-27T14:11:08,5Z",
        "2026-10-27T14:11:08+01",
        "2026-10-27T14:11:08+0100",
        "2026-10-27T14:11:08+01:00:30",
        "2026-10-27X14:11:08Z",
        "2026-10-27T14:11:60Z",
        "2026-13-27T14:11:08Z",
        "2026-02-30T14:11:08Z",
        "２０２６-10-27T14:11:08Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-10-27T14:11:08Z\n",
        " 2026-10-27T14:11:08Z",
        "",
        "now",
        1_761_574_268,
        True,
        [],
    ],
)
def test_moment__not_rfc_3339_with_an_offset__is_refused(moment: Any) -> None:
    assert fault(SubmitShape, {**BODY, "occurred_at": moment}) == "occurred_at"


@pytest.mark.parametrize(
    "moment",
    [
        "2026-10-27T14:11:08Z",
        "2026-10-27t14:11:08z",
        "2026-10-27T14:11:08.000Z",
        "2026-10-27T14:11:08+00:00",
        "2026-10-27T14:11:08-00:00",
        "2026-10-27T15:11:08+01:00",
        "2026-10-27T08:41:08-05:30",
        "2026-10-27 14:11:08Z",
    ],
)
def test_moment__same_instant_in_another_spelling__is_the_same_value(moment: str) -> None:
    plain = SubmitShape.parse({**BODY, "occurred_at": "2026-10-27T14:11:08Z"})
    assert SubmitShape.parse({**BODY, "occurred_at": moment}) == plain


@pytest.mark.parametrize("shape", [LearnShape, SubmitShape])
def test_learn__another_kind__is_refused(shape: Any) -> None:
    verb = {"verb": "learn"} if shape is SubmitShape else {}
    for kind in ("memory", "steering"):
        assert fault(shape, {**BODY, **verb, "kind": kind, "derives_from": ["art_1"]}) == "kind"


def test_remember__every_kind_of_the_seed__passes_and_no_other() -> None:
    for kind in ("memory", "derived_fact", "steering"):
        assert RememberShape.parse({**BODY, "kind": kind})["kind"] == kind
    for kind in ("Memory", "claim", "", "memory "):
        assert fault(RememberShape, {**BODY, "kind": kind}) == "kind"


@pytest.mark.parametrize("word", ["promote", "escalate", "skip", "RATIFY", "", "ratify "])
def test_verdict__another_word__is_refused(word: str) -> None:
    assert fault(VerdictShape, {**VERDICT, "verdict": word}) == "verdict"

"""Known forms of records: whatever one accepts is canonical and says what it is taken to say; the rest is parsed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oml.core.canonical import canonical_json
from oml.journal.forms import Forms

RECORD: dict[str, Any] = {
    "tenant": "ten_1",
    "seq": 7,
    "event_type": "lifecycle.promote",
    "event_version": 1,
    "at": "2026-11-01T00:00:07.000001Z",
    "actor": {"key": "key_1", "principal": "pri_1"},
    "channel": "http",
    "workarea": "wa_1",
    "far_workarea": None,
    "simulation": None,
    "subject": {"artifact_id": "art_7"},
    "payload": {"closure": ["art_1", "art_2"], "inner": {"n": -3, "ok": True}, "words": None},
}


def text_of(record: dict[str, Any]) -> str:
    return canonical_json(record).decode()


def learned(record: dict[str, Any] = RECORD) -> Forms:
    forms = Forms()
    forms.learn("lifecycle.promote", record, text_of(record), "artifact_id")
    return forms


FORMS = learned()
PLAIN = text_of(RECORD)


def test_said__another_record_of_the_form__says_its_values() -> None:
    other = {**RECORD, "seq": 8, "workarea": None, "simulation": "sim_1", "subject": {"artifact_id": "art_8"}}
    said = FORMS.said("lifecycle.promote", text_of(other))
    assert said is not None
    assert (said.seq, said.workarea, said.simulation, said.subject) == ("8", None, "sim_1", "art_8")
    assert (said.principal, said.tenant, said.at) == ("pri_1", "ten_1", RECORD["at"])
    assert json.loads(said.payload) == RECORD["payload"]


@pytest.mark.parametrize(
    ("canonical", "other"),
    [
        ('"seq":7', '"seq": 7'),
        ('"seq":7', '"seq":07'),
        ('"seq":7', '"seq":7.0'),
        ('"seq":7', '"seq":7e0'),
        ('"seq":7', '"seq":٧'),
        ('"n":-3', '"n":-0'),
        ('"n":-3', '"n":+3'),
        ('"n":-3', '"n":NaN'),
        ('"n":-3', '"n":9007199254740993'),
        ('"ok":true', '"ok":True'),
        ('"ok":true', '"ok":true,"ok":true'),
        ('"wa_1"', '"wa\\u005f1"'),
        ('"wa_1"', '"wa_\t1"'),
        ('"wa_1"', '"wa_\x7f1"'),
        ('"wa_1"', "'wa_1'"),
        ('["art_1","art_2"]', '["art_1","art_2",]'),
        ('["art_1","art_2"]', '["art_1" ,"art_2"]'),
        ('"payload":{"closure"', '"payload":{"closurf"'),
        ('"channel":"http",', ""),
        ("}", "}\n"),
        ("{", "\ufeff{"),
    ],
)
def test_said__any_other_spelling__is_left_to_the_parser(canonical: str, other: str) -> None:
    assert canonical in PLAIN
    assert FORMS.said("lifecycle.promote", PLAIN.replace(canonical, other)) is None


def test_said__keys_in_another_order__is_left_to_the_parser() -> None:
    backwards = json.dumps(dict(sorted(RECORD.items(), reverse=True)), separators=(",", ":"))
    assert json.loads(backwards) == RECORD
    assert FORMS.said("lifecycle.promote", backwards) is None


def test_said__of_another_event_type__is_unknown() -> None:
    assert FORMS.said("lifecycle.demote", PLAIN) is None


@pytest.mark.parametrize(
    "strange",
    [
        {"payload": {"list": [{"deep": 1}]}},
        {"payload": {"schlüssel": 1}},
        {"subject": {"artifact_id": ["art_7"]}},
        {"subject": {"other": "art_7"}},
        {"actor": "somebody"},
    ],
)
def test_learn__a_record_that_is_not_plain__leaves_no_form(strange: dict[str, Any]) -> None:
    record = RECORD | strange
    assert learned(record).said("lifecycle.promote", text_of(record)) is None


def test_learn__more_forms_than_are_kept__forgets_the_oldest_and_still_knows_the_newest() -> None:
    forms = Forms()
    for number in range(20):
        record = {**RECORD, "payload": {f"k{number}": 1}}
        forms.learn("lifecycle.promote", record, text_of(record), "artifact_id")
        assert forms.said("lifecycle.promote", text_of(record)) is not None
    assert forms.said("lifecycle.promote", text_of({**RECORD, "payload": {"k0": 1}})) is None


SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=12)


@settings(max_examples=300)
@given(st.fixed_dictionaries(dict.fromkeys(("words", "closure", "inner"), SCALARS)), SCALARS, st.integers(1, 2**53 - 1))
def test_said__any_values__are_canonical_where_it_answers(payload: dict[str, Any], workarea: Any, seq: int) -> None:
    flat = {**RECORD, "payload": {"words": None, "closure": None, "inner": None}}
    text = text_of({**RECORD, "payload": payload, "workarea": workarea, "seq": seq})
    said = learned(flat).said("lifecycle.promote", text)
    if said is not None:
        assert (said.workarea, int(said.seq), json.loads(said.payload)) == (workarea, seq, payload)


@settings(max_examples=600)
@given(
    st.integers(0, len(PLAIN)), st.integers(0, 3), st.text('{}[]",:\\ 0123456789-+.eEtrufalsn_é\n\x00\x7f', max_size=3)
)
def test_said__a_text_changed_anywhere__is_canonical_where_it_answers(place: int, gone: int, put: str) -> None:
    text = PLAIN[:place] + put + PLAIN[place + gone :]
    said = FORMS.said("lifecycle.promote", text)
    if said is not None:
        record = json.loads(text)
        assert canonical_json(record) == text.encode()
        assert (record["seq"], record["workarea"], record["tenant"]) == (int(said.seq), said.workarea, said.tenant)

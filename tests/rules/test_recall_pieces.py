"""Statements, speakers and cues."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall import cues
from memory.recall.passages import MAX_PASSAGES, dated, passages, take_apart


def test_take_apart__a_turn__names_its_speaker() -> None:
    parts = take_apart("Caroline Smith: I went to a group. It helped.")
    assert (parts.label, parts.body) == ("caroline smith", "I went to a group. It helped.")


@pytest.mark.parametrize(
    "text", ["Note: pay by Friday.", "TODO: call them", "see https://a.b/c: there", "at 10:30 we met", "key: value", ""]
)
def test_take_apart__no_speaker__is_all_body(text: str) -> None:
    assert take_apart(text).label == ""
    assert take_apart(text).body == text


def test_take_apart__a_speaker_in_another_script__is_named() -> None:
    assert take_apart("王芳: 我去了北京。").label == "王芳"


def test_passages__sentences_of_two_scripts__are_apart() -> None:
    assert passages("Hello there. I am fine! 我去了北京。天气很好。") == [
        "Hello there.",
        "I am fine!",
        "我去了北京。",
        "天气很好。",
    ]


@given(st.lists(st.text("ab .", min_size=5, max_size=20).map(lambda t: f"word{t.strip(' .')}."), max_size=300))
def test_passages__any_number_of_sentences__is_bounded_and_loses_no_word(sentences: list[str]) -> None:
    text = " ".join(sentences)
    found = passages(text)
    assert len(found) <= MAX_PASSAGES
    assert " ".join(found).split() == text.split()


def test_dated__with_a_time__has_the_date_in_front() -> None:
    assert dated("A quote.", datetime(2026, 10, 27, 14, 0, tzinfo=UTC)) == "[2026-10-27] A quote."
    assert dated("A quote.", None) == "A quote."


@pytest.mark.parametrize(
    "query", ["When did she go?", "What month was it?", "how long ago", "Wann war das?", "いつですか"]
)
def test_asks_when__a_question_for_a_time__is_one(query: str) -> None:
    assert cues.asks_when(query)


@pytest.mark.parametrize("query", ["Where did she go when it rained?", "Whenever", "whence", "What did she buy?"])
def test_asks_when__another_question__is_not(query: str) -> None:
    assert not cues.asks_when(query)


def test_tells_time__texts__with_and_without() -> None:
    assert cues.tells_time("We met last Friday.")
    assert cues.tells_time("due 2026-11-15")
    assert not cues.tells_time("We met at the lake.")


def test_asks__the_last_sentence_decides() -> None:
    assert cues.asks("It was fun. How are you?")
    assert cues.asks("你好吗？")
    assert not cues.asks("How are you? I am fine.")


def test_names__any_word_of_a_name_in_the_query__counts() -> None:
    assert cues.names("caroline smith", cues.words("What did Caroline's sister say?"))
    assert not cues.names("carol", cues.words("What did Caroline say?"))


def test_without__a_named_speaker__leaves_what_is_asked() -> None:
    assert cues.without("What did Caroline's dog eat?", frozenset({"caroline"})) == "What did dog eat?"
    assert cues.without("Caroline", frozenset({"caroline"})) == "Caroline"

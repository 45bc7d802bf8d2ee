"""Text to terms: what the lexical arm can find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.lexer import MAX_TERM, document_terms, language_of, query_terms

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=200)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("We write C++ here", "c++"),
        ("and C#", "c#"),
        ("3 GB/s over the bus", "gb/s"),
        ("Quote ref AM-7741.", "am-7741"),
        ("node.js", "node.js"),
        ("a snake_case name", "snake_case"),
        ("call getUserName()", "getusername"),
        ("mail user@example.com", "user@example.com"),
        ("version v1.2.3", "v1.2.3"),
        ("R&D", "r&d"),
        ("412 USD/t", "usd/t"),
    ],
)
def test_document_terms__a_code_token__is_kept_whole(text: str, kept: str) -> None:
    assert kept in document_terms(text)
    assert kept in query_terms(text)


def test_document_terms__a_compound__is_found_by_its_parts_too() -> None:
    assert {"am-7741", "7741"} <= set(document_terms("AM-7741"))
    assert {"user", "name"} <= set(document_terms("getUserName"))


def test_document_terms__c_plus_plus__is_not_the_letter_c() -> None:
    assert document_terms("C++") == ["c++"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She went camping", "go camp"),
        ("two children", "child"),
        ("he bought it", "buy"),
        ("organised negotiations", "negotiation organise"),
        ("Caroline’s dog", "Caroline dogs"),
        ("CAFÉ", "café"),
        ("naïve", "naive"),
        ("ＦＵＬＬ width", "full width"),
        ("straße", "STRASSE"),
        ("они пошли в школы", "школа"),
        ("İstanbul", "istanbul"),
    ],
)
def test_query_terms__another_form_of_the_same_words__meets_the_text(one: str, other: str) -> None:
    assert set(query_terms(other)) & set(document_terms(one))
    assert set(query_terms(one)) & set(document_terms(other))


@pytest.mark.parametrize("written", ["8 May 2023", "8th of May 2023", "May 8, 2023", "May 8th, 2023", "2023-05-08"])
def test_document_terms__a_date_in_any_form__is_one_term(written: str) -> None:
    assert "2023-05-08" in document_terms(f"It was on {written}.")
    assert "2023-05" in query_terms(f"What happened {written}?")


def test_document_terms__no_such_date__is_words() -> None:
    assert "2023-13-08" not in document_terms("part 2023-13-40")
    assert document_terms("part 2023-13-40")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("东京的天气很好", "天气"),
        ("昨日は東京に行きました", "東京"),
        ("강아지를 산책시켰다", "강아지"),
        ("การประชุมวันนี้", "ประชุม"),
        ("AM7741号机器", "机器"),
        ("他姓王", "王"),
    ],
)
def test_query_terms__script_without_spaces__is_found_by_a_part(text: str, query: str) -> None:
    assert set(query_terms(query)) <= set(document_terms(text))


def test_query_terms__a_german_word_without_context__finds_the_german_text() -> None:
    text = "Ich habe das Angebot für die Häuser noch nicht gesehen."
    assert language_of(text) == "german"
    assert set(query_terms("Angebot")) & set(document_terms(text))
    assert set(query_terms("Häuser")) & set(document_terms(text))


@pytest.mark.parametrize("text", ["", "   ", "%_\\", "the of and", "?!…", "didn't", "👩‍👩‍👧"])
def test_document_terms__nothing_to_look_for__is_empty(text: str) -> None:
    assert document_terms(text) == []
    assert query_terms(text) == []


@pytest.mark.parametrize("query", ['foo(bar"', "a:b -c", "'; drop table x; --", "foo | bar & !baz", "\\", "<->", "x:*"])
def test_query_terms__the_syntax_of_some_search_language__is_text(query: str) -> None:
    assert set(document_terms(query)) <= set(query_terms(query))
    assert all(character not in "".join(query_terms(query)) for character in "()\"';|!<>*\\")


def test_document_terms__one_endless_token__keeps_its_head() -> None:
    assert document_terms("x" * 5000) == ["x" * MAX_TERM]


@given(TEXT)
def test_terms__any_text__gives_short_terms_and_the_same_ones_again(text: str) -> None:
    terms = document_terms(text)
    assert terms == document_terms(text)
    assert all(len(term) > 0 for term in terms)
    assert len(query_terms(text)) == len(set(query_terms(text)))


@given(
    st.lists(
        st.sampled_from(
            ["went", "Caroline", "C++", "AM-7741", "2023-05-08", "GB/s", "café", "东京", "школа", "children"]
        ),
        min_size=1,
    )
)
def test_query_terms__words_of_the_text__are_terms_of_the_text(words: list[str]) -> None:
    text = " ".join(words)
    assert set(query_terms(text)) & set(document_terms(text))

"""Weights that a row and a query carry into Postgres."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.bm25 import (
    K1,
    MAX_QUERY_TERMS,
    REFERENCE_LENGTH,
    ROW_BUDGET,
    SPACE,
    B,
    idf,
    lexeme_of,
    lexical_query,
    place_of,
    saturations,
    sparse,
)

PLACES = st.lists(st.integers(1, SPACE), min_size=1, max_size=60, unique=True)


def test_saturations__a_text__is_the_rows_part_of_bm25() -> None:
    terms = ["quote", "quote", "accra", "metal"]
    norm = K1 * (1 - B + B * len(terms) / REFERENCE_LENGTH)
    assert saturations(terms) == {
        place_of("quote"): pytest.approx(2 / (2 + norm)),
        place_of("accra"): pytest.approx(1 / (1 + norm)),
        place_of("metal"): pytest.approx(1 / (1 + norm)),
    }


@given(st.lists(st.text(min_size=1, max_size=8), max_size=40))
def test_saturations__any_terms__lie_between_nothing_and_full(terms: list[str]) -> None:
    weights = saturations(terms)
    assert set(weights) == {place_of(term) for term in terms}
    assert all(0 < weight < 1 for weight in weights.values())


def test_saturations__more_of_a_term__weighs_more_and_a_longer_text_less() -> None:
    word = place_of("quote")
    assert saturations(["quote", "quote", "x"])[word] > saturations(["quote", "y", "x"])[word]
    assert saturations(["quote"] + ["x"] * 50)[word] < saturations(["quote", "x"])[word]


@given(st.text(max_size=20))
def test_place_of__any_term__has_a_place_that_sparsevec_takes(term: str) -> None:
    assert 1 <= place_of(term) <= SPACE
    assert int(lexeme_of(place_of(term)), 16) == place_of(term)


def test_sparse__weights__is_a_literal_in_order_of_places() -> None:
    assert sparse({7: 0.25, 3: 1.5}) == f"{{3:1.5,7:0.25}}/{SPACE}"
    assert sparse({}) == f"{{}}/{SPACE}"


def test_idf__rarer_terms__weigh_more_and_nothing_is_negative() -> None:
    weights = [idf(1000, documents) for documents in (0, 1, 10, 500, 1000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] >= 0


def test_idf__statistics_behind_the_rows__stays_finite() -> None:
    assert idf(0, 0) > 0
    assert idf(3, 10) >= 0


def test_lexical_query__terms_known_to_be_absent__weigh_nothing() -> None:
    query = lexical_query([1, 2], rows=10, documents={1: 4, 2: 0}, absent=True)
    assert set(query.weights) == {1}
    assert query.norm == pytest.approx(math.sqrt(idf(10, 4)))


def test_lexical_query__no_term_at_all__has_no_candidates_and_divides_by_one() -> None:
    query = lexical_query([], rows=10, documents={})
    assert (query.tsquery, query.candidates, query.norm) == ("", (), 1.0)


def test_lexical_query__rare_and_common_terms__lets_the_rarest_choose_within_the_budget() -> None:
    documents = {1: 4_000, 2: 10, 3: 900, 4: 90_000}
    query = lexical_query([1, 2, 3, 4], rows=100_000, documents=documents)
    assert query.candidates == (2, 3, 1)
    assert set(query.weights) == {1, 2, 3, 4}
    assert query.tsquery == "'2' | '3' | '1'"


def test_lexical_query__only_a_common_term__still_chooses() -> None:
    assert lexical_query([4], rows=100_000, documents={4: 90_000}).candidates == (4,)


@given(PLACES, st.data())
def test_lexical_query__any_frequencies__keeps_every_bound(places: list[int], data: st.DataObject) -> None:
    documents = {place: data.draw(st.integers(0, 200_000)) for place in places}
    query = lexical_query(places, rows=200_000, documents=documents)
    assert len(query.candidates) == 1 or sum(documents[place] for place in query.candidates) <= ROW_BUDGET
    assert len(query.singled) <= MAX_QUERY_TERMS
    assert set(query.candidates) <= set(query.weights) == set(places)

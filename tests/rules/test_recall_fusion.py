"""One order out of the parts of a score."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.fusion import Row, lent, rank, shown

UNIT = st.floats(0, 1)


def row(name: str, **fields: object) -> Row:
    base = Row(name, 0.3, 0.3, 0.0, (0.0, 0.0), 0, asks=False, tells_time=False)
    return replace(base, **fields)  # type: ignore[arg-type]


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    names = draw(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8, unique=True))
    return [
        row(
            name,
            whole=draw(st.none() | st.floats(-1, 1)),
            passage=draw(st.none() | st.floats(-1, 1)),
            lexical=draw(st.floats(0, 20)),
            saturation=(draw(UNIT), draw(UNIT)),
            speaker=draw(st.sampled_from((-1, 0, 1))),
            asks=draw(st.booleans()),
            tells_time=draw(st.booleans()),
            before=tuple(draw(st.lists(st.sampled_from(names), max_size=5))),
            after=tuple(draw(st.lists(st.sampled_from(names), max_size=5))),
            eligible=draw(st.booleans()),
        )
        for name in names
    ]


def order(found: list[Row], **fields: object) -> list[str]:
    return [one.artifact_id for one in rank(found, weights=[2.0, 1.0], norm=1.0, **fields)]  # type: ignore[arg-type]


def test_rank__more_words_of_the_query__comes_first() -> None:
    assert order([row("a"), row("b", lexical=1.5)]) == ["b", "a"]


def test_rank__nearer_meaning__comes_first() -> None:
    assert order([row("a"), row("b", passage=0.8)]) == ["b", "a"]


def test_rank__equal_scores__are_ordered_by_artifact_id() -> None:
    assert order([row("b"), row("c"), row("a")]) == ["a", "b", "c"]


def test_rank__the_one_who_is_named__comes_before_others() -> None:
    assert order([row("a", speaker=-1), row("b", speaker=1), row("c")]) == ["b", "c", "a"]


def test_rank__a_text_that_only_asks__comes_after_one_that_tells() -> None:
    assert order([row("a", asks=True), row("b")]) == ["b", "a"]


def test_rank__a_question_for_a_time__prefers_a_text_that_tells_one() -> None:
    found = [row("a"), row("b", tells_time=True)]
    assert order(found, wants_time=True) == ["b", "a"]
    assert order(found) == ["a", "b"]


def test_rank__a_neighbour_that_holds_the_words__lifts_the_row_and_the_nearer_the_more() -> None:
    found = [
        row("far", before=("x", "y", "hit")),
        row("near", after=("hit",)),
        row("alone"),
        row("hit", saturation=(0.5, 0)),
    ]
    scores = {one.artifact_id: one.neighbours for one in rank(found, weights=[2.0, 1.0], norm=1.0)}
    assert scores["near"] > scores["far"] > scores["alone"] == 0


def test_rank__a_row_that_is_not_eligible__lends_its_words_and_is_no_hit() -> None:
    found = [row("a", before=("b",)), row("b", saturation=(0.9, 0.9), eligible=False)]
    scored = rank(found, weights=[1.0, 1.0], norm=1.0)
    assert [one.artifact_id for one in scored] == ["a"]
    assert scored[0].neighbours > 0


def test_rank__an_embedder_that_does_not_know_the_script__counts_for_nothing() -> None:
    assert order([row("a", passage=0.9), row("b", lexical=0.1)], trust=0.0) == ["b", "a"]


def test_lent__what_the_row_holds_already__is_not_lent_again() -> None:
    full, neighbour = row("a", saturation=(1.0, 0.0), before=("b",)), row("b", saturation=(1.0, 0.0))
    assert lent(full, {"b": neighbour}, [2.0, 1.0]) == 0


@given(rows())
def test_rank__any_rows__is_a_stable_order_of_the_eligible_ones(found: list[Row]) -> None:
    forth, back = order(found), order(list(reversed(found)))
    assert forth == back
    assert sorted(forth) == sorted(one.artifact_id for one in found if one.eligible)


@given(rows())
def test_rank__any_rows__takes_nothing_away_by_neighbours(found: list[Row]) -> None:
    assert all(one.neighbours >= 0 for one in rank(found, weights=[2.0, 1.0], norm=1.5))


@given(st.floats(-60, 60), st.floats(-60, 60))
def test_shown__any_two_scores__keep_their_order_between_0_and_1(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= shown(low) <= shown(high) <= 1


def test_shown__a_score__has_four_decimals() -> None:
    assert shown(8.0) == pytest.approx(0.5)
    assert shown(7.3) == round(shown(7.3), 4)

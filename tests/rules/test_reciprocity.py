"""Reciprocal approvals: what stands out, what does not, what is too little to say; and both implementations agree."""

from __future__ import annotations

import random
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.evidence.reciprocity import INSUFFICIENT, NOTHING, RECIPROCAL, Judgement, Who, decimal, statistics
from tests.support import verifier  # noqa: F401  (makes the verifier importable)


def who(number: int) -> Who:
    return f"key_{number}", f"pri_{number}"


def verdicts(author: int, reviewer: int, count: int, *, rejected: int = 0, start: int = 0) -> list[Judgement]:
    return [
        Judgement(f"art_{author}_{start + number}", who(author), who(reviewer), ratified=number >= rejected)
        for number in range(count)
    ]


def found(rows: list[Judgement], author: int, reviewer: int) -> dict[str, object]:
    pairs = statistics(rows)["pairs"]
    (only,) = [p for p in pairs if p["author"]["key"] == who(author)[0] and p["reviewer"]["key"] == who(reviewer)[0]]
    return dict(only)


def crew(colluding: int, others: int) -> list[Judgement]:
    """Six people, each writing; 1 and 2 approve each other ``colluding`` times, everything else is spread evenly."""
    rows: list[Judgement] = []
    for author in range(1, 7):
        partner = {1: 2, 2: 1}.get(author)
        start = 0
        for reviewer in range(1, 7):
            if reviewer == author:
                continue
            count = colluding if reviewer == partner else others
            rows += verdicts(author, reviewer, count, start=start)
            start += count
    return rows


def test_statistics__two_who_approve_each_other__stand_out_both_ways() -> None:
    rows = crew(colluding=20, others=5)
    assert found(rows, 1, 2)["finding"] == found(rows, 2, 1)["finding"] == RECIPROCAL
    assert {pair["finding"] for pair in statistics(rows)["pairs"]} == {RECIPROCAL, NOTHING}
    assert found(rows, 1, 2)["share_of_authors_approvals"] == "0.500"  # 20 of 40


def test_statistics__an_even_crew__has_nothing_notable() -> None:
    assert {pair["finding"] for pair in statistics(crew(colluding=5, others=5))["pairs"]} == {NOTHING}


def test_statistics__one_reviewer_for_an_author_one_way_only__is_not_reciprocal() -> None:
    rows = crew(colluding=5, others=5) + verdicts(1, 2, 30, start=100)
    assert found(rows, 1, 2)["finding"] == NOTHING
    assert found(rows, 1, 2)["share_of_authors_approvals"] == "0.636"


def test_statistics__below_20_submissions__says_insufficient_data_and_no_rate() -> None:
    rows = crew(colluding=5, others=5) + verdicts(7, 1, 19)
    pair = found(rows, 7, 1)
    assert pair["finding"] == INSUFFICIENT
    assert pair["share_of_authors_approvals"] is None
    assert pair["verdicts"] == {"ratified": 19, "rejected": 0, "ratify_rate": None}
    assert found(rows + verdicts(7, 1, 1, start=50), 7, 1)["finding"] == NOTHING


def test_statistics__below_5_reviewers__says_insufficient_data() -> None:
    rows = [row for reviewer in (2, 3, 4, 5) for row in verdicts(1, reviewer, 30, start=100 * reviewer)]
    assert {pair["finding"] for pair in statistics(rows)["pairs"]} == {INSUFFICIENT}
    assert statistics(rows + verdicts(1, 6, 1, start=900))["pairs"][0]["finding"] == NOTHING


def test_statistics__rejections__count_in_the_rate_and_not_in_the_share() -> None:
    rows = crew(colluding=5, others=5) + verdicts(1, 2, 6, rejected=4, start=200)
    pair = found(rows, 1, 2)
    assert pair["verdicts"] == {"ratified": 7, "rejected": 4, "ratify_rate": "0.636"}
    assert pair["share_of_authors_approvals"] == decimal(7, 27)


def test_statistics__two_keys_of_one_person__are_two_pairs_and_one_reviewer() -> None:
    rows = [*verdicts(1, 2, 3), Judgement("art_x", who(1), ("key_other", "pri_2"), ratified=True)]
    result = statistics(rows)
    assert (result["reviewers"], len(result["pairs"]), result["submissions"]) == (1, 2, 4)


@pytest.mark.parametrize(
    "part, whole, text", [(0, 7, "0.000"), (7, 7, "1.000"), (1, 3, "0.333"), (2, 3, "0.667"), (1, 2000, "0.001")]
)
def test_decimal__a_fraction__has_three_places(part: int, whole: int, text: str) -> None:
    assert decimal(part, whole) == text
    assert decimal(0, 0) is None


def test_statistics__false_alarms_by_chance__are_rare() -> None:
    """Eight even-handed reviewers, 20 submissions each, 200 crews: a false alarm is bounded by 1 in 1,000 a crew."""
    random_ = random.Random(20261129)
    alarms = 0
    for _ in range(200):
        rows = [
            Judgement(f"art_{author}_{n}", who(author), who(random_.choice([r for r in range(8) if r != author])), True)
            for author in range(8)
            for n in range(20)
        ]
        alarms += any(pair["finding"] == RECIPROCAL for pair in statistics(rows)["pairs"])
    assert alarms <= 1


def test_tail__against_the_definition__is_exact() -> None:
    from review.evidence.reciprocity import _tail_below

    for hits in range(12):
        tail = sum(comb(11, k) * 4 ** (11 - k) for k in range(hits, 12)) / 5**11
        assert _tail_below(hits, 11, 5, 1000) == (tail < 0.001)


people = st.integers(0, 6).map(who)
judgements = st.lists(
    st.builds(Judgement, st.integers(0, 200).map("art_{}".format), people, people, st.booleans()), max_size=300
)


@given(rows=judgements, repeat=st.integers(1, 4))
@settings(max_examples=60)
def test_statistics__any_verdicts__the_verifiers_own_implementation_says_the_same(
    rows: list[Judgement], repeat: int
) -> None:
    from oml_verify.reciprocity import statistics as theirs

    many = [
        Judgement(f"{row.artifact}_{n}", row.author, row.reviewer, row.ratified) for row in rows for n in range(repeat)
    ]
    assert statistics(many) == theirs([(row.artifact, row.author, row.reviewer, row.ratified) for row in many])

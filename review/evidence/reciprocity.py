"""Who approves whom: the statistics that make two people ratifying each other visible. Pure; detective only (R2).

Per ordered pair of an author and a reviewer: the verdicts each way, the rates, and the reviewer's share of all the
author's approvals. A pair stands out when in *both* directions one's approvals come from the other more often than
chance explains: under an even choice among the other reviewers the number is binomial with 1/(reviewers − 1), and
its tail is held against 1 in 1,000 divided by the number of pairs looked at (Bonferroni).

Below 20 judged submissions of an author, or 5 reviewers in all, shares and rates say nothing, and the pair says so.
Numbers are exact: rates are decimal strings made of whole numbers, since canonical JSON carries no floats.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Any

MIN_SUBMISSIONS = 20
MIN_REVIEWERS = 5
ONE_IN = 1000

INSUFFICIENT = "insufficient data"
NOTHING = "nothing notable"
RECIPROCAL = "reciprocal approvals above chance"

Who = tuple[str, str]
"""A (key, principal)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict on one submission."""

    artifact: str
    author: Who
    reviewer: Who
    ratified: bool


def statistics(judgements: Iterable[Judgement]) -> dict[str, Any]:
    """The statistics over verdicts, JSON-ready and in a fixed order.

    Args:
        judgements: every verdict on an artifact in the range, in any order.
    """
    rows = list(judgements)
    submissions: dict[Who, set[str]] = defaultdict(set)
    ratified: Counter[tuple[Who, Who]] = Counter()
    rejected: Counter[tuple[Who, Who]] = Counter()
    approvals: Counter[Who] = Counter()
    for row in rows:
        submissions[row.author].add(row.artifact)
        pair = (row.author, row.reviewer)
        (ratified if row.ratified else rejected)[pair] += 1
        approvals[row.author] += row.ratified
    reviewers = len({row.reviewer[1] for row in rows})
    pairs = sorted({*ratified, *rejected})

    def known(author: Who) -> bool:
        return reviewers >= MIN_REVIEWERS and len(submissions[author]) >= MIN_SUBMISSIONS

    looked_at = sum(known(author) and known(reviewer) for author, reviewer in pairs)

    def above_chance(author: Who, reviewer: Who) -> bool:
        hits, tries = ratified[author, reviewer], approvals[author]
        return known(author) and _tail_below(hits, tries, reviewers - 1, ONE_IN * looked_at)

    def finding(author: Who, reviewer: Who) -> str:
        if not known(author):
            return INSUFFICIENT
        return RECIPROCAL if above_chance(author, reviewer) and above_chance(reviewer, author) else NOTHING

    def row_of(author: Who, reviewer: Who) -> dict[str, Any]:
        there, back = (author, reviewer), (reviewer, author)
        return {
            "author": _who(author),
            "reviewer": _who(reviewer),
            "author_submissions": len(submissions[author]),
            "reviewer_submissions": len(submissions[reviewer]),
            "verdicts": _verdicts(ratified[there], rejected[there], known(author)),
            "verdicts_back": _verdicts(ratified[back], rejected[back], known(reviewer)),
            "share_of_authors_approvals": decimal(ratified[there], approvals[author]) if known(author) else None,
            "finding": finding(author, reviewer),
        }

    return {
        "verdicts": len(rows),
        "submissions": len({row.artifact for row in rows}),
        "reviewers": reviewers,
        "least_submissions": MIN_SUBMISSIONS,
        "least_reviewers": MIN_REVIEWERS,
        "pairs": [row_of(*pair) for pair in pairs],
    }


def decimal(part: int, whole: int) -> str | None:
    """``part / whole`` with three places, rounded half up; None of nothing."""
    if whole == 0:
        return None
    thousandths = (2000 * part + whole) // (2 * whole)
    return f"{thousandths // 1000}.{thousandths % 1000:03d}"


def _verdicts(ratified: int, rejected: int, known: bool) -> dict[str, Any]:
    rate = decimal(ratified, ratified + rejected) if known else None
    return {"ratified": ratified, "rejected": rejected, "ratify_rate": rate}


def _who(who: Who) -> dict[str, str]:
    return {"key": who[0], "principal": who[1]}


def _tail_below(hits: int, tries: int, choices: int, one_in: int) -> bool:
    """Whether P(at least ``hits`` of ``tries``), each with probability 1/choices, is below 1/one_in; exact."""
    tail: int = sum(comb(tries, k) * (choices - 1) ** (tries - k) for k in range(hits, tries + 1))
    everything: int = choices**tries
    return tail * one_in < everything

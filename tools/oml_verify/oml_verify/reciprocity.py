"""Reciprocal approvals, computed anew from the bundle's own verdicts; a second implementation, on purpose."""

from __future__ import annotations

from collections import defaultdict
from math import comb
from typing import Any

Who = tuple[str, str]
_LEAST_SUBMISSIONS, _LEAST_REVIEWERS, _ONE_IN = 20, 5, 1000


def statistics(verdicts: list[tuple[str, Who, Who, bool]]) -> dict[str, Any]:
    """The statistics over (artifact, author, reviewer, ratified)."""
    written: dict[Who, set[str]] = defaultdict(set)
    counts: dict[tuple[Who, Who], list[int]] = defaultdict(lambda: [0, 0])
    approved: dict[Who, int] = defaultdict(int)
    for artifact, author, reviewer, ratified in verdicts:
        written[author].add(artifact)
        counts[author, reviewer][0 if ratified else 1] += 1
        approved[author] += int(ratified)
    reviewers = {reviewer[1] for _, _, reviewer, _ in verdicts}
    pairs = sorted(counts)

    def enough(who: Who) -> bool:
        return len(reviewers) >= _LEAST_REVIEWERS and len(written.get(who, ())) >= _LEAST_SUBMISSIONS

    tested = [pair for pair in pairs if enough(pair[0]) and enough(pair[1])]

    def unlikely(author: Who, reviewer: Who) -> bool:
        if not enough(author):
            return False
        n, k, choices = approved[author], _of(counts, author, reviewer)[0], len(reviewers) - 1
        tail: int = sum(comb(n, i) * (choices - 1) ** (n - i) for i in range(k, n + 1))
        everything: int = choices**n
        return tail * _ONE_IN * len(tested) < everything

    rows = []
    for author, reviewer in pairs:
        if not enough(author):
            finding = "insufficient data"
        elif unlikely(author, reviewer) and unlikely(reviewer, author):
            finding = "reciprocal approvals above chance"
        else:
            finding = "nothing notable"
        there, back = _of(counts, author, reviewer), _of(counts, reviewer, author)
        rows.append(
            {
                "author": {"key": author[0], "principal": author[1]},
                "reviewer": {"key": reviewer[0], "principal": reviewer[1]},
                "author_submissions": len(written[author]),
                "reviewer_submissions": len(written.get(reviewer, ())),
                "verdicts": _row(there, enough(author)),
                "verdicts_back": _row(back, enough(reviewer)),
                "share_of_authors_approvals": _rate(there[0], approved[author]) if enough(author) else None,
                "finding": finding,
            }
        )
    return {
        "verdicts": len(verdicts),
        "submissions": len({verdict[0] for verdict in verdicts}),
        "reviewers": len(reviewers),
        "least_submissions": _LEAST_SUBMISSIONS,
        "least_reviewers": _LEAST_REVIEWERS,
        "pairs": rows,
    }


def _of(counts: dict[tuple[Who, Who], list[int]], author: Who, reviewer: Who) -> list[int]:
    return counts.get((author, reviewer), [0, 0])


def _row(count: list[int], known: bool) -> dict[str, Any]:
    rate = _rate(count[0], count[0] + count[1]) if known else None
    return {"ratified": count[0], "rejected": count[1], "ratify_rate": rate}


def _rate(part: int, whole: int) -> str | None:
    if not whole:
        return None
    number = (part * 1000 * 2 + whole) // (whole * 2)
    return f"{number // 1000}.{number % 1000:03d}"

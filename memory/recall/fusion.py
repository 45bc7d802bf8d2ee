"""From the parts of a row's score to one order: what recall ranks by, and nothing else does.

``score = whole + passage + words + speaker + question + time``, each part on a scale of its own that no other row can
move, so a row's score is the same on every page and in every scope of like words:

* *whole*, *passage*: cosine of the query with the dated text, and with its best single statement, the names of
  speakers left out on both sides;
* *words*: how much of the query's information (idf) the row holds, its neighbours in the thread helping with what
  they hold, less with every step: ``1 - Π(1 - DECAY^|step| · saturation)`` per term, so a term that the row has
  fully gains nothing from next door, and a turn between the question and the answer is still found;
* *speaker*, *question*, *time*: the cues.

Weights were fitted on conversations 26, 41, 43, 47 and 49 of LoCoMo and rounded; docs/reference/recall-quality.md has
what the others then gave. What must never happen here: a dependence on anything but the arguments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: Steps to either side in a thread that help, and how their help fades.
REACH = 4
DECAY = 0.75

WHOLE = 3.2
PASSAGE = 5.2
WORDS = 2.9
SPEAKER = 1.85
ASKS = -1.0
TELLS_TIME = 2.8
#: Where a score of one half lies, and how fast it rises: only for the number that callers see.
MIDDLE = 8.0
SLOPE = 0.35


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a row for one query.

    Attributes:
        whole, passage: cosines; None where the row has no vector to compare.
        lexical: idf-weighted sum over all terms of the query.
        saturation: saturations of the singled-out terms, in the query's order.
        speaker: 1 named in the query, -1 somebody else is named, 0 nobody is.
        before, after: ids of its neighbours in the thread, nearest first.
        eligible: may be a hit; rows that are not only lend their words.
    """

    artifact_id: str
    whole: float | None
    passage: float | None
    lexical: float
    saturation: Sequence[float]
    speaker: int
    asks: bool
    tells_time: bool
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    eligible: bool = True


@dataclass(frozen=True, slots=True)
class Scored:
    """A row's place in the answer and where it comes from."""

    artifact_id: str
    score: float
    lexical: float
    vector: float
    neighbours: float


def rank(
    rows: Sequence[Row], *, weights: Sequence[float], norm: float, trust: float = 1.0, wants_time: bool = False
) -> list[Scored]:
    """Order rows, best first; ties by artifact_id.

    Args:
        rows: candidates and the neighbours that were fetched with them.
        weights: idf of the singled-out terms, in the order of every row's ``saturation``.
        norm: :attr:`memory.recall.bm25.LexicalQuery.norm`.
        trust: how far the embedder knows the query's script; scales both cosines.
        wants_time: the query asks for a time.
    """
    known = {row.artifact_id: row for row in rows}
    scored = [
        _scored(row, known, weights=weights, norm=norm, trust=trust, wants_time=wants_time)
        for row in rows
        if row.eligible
    ]
    return sorted(scored, key=lambda one: (-one.score, one.artifact_id))


def _scored(
    row: Row, known: Mapping[str, Row], *, weights: Sequence[float], norm: float, trust: float, wants_time: bool
) -> Scored:
    vector = trust * (WHOLE * (row.whole or 0.0) + PASSAGE * (row.passage or 0.0))
    cues = SPEAKER * row.speaker + (ASKS if row.asks else 0.0) + (TELLS_TIME if wants_time and row.tells_time else 0.0)
    lexical = WORDS * row.lexical / norm
    neighbours = WORDS * lent(row, known, weights) / norm
    return Scored(row.artifact_id, lexical + neighbours + vector + cues, lexical + cues, vector, neighbours)


def lent(row: Row, known: Mapping[str, Row], weights: Sequence[float]) -> float:
    """What the neighbourhood adds to a row's own words; never negative."""
    steps = [
        (DECAY ** (distance + 1), known[name].saturation)
        for side in (row.before, row.after)
        for distance, name in enumerate(side[:REACH])
        if name in known
    ]
    total = 0.0
    for index, weight in enumerate(weights):
        missing = 1.0
        for fade, saturation in steps:
            missing *= 1.0 - fade * saturation[index]
        total += weight * (1.0 - row.saturation[index]) * (1.0 - missing)
    return total


def shown(score: float) -> float:
    """The score as callers see it, between 0 and 1, in the same order, four decimals."""
    return round(1.0 / (1.0 + math.exp(-SLOPE * (score - MIDDLE))), 4)

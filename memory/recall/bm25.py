"""BM25 with nothing but pgvector: a row stores its term weights, a query its inverse document frequencies.

A row's ``sparsevec`` holds, per term, the part of BM25 that the row alone decides, ``tf / (tf + K)`` with
``K = k1 · (1 - b + b · length / REFERENCE_LENGTH)``: between 0 and 1, how far the term is saturated. The query's
holds ``idf``; their inner product is the score. The length is compared with a constant and not with a running
average, so one text has one row whatever else is stored (measured: as good on chat turns and better on abstracts).

Terms are hashed into 2^28 places; the same numbers, in hexadecimal, are the lexemes of the tsvector, so no word of a
text stands in the index or in the statistics. What must never happen here: a weight that depends on when a row was
written.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

K1 = 0.9
B = 0.4
REFERENCE_LENGTH = 30
#: Places that terms are hashed into; a pgvector sparsevec may have 10^9.
SPACE = 1 << 28
#: Expected rows that the lexical arm may look at; the rarest terms fill it first.
ROW_BUDGET = 5_000
#: A query's terms that are looked at one by one in a row's neighbourhood; the rest counts in the row alone.
MAX_QUERY_TERMS = 24


def place_of(term: str) -> int:
    """Where a term lives, 1 to ``SPACE``: the first 28 bits of its SHA-256, plus one."""
    return (int.from_bytes(hashlib.sha256(term.encode("utf-8", "surrogatepass")).digest()[:4], "big") >> 4) + 1


def lexeme_of(place: int) -> str:
    """The place as it stands in a tsvector."""
    return f"{place:x}"


def saturations(terms: Iterable[str]) -> dict[int, float]:
    """A text's weights by place.

    Args:
        terms: from :func:`memory.recall.lexer.document_terms`, with repeats.
    """
    frequency = Counter(place_of(term) for term in terms)
    norm = K1 * (1 - B + B * frequency.total() / REFERENCE_LENGTH)
    return {place: count / (count + norm) for place, count in frequency.items()}


def sparse(weights: Mapping[int, float]) -> str:
    """A sparsevec literal."""
    return "{" + ",".join(f"{place}:{weights[place]:.6g}" for place in sorted(weights)) + f"}}/{SPACE}"


def idf(rows: int, documents: int) -> float:
    """Inverse document frequency, never negative; a term seen nowhere counts as the rarest one."""
    rows = max(rows, documents, 1)
    return math.log(1 + (rows - documents + 0.5) / (documents + 0.5))


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """A query as the index understands it.

    Attributes:
        weights: idf by place.
        candidates: places of the rarest terms, which choose the rows.
        singled: places looked at one by one, heaviest first.
        norm: square root of the summed idf: what makes scores of short and long queries comparable.
    """

    weights: Mapping[int, float]
    candidates: tuple[int, ...]
    singled: tuple[int, ...]
    norm: float

    @property
    def tsquery(self) -> str:
        """The candidates as an OR; empty when there is none."""
        return " | ".join(f"'{lexeme_of(place)}'" for place in self.candidates)


def lexical_query(
    places: Sequence[int], *, rows: int, documents: Mapping[int, int], absent: bool = False
) -> LexicalQuery:
    """Weigh a query.

    Args:
        places: its distinct terms.
        rows: how many rows the document frequencies were counted over.
        documents: document frequency by place; a place that is not there was counted in no row.
        absent: whether a place without a frequency is certainly in no row (an exact count says so), and so
            weighs nothing.
    """
    weights = {place: idf(rows, documents.get(place, 0)) for place in places if documents.get(place, 0) or not absent}
    rarest = sorted(weights, key=lambda place: (documents.get(place, 0), place))
    candidates: list[int] = []
    expected = 0
    for place in rarest:
        expected += documents.get(place, 0)
        if candidates and expected > ROW_BUDGET:
            break
        candidates.append(place)
    norm = math.sqrt(sum(weights.values()))
    return LexicalQuery(weights, tuple(candidates), tuple(rarest[:MAX_QUERY_TERMS]), norm or 1.0)

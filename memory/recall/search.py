"""Candidates by two arms, then everything about them: four statements whatever is stored (design: retrieval, Index).

Both arms can find a row alone: the nearest by meaning, the heaviest by words. Small scopes are scanned exactly, since
an approximate index loses what lies far from everything else; above :data:`EXACT_ROWS` the arms are HNSW with a high
``ef_search``, never without iterative scan, and the rarest terms within a row budget. Then both scores are computed
for all candidates and for their neighbours in their threads. Work is bounded by constants, not by rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from memory.recall import cues, statistics
from memory.recall.bm25 import LexicalQuery, lexeme_of, lexical_query, place_of, sparse
from memory.recall.fusion import PASSAGE, REACH, WHOLE, WORDS, Row
from memory.recall.reach import Clause

#: Up to here a scope is scanned; measured crossing with HNSW, see docs/reference/recall-quality.md.
EXACT_ROWS = 10_000
#: Up to here a scope counts its own document frequencies instead of reading the tenant's.
OWN_FREQUENCIES = 1_000
OWN_FREQUENCY_TERMS = 64
PER_ARM = 200
#: Candidates whose threads are looked into.
SEEDS = 100

_SETTINGS = """
SELECT set_config('hnsw.ef_search', '400', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('jit', 'off', true)
"""
# Wider than the reach by what validity and fences take away, so that the path index alone answers it; node and
# descendants apart, because an OR of the two makes it read the whole tenant.
_SIZE = """
SELECT count(*) FROM (
    SELECT 1 FROM memory_servingrow WHERE promoted AND tenant_id = %(tenant)s AND path = %(node)s
    UNION ALL
    SELECT 1 FROM memory_servingrow WHERE promoted AND tenant_id = %(tenant)s AND path LIKE %(node_below)s
    LIMIT %(size_limit)s
) AS few
"""
_WHOLE = "CASE WHEN r.model_id = %(model)s THEN 1 - (r.embedding <=> %(vector)s::halfvec) END"
_WORDS = "-(r.lexical <#> %(idf)s::sparsevec)"
_HOLDS = "r.lexemes @@ %(tsquery)s::tsquery"
# A small scope: every row is scored once, and what is kept of it are its numbers.
_EXACT = f"""
WITH scope AS MATERIALIZED (
    SELECT r.artifact_id, r.label, r.windowed, {_WHOLE} AS whole, {_WORDS} AS words, {_HOLDS} AS holds
    FROM memory_servingrow r WHERE {{where}}
), chosen AS (
    (SELECT artifact_id FROM scope WHERE whole IS NOT NULL ORDER BY whole DESC, artifact_id LIMIT %(per_arm)s)
    UNION (SELECT artifact_id FROM scope WHERE holds ORDER BY words DESC, artifact_id LIMIT %(per_arm)s)
    UNION (SELECT s.artifact_id FROM scope s JOIN memory_passage p ON p.row_id = s.artifact_id
           WHERE s.windowed AND s.whole IS NOT NULL AND p."window"
           ORDER BY (p.embedding <=> %(vector)s::halfvec) + 0 LIMIT %(per_arm)s)
)
SELECT artifact_id, label, whole, words FROM chosen JOIN scope USING (artifact_id)
"""  # noqa: S608
# A large one: the approximate index for meaning, which iterates until it has enough, and the rarest terms for words.
_APPROXIMATE = f"""
WITH chosen AS (
    (SELECT r.artifact_id FROM memory_servingrow r WHERE {{where}} AND r.model_id = %(model)s
     ORDER BY r.embedding <=> %(vector)s::halfvec LIMIT %(per_arm)s)
    UNION (SELECT r.artifact_id FROM memory_servingrow r WHERE {{where}} AND {_HOLDS}
           ORDER BY r.lexical <#> %(idf)s::sparsevec, r.artifact_id LIMIT %(per_arm)s)
    UNION (SELECT r.artifact_id FROM memory_passage p JOIN memory_servingrow r ON r.artifact_id = p.row_id
           WHERE {{where}} AND r.model_id = %(model)s AND p.promoted AND p."window"
           ORDER BY p.embedding <=> %(vector)s::halfvec LIMIT %(per_arm)s)
)
SELECT r.artifact_id, r.label, {_WHOLE}, {_WORDS} FROM chosen JOIN memory_servingrow r USING (artifact_id)
"""  # noqa: S608

_PARTS = """
WITH seed AS MATERIALIZED (
    SELECT artifact_id, workarea_id, thread, position FROM memory_servingrow
    WHERE artifact_id = ANY(%(seeds)s) AND thread IS NOT NULL
), near AS MATERIALIZED (
    SELECT s.artifact_id, coalesce(b.ids, '{{}}') AS before, coalesce(a.ids, '{{}}') AS after
    FROM seed s
    CROSS JOIN LATERAL (SELECT array_agg(n.artifact_id) AS ids FROM (
        SELECT r.artifact_id FROM memory_servingrow r
        WHERE r.workarea_id = s.workarea_id AND r.thread = s.thread
          AND (r.position, r.artifact_id) < (s.position, s.artifact_id) AND {reach}
        ORDER BY r.position DESC, r.artifact_id DESC LIMIT %(steps)s) AS n) AS b
    CROSS JOIN LATERAL (SELECT array_agg(n.artifact_id) AS ids FROM (
        SELECT r.artifact_id FROM memory_servingrow r
        WHERE r.workarea_id = s.workarea_id AND r.thread = s.thread
          AND (r.position, r.artifact_id) > (s.position, s.artifact_id) AND {reach}
        ORDER BY r.position, r.artifact_id LIMIT %(steps)s) AS n) AS a
), wanted AS MATERIALIZED (
    SELECT unnest(%(found)s::text[]) AS artifact_id UNION SELECT unnest(before || after) FROM near
)
SELECT r.artifact_id, r.label, r.asks, r.tells_time,
    {whole},
    CASE WHEN r.model_id = %(model)s THEN
        (SELECT 1 - min(p.embedding <=> %(statement)s::halfvec)
         FROM memory_passage p WHERE p.row_id = r.artifact_id) END,
    CASE WHEN r.model_id = %(model)s THEN 1 - (r.embedding <=> %(statement)s::halfvec) END,
    {words},
    ARRAY[{singled}]::real[],
    coalesce(near.before, '{{}}'), coalesce(near.after, '{{}}'),
    {filters}
FROM wanted JOIN memory_servingrow r ON r.artifact_id = wanted.artifact_id
LEFT JOIN near ON near.artifact_id = r.artifact_id
"""


@dataclass(slots=True)
class Question:
    """A query in both of the index's languages.

    Attributes:
        text: as asked.
        places: its distinct terms.
        vector: of the query; None while the embedder is away.
        model_id: whose vectors it may be compared with.
    """

    text: str
    places: tuple[int, ...]
    vector: NDArray[np.float32] | None
    model_id: str = ""
    words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.words = cues.words(self.text)


@dataclass(frozen=True, slots=True)
class Found:
    """The first pass: candidates with their label, and what the words weigh."""

    candidates: dict[str, str]
    seeds: list[str]
    lexical: LexicalQuery


def question(text: str, terms: Sequence[str], vector: NDArray[np.float32] | None, model_id: str) -> Question:
    """Put a query together; places in the order of the terms."""
    return Question(text, tuple(dict.fromkeys(place_of(term) for term in terms)), vector, model_id)


def tune() -> None:
    """Settings of the running transaction that both arms rest on."""
    with connection.cursor() as cursor:
        cursor.execute(_SETTINGS)


def find(asked: Question, reach: Clause, filters: Clause) -> Found:
    """Candidates of both arms and what the query's words weigh in this scope; three statements."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZE, {**reach.params, "size_limit": EXACT_ROWS + 1})
        size = cursor.fetchone()[0]
    lexical = _weigh(asked, reach, size)
    sql = _EXACT if size <= EXACT_ROWS else _APPROXIMATE
    with connection.cursor() as cursor:
        cursor.execute(
            sql.format(where=f"{reach.sql} AND ({filters.sql})"),
            {
                **reach.params,
                **filters.params,
                **_vectors(asked, asked.vector),
                "tsquery": lexical.tsquery,
                "idf": sparse(lexical.weights),
                "per_arm": PER_ARM,
            },
        )
        rows = {row[0]: row for row in cursor.fetchall()}
    first = {
        name: (WHOLE + PASSAGE) * (whole or 0.0) + WORDS * words / lexical.norm
        for name, _, whole, words in rows.values()
    }
    seeds = sorted(first, key=lambda name: (-first[name], name))[:SEEDS]
    return Found({name: row[1] for name, row in rows.items()}, seeds, lexical)


def look(
    asked: Question,
    found: Found,
    reach: Clause,
    filters: Clause,
    statement: NDArray[np.float32] | None,
    named: frozenset[str],
) -> list[Row]:
    """Everything about the candidates and their neighbours; one statement.

    Args:
        asked: the query.
        found: the first pass.
        reach, filters: as there; neighbours are read inside the same reach.
        statement: vector of the query without the names of speakers.
        named: labels that the query mentions.
    """
    units = {f"unit{number}": sparse({place: 1.0}) for number, place in enumerate(found.lexical.singled)}
    sql = _PARTS.format(
        whole=_WHOLE,
        words=_WORDS,
        reach=reach.sql,
        filters=filters.sql,
        singled=", ".join(f"-(r.lexical <#> %({name})s::sparsevec)" for name in units),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            sql,
            {
                **reach.params,
                **filters.params,
                **_vectors(asked, asked.vector, statement),
                **units,
                "idf": sparse(found.lexical.weights),
                "found": list(found.candidates),
                "seeds": found.seeds,
                "steps": REACH,
            },
        )
        return [_row_of(values, named) for values in cursor.fetchall()]


def _row_of(values: Sequence[Any], named: frozenset[str]) -> Row:
    name, label, asks, tells_time, whole, passage, of_whole, lexical, saturation, before, after, eligible = values
    best = max((one for one in (passage, of_whole) if one is not None), default=None)
    speaker = 0 if not named or not label else 1 if label in named else -1
    return Row(
        name, whole, best, lexical, saturation, speaker, asks, tells_time, before, after, eligible=bool(eligible)
    )


def _weigh(asked: Question, reach: Clause, size: int) -> LexicalQuery:
    """Document frequencies of the scope itself where it is small, else the tenant's; one statement either way."""
    places = asked.places
    if size > OWN_FREQUENCIES or not 0 < len(places) <= OWN_FREQUENCY_TERMS:
        rows, documents = statistics.frequencies(reach.params["tenant"], places)
        return lexical_query(places, rows=rows, documents=documents)
    counts = ", ".join(f"count(*) FILTER (WHERE r.lexemes @@ '''{lexeme_of(place)}'''::tsquery)" for place in places)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*), {counts} FROM memory_servingrow r WHERE {reach.sql}", reach.params)  # noqa: S608
        rows, *found = cursor.fetchone()
    return lexical_query(places, rows=rows, documents=dict(zip(places, found, strict=True)), absent=True)


def _vectors(
    asked: Question, vector: NDArray[np.float32] | None, statement: NDArray[np.float32] | None = None
) -> dict[str, Any]:
    """Vector parameters; without a vector the model id matches no row, so nothing is compared."""
    if vector is None:
        return {"vector": None, "statement": None, "model": "\x01none"}
    return {
        "vector": literal(vector),
        "statement": literal(vector if statement is None else statement),
        "model": asked.model_id,
    }


def literal(vector: NDArray[np.float32]) -> str:
    """A vector literal for SQL written by hand."""
    return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"

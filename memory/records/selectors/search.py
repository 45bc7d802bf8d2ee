"""The chunks of a principal's live records that answer a question: by words and by meaning, the best one of a record.

Both arms can find a record alone, and however many chunks of one record match it takes one place among the candidates,
so a long document never stands before everything else. Up to :data:`EXACT_CHUNKS` in the scope (a principal's records
that have the lanes, properties and so on that were asked for) every vector is compared: an approximate index loses what
lies far from the rest, and a small scope inside a large index all the more. Above, HNSW with a high ``ef_search`` and
iterative scan; where that gives up before it has enough, because the scope is a small part of what it walks through,
the scope is scanned after all. So a filter costs time and never an answer.

What must never happen here: a chunk outside the scope, in an answer or in what orders it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from memory.recall.bm25 import LexicalQuery, sparse
from memory.records.models import Record

#: Up to here every vector of a scope is compared; as recall's, whose vectors and index these are.
EXACT_CHUNKS = 10_000
#: Records that each arm proposes.
PER_ARM = 200
#: Chunks that the index hands out for them: a record has up to EMBED_MAX_CHUNKS of them.
FROM_INDEX = 4 * PER_ARM
#: How far meaning and words count; the weights of recall, whose vectors and numbers these are.
MEANING, WORDS = 8.4, 2.9

_SETTINGS = """
SELECT set_config('hnsw.ef_search', '400', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('jit', 'off', true)
"""
_SCOPE = "c.owner_id = %s AND c.record_id IN ({live})"
_SIZE = "SELECT count(*) FROM (SELECT 1 FROM memory_recordchunk c WHERE {scope} LIMIT %s) AS few"
# The inner order keeps the index out: every vector of the scope is compared.
_NEAR_EXACTLY = """
SELECT id FROM (
    SELECT DISTINCT ON (c.record_id) c.id, c.embedding <=> %s::halfvec AS distance
    FROM memory_recordchunk c WHERE {scope} AND c.model_id = %s ORDER BY c.record_id, distance, c.id
) AS best ORDER BY distance, id LIMIT %s
"""
_NEAR_BY_INDEX = """
SELECT c.id, c.record_id, c.embedding <=> %s::halfvec AS distance
FROM memory_recordchunk c WHERE {scope} AND c.model_id = %s ORDER BY c.embedding <=> %s::halfvec LIMIT %s
"""
_SAID = """
SELECT id FROM (
    SELECT DISTINCT ON (c.record_id) c.id, c.lexical <#> %s::sparsevec AS weight
    FROM memory_recordchunk c WHERE {scope} AND c.lexemes @@ %s::tsquery ORDER BY c.record_id, weight, c.id
) AS best ORDER BY weight, id LIMIT %s
"""
_PARTS = """
SELECT c.record_id, c.id, -(c.lexical <#> %s::sparsevec),
       CASE WHEN c.model_id = %s THEN 1 - (c.embedding <=> %s::halfvec) END
FROM memory_recordchunk c WHERE c.id = ANY(%s)
"""
#: No model's name, so nothing is compared with a vector that is not there.
_NO_MODEL = "\x01none"


@dataclass(frozen=True, slots=True)
class Question:
    """A question in both languages of the index.

    Attributes:
        words: its terms, weighed.
        vector: of its meaning; None while the embedder is away.
        model_id: whose vector.
        trust: how far that model knows the question's language.
    """

    words: LexicalQuery
    vector: NDArray[np.float32] | None
    model_id: str
    trust: float


@dataclass(frozen=True, slots=True)
class Best:
    """A record's best chunk."""

    score: float
    chunk: int


def best_chunks(owner_id: str, live: QuerySet[Record], asked: Question, *, least: int) -> dict[str, Best]:
    """Candidates of both arms, each by its best chunk.

    Args:
        owner_id: whose records.
        live: the scope.
        asked: the question.
        least: how many records the answer wants.
    """
    try:
        sql, params = live.values("pk").order_by().query.sql_with_params()
    except EmptyResultSet:  # what no record can have, such as an authority beyond the column's numbers
        return {}
    scope = _Scope(_SCOPE.format(live=sql), [owner_id, *params])
    with transaction.atomic():
        _run(_SETTINGS)
        chosen = {chunk for (chunk,) in _said(scope, asked)} | set(_near(scope, asked, least))
        rows = _run(_PARTS, sparse(asked.words.weights), _model(asked), _literal(asked), list(chosen))
    best: dict[str, Best] = {}
    for record, chunk, words, close in rows:
        score = round(WORDS * words / asked.words.norm + MEANING * asked.trust * (close or 0.0), 6)
        if record not in best or score > best[record].score:
            best[record] = Best(score, chunk)
    return best


@dataclass(frozen=True, slots=True)
class _Scope:
    sql: str
    params: list[Any]

    def run(self, statement: str, before: Sequence[Any], after: Sequence[Any]) -> list[tuple[Any, ...]]:
        """A statement with the scope in it, its own parameters before and after the scope's."""
        return _run(statement.format(scope=self.sql), *before, *self.params, *after)


def _said(scope: _Scope, asked: Question) -> list[tuple[Any, ...]]:
    if not asked.words.candidates:
        return []
    return scope.run(_SAID, [sparse(asked.words.weights)], [asked.words.tsquery, PER_ARM])


def _near(scope: _Scope, asked: Question, least: int) -> list[int]:
    if asked.vector is None:
        return []
    literal = _literal(asked)
    ((size,),) = scope.run(_SIZE, [], [EXACT_CHUNKS + 1])
    if size > EXACT_CHUNKS:
        rows = scope.run(_NEAR_BY_INDEX, [literal], [asked.model_id, literal, FROM_INDEX])
        nearest: dict[str, int] = {}
        for chunk, record, _ in sorted(rows, key=lambda row: (row[2], row[0])):  # the index's order is a loose one
            nearest.setdefault(record, chunk)
        if len(rows) == FROM_INDEX and len(nearest) >= least:
            return list(nearest.values())[:PER_ARM]
    return [chunk for (chunk,) in scope.run(_NEAR_EXACTLY, [literal], [asked.model_id, PER_ARM])]


def _run(statement: str, *params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _model(asked: Question) -> str:
    return asked.model_id if asked.vector is not None else _NO_MODEL


def _literal(asked: Question) -> str | None:
    return None if asked.vector is None else "[" + ",".join(f"{value:.7g}" for value in asked.vector.tolist()) + "]"

"""Gather and timeline: a principal's own live records, by question, property, lane, source type, authority, time.

Words and meaning each find a record alone, by the same lexer, weights and model as recall. Every chunk is searched
by its words; by meaning only what has a vector. What must never happen here: a record of another principal, or a
removed one, in an answer or in what orders it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from memory.recall.bm25 import LexicalQuery, lexeme_of, lexical_query, place_of
from memory.recall.embedders import EmbedderUnavailable, embedder
from memory.recall.lexer import query_terms
from memory.records import content, derive, lanes, rules
from memory.records.models import Record, RecordChunk, RecordEntry, RecordProperty, RecordTag
from memory.records.selectors.reading import bodies_of
from memory.records.selectors.search import Best, Question, best_chunks
from oml.core.actor import Actor
from oml.core.clock import rfc3339
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access
from workareas.verbs import Verb

logger = logging.getLogger(__name__)

MAX_K = 50
MAX_LIMIT = 100
MAX_TERMS = 64
#: Contents up to this many bytes come whole; of longer ones the best chunk, and its record says so.
MAX_SHOWN = 32 * 1024


@dataclass(frozen=True, slots=True)
class GatherQuery:
    query: str | None = None
    properties: tuple[rules.Property, ...] = ()
    lanes: tuple[str, ...] = ()
    source_type: str | None = None
    min_authority: int | None = None
    k: int = 10


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    since: datetime | None = None
    until: datetime | None = None
    properties: tuple[rules.Property, ...] = ()
    lanes: tuple[str, ...] = ()
    order: str = "asc"
    limit: int = 20
    cursor: str | None = None


def gather(actor: Actor, *, query: GatherQuery) -> dict[str, Any]:
    """The records that answer a question best, or the newest ones.

    Args:
        actor: any key that may read; its principal's records are searched.
        query: a question in words, and what every record must have: all of ``properties`` (declared ones, or tags
            that the extractors found), one of ``lanes``, a source type, an authority.

    Returns:
        ``records``: the seed's fields of each, ``score`` where there was a question, ``chunks_without_vector`` where
        meaning cannot see all of it, ``content_truncated`` where the content is its best chunk; ``degraded``.

    Raises:
        CeilingExceeded: ``limit.ceiling``; k above 50.
        Validation: ``request.validation``; k below 1.
        LaneNotFound: ``access.not_found``.
        VerbCeiling: ``access.verb_ceiling``.
    """
    check_range("k", query.k, most=MAX_K)
    rows = _live(actor, properties=query.properties, lane_names=query.lanes)
    if query.source_type is not None:
        rows = rows.filter(source_type=query.source_type)
    if query.min_authority is not None:
        rows = rows.filter(authority__gte=query.min_authority)
    if query.query is None:
        newest = rows.order_by("-ingested_at", "sr_id")[: query.k]
        return {"records": _bodies(list(newest), {})}
    vector, model_id, trust = _embed(query.query)
    asked = Question(_weigh(actor, query.query), vector, model_id, trust)
    best = best_chunks(actor.principal_id, rows, asked, least=query.k)
    # Asked for once more in the scope: a record removed meanwhile is no answer.
    found = list(rows.filter(pk__in=best))
    found.sort(key=lambda one: (-best[one.pk].score, -one.authority, -one.ingested_at.timestamp(), one.pk))
    answer: dict[str, Any] = {"records": _bodies(found[: query.k], best)}
    if vector is None:
        answer["degraded"] = ["vector"]
    return answer


def timeline(actor: Actor, *, query: TimelineQuery) -> dict[str, Any]:
    """Live records by the time they were ingested, in pages.

    Raises:
        CeilingExceeded: ``limit.ceiling``; limit above 100.
        Validation: ``request.validation``; limit below 1, or a cursor that is not this key's.
        LaneNotFound, VerbCeiling: as :func:`gather`.
    """
    check_range("limit", query.limit, most=MAX_LIMIT)
    rows = _live(actor, properties=query.properties, lane_names=query.lanes)
    if query.since is not None:
        rows = rows.filter(ingested_at__gte=query.since)
    if query.until is not None:
        rows = rows.filter(ingested_at__lte=query.until)
    filters: dict[str, Any] = {
        "view": "timeline",
        "since": rfc3339(query.since) if query.since else None,
        "until": rfc3339(query.until) if query.until else None,
        "properties": rules.spelled(query.properties),
        "lanes": list(query.lanes),
        "order": query.order,
    }
    rising = query.order == "asc"
    pages: Pages[Record] = Pages(cursor_key(), actor.key_id, filters, lambda one: [one.ingested_at.isoformat(), one.pk])
    if (behind := pages.behind(query.cursor)) is not None:
        at, sr_id = behind
        moment, side = datetime.fromisoformat(at), "gt" if rising else "lt"
        rows = rows.filter(Q(**{f"ingested_at__{side}": moment}) | Q(ingested_at=moment, **{f"sr_id__{side}": sr_id}))
    ordered = rows.order_by("ingested_at", "sr_id") if rising else rows.order_by("-ingested_at", "-sr_id")
    page, cursor = pages.cut(ordered[: query.limit + 1], query.limit)
    return {"records": _bodies(page, {}), "next_cursor": cursor}


def _live(actor: Actor, *, properties: Sequence[rules.Property], lane_names: Sequence[str]) -> QuerySet[Record]:
    access.require_role(actor, Verb.READ)
    rows: QuerySet[Record] = Record.objects.own(actor.tenant_id, actor.principal_id).filter(deleted=False)
    for label, value in properties:
        declared = RecordProperty.objects.filter(record=OuterRef("pk"), label=label, value=value)
        derived = RecordTag.objects.filter(record=OuterRef("pk"), tag=f"{label}:{value}")
        rows = rows.filter(Exists(declared) | Exists(derived))
    if lane_names:
        found = [lanes.find_lane(actor, name, param=f"lanes[{at}]").pk for at, name in enumerate(lane_names)]
        rows = rows.filter(lane__in=found)
    return rows


def _embed(query: str) -> tuple[NDArray[np.float32] | None, str, float]:
    try:
        model = embedder(settings.OML_EMBEDDER)
        return derive.mean(model.embed(model.windows(query))), model.model_id, model.knows(query)
    except EmbedderUnavailable as error:
        logger.warning("gather without vectors: %s", type(error).__name__)
        return None, "", 0.0


def _weigh(actor: Actor, query: str) -> LexicalQuery:
    """The query's terms by how rare they are among this principal's own chunks."""
    places = list(dict.fromkeys(place_of(term) for term in query_terms(query)))[:MAX_TERMS]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM memory_recordchunk WHERE owner_id = %(owner)s UNION ALL "
            "SELECT * FROM (SELECT (SELECT count(*) FROM memory_recordchunk c WHERE c.owner_id = %(owner)s "
            "AND c.lexemes @@ term::tsquery) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS asked(term, at) "
            "ORDER BY at) AS counted",
            {"owner": actor.principal_id, "terms": [f"'{lexeme_of(place)}'" for place in places]},
        )
        (rows,), *documents = cursor.fetchall()
    frequencies = {place: count for place, (count,) in zip(places, documents, strict=True)}
    return lexical_query(places, rows=rows, documents=frequencies, absent=True)


def _bodies(records: Sequence[Record], best: Mapping[str, Best]) -> list[dict[str, Any]]:
    entries = RecordEntry.objects.in_bulk([record.head_id for record in records])
    covered = derive.coverage([record.pk for record in records])
    whole = {record.head_id for record in records if record.size <= MAX_SHOWN}
    long = [record.pk for record in records if record.head_id not in whole and record.pk in best]
    texts = dict(RecordChunk.objects.filter(pk__in=[best[pk].chunk for pk in long]).values_list("record_id", "text"))
    bodies = bodies_of([entries[record.head_id] for record in records], whole)
    for record, body in zip(records, bodies, strict=True):
        if record.head_id not in whole:
            body["content"] = texts.get(record.pk) or _opening(record)
            body["content_truncated"] = True
        mine = covered.get(record.pk)
        if mine is not None and mine["vectors"] < mine["chunks"]:
            body["chunks_without_vector"] = mine["chunks"] - mine["vectors"]
        if record.pk in best:
            body["score"] = best[record.pk].score
    return bodies


def _opening(record: Record) -> str:
    stored = content.stored(record.pk, record.content_sha256, record.size)
    text = stored if isinstance(stored, str) else next(stored.text(), "") if stored is not None else ""
    return text[:1200]

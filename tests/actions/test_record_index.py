"""The approximate index of records costs no answer: a filter, a stranger's records and a long document lose nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.recall.embedders import EmbedderUnavailable, embedder, substitute
from memory.records import derive
from memory.records.models import Record, RecordChunk
from memory.records.selectors import search
from oml.jobs import outbox
from tests.support.records import Records
from tests.support.world import World

pytestmark = pytest.mark.django_db

QUERY = "an animal that people keep at home"
ANIMALS = ("cat", "dog", "parrot", "hamster", "goldfish", "rabbit", "canary", "tortoise")


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


def gather(records: Records, **asked: Any) -> list[str]:
    answer = records.call("POST", "/v1/records/gather", {"k": 50, **asked})
    assert answer.status_code == 200, answer.content
    return [one["sr_id"] for one in answer.json()["records"]]


def statement(queries: CaptureQueriesContext, part: str) -> list[str]:
    return [query["sql"] for query in queries.captured_queries if part in query["sql"]]


def crowd(owner: str, record: str, count: int) -> None:
    """A stranger's chunks, every one of them nearer to the question than anything else."""
    model = embedder(settings.OML_EMBEDDER)
    middle = derive.mean(model.embed(model.windows(QUERY)))
    noise = np.random.default_rng(7).normal(0, 0.002, (count, len(middle))).astype(np.float32)
    like = RecordChunk.objects.filter(record=record).first()
    assert like is not None
    RecordChunk.objects.bulk_create(
        RecordChunk(
            record_id=record,
            owner_id=owner,
            ordinal=number + 1,
            text="near",
            lexemes=like.lexemes,
            lexical=like.lexical,
            embedding=middle + noise[number],
            model_id=model.model_id,
        )
        for number in range(count)
    )


@pytest.fixture
def herd(records: Records) -> list[str]:
    """Twenty-four records, eight of them about animals in a lane of their own; a stranger has as many."""
    records.call("POST", "/v1/lanes", {"label": "zoo"})
    made = [records.ingest(f"My {name} sleeps in the kitchen.", assign_lane="zoo") for name in ANIMALS]
    made += [records.ingest(f"Invoice {number} was paid in May.", properties=["kind:invoice"]) for number in range(16)]
    for name in ANIMALS:
        records.ingest(f"A {name} of another agent.", by=records.world.writer2)
    outbox.drain_all()
    return made


@pytest.mark.parametrize(
    "asked",
    [{}, {"lanes": ["zoo"]}, {"properties": ["kind:invoice"]}, {"lanes": ["zoo"], "min_authority": 50}],
    ids=["all", "a lane", "a property", "both"],
)
def test_gather__above_the_exact_scope__answers_as_the_exact_scan(
    records: Records, herd: list[str], monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    exact = gather(records, query=QUERY, **asked)
    assert set(exact) <= set(herd) and len(exact) >= 8
    monkeypatch.setattr(search, "EXACT_CHUNKS", 0)
    assert gather(records, query=QUERY, **asked) == exact


def test_gather__with_enough_from_the_index__does_not_scan(
    records: Records, herd: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EXACT_CHUNKS", 0)
    monkeypatch.setattr(search, "FROM_INDEX", 6)
    with CaptureQueriesContext(connection) as queries:
        found = gather(records, query=QUERY, k=3)
    assert set(found) <= set(herd[:8])
    assert not statement(queries, "DISTINCT ON (c.record_id) c.id, c.embedding")
    (by_index,) = statement(queries, "ORDER BY c.embedding")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")  # a test has too few rows for the planner to want an index
        cursor.execute("EXPLAIN " + by_index)
        assert "record_chunk_embedding" in "\n".join(line for (line,) in cursor.fetchall())


def test_gather__where_the_index_gives_up_among_a_strangers_chunks__scans_the_scope_after_all(
    records: Records, herd: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = gather(records, query=QUERY, lanes=["zoo"])
    stranger = records.world.writer2
    crowd(stranger.principal_id, Record.objects.filter(owner=stranger.principal_id)[0].pk, 700)
    monkeypatch.setattr(search, "EXACT_CHUNKS", 0)
    monkeypatch.setattr(search, "FROM_INDEX", 8)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL hnsw.max_scan_tuples = 1")
    with CaptureQueriesContext(connection) as queries:
        assert gather(records, query=QUERY, lanes=["zoo"]) == exact
    (by_index,) = statement(queries, "ORDER BY c.embedding")
    with connection.cursor() as cursor:
        cursor.execute(by_index)
        assert len(cursor.fetchall()) < 8
    assert statement(queries, "DISTINCT ON (c.record_id) c.id, c.embedding")


class Away:
    """An embedder that is not there: words alone."""

    model_id = "away"

    def windows(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: list[str]) -> None:
        raise EmbedderUnavailable


def test_gather__one_record_of_hundreds_of_matching_chunks__leaves_the_others_their_places(records: Records) -> None:
    substitute("minilm", Away())  # type: ignore[arg-type]
    try:
        long = records.ingest("Zebra, zebra, zebra! " * 15_000)
        other = "The minutes of the council go on about parking, rubbish and the school roof. " * 12
        short = [records.ingest(f"{other} Item {number}: a zebra was seen.") for number in range(4)]
        outbox.drain_all()
        assert RecordChunk.objects.filter(record=long).count() > search.PER_ARM
        assert set(gather(records, query="zebra")) == {long, *short}
    finally:
        substitute("minilm", None)


def test_gather__many_vectors_of_few_records__still_has_as_many_as_were_asked_for(
    records: Records, herd: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd(records.by.principal_id, herd[0], 60)
    monkeypatch.setattr(search, "EXACT_CHUNKS", 0)
    monkeypatch.setattr(search, "FROM_INDEX", 40)
    assert len(gather(records, query=QUERY, k=10)) == 10

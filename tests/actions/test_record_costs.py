"""What keeping and reading source records asks of the database: little, and the same however much is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.recall.models import ReadLog
from memory.records.models import RecordEntry
from oml.jobs import outbox
from oml.jobs.models import OutboxTask
from tests.support.journal import length
from tests.support.records import Records
from tests.support.world import World

pytestmark = pytest.mark.django_db

#: Of a request: who asks.
AUTHENTICATION = 1


@pytest.fixture
def records(world: World) -> Records:
    made = Records(world)
    made.read(made.ingest("A warm fact."))  # a tenant's quota is asked for once in a while
    return made


def cost(call: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        call()
    return [query["sql"] for query in queries.captured_queries if "SAVEPOINT" not in query["sql"]]


def test_ingest__of_one_record__is_six_statements_with_its_journal_entry_and_its_task(records: Records) -> None:
    before = RecordEntry.objects.count(), length(records.by.tenant_id), OutboxTask.objects.count()
    asked = cost(lambda: records.ingest("A fact.", properties=["org:Acme", "topic:renewal"], source_type="observed"))
    after = RecordEntry.objects.count(), length(records.by.tenant_id), OutboxTask.objects.count()
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 1]
    # standing and epoch, home lane, the record, its task, the journal's head, its entry
    assert len(asked) == AUTHENTICATION + 6, "\n".join(asked)


def test_ingest__of_a_batch__is_as_many_statements_as_of_one(records: Records) -> None:
    def batch(count: int) -> None:
        body = {"records": [{"content": f"fact {number}", "properties": ["a:b"]} for number in range(count)]}
        assert records.call("POST", "/api/v2/ingest/batch", body).status_code == 201

    assert len(cost(lambda: batch(1))) == len(cost(lambda: batch(200)))


def test_read__of_one_record__is_one_statement_and_its_line_in_the_read_log(records: Records) -> None:
    sr_id = records.ingest("A fact.", properties=["org:Acme"])
    records.update(sr_id, content="Another fact.")
    for kind in ("corrections", "adjustments", "corrections"):
        records.call("POST", f"/v1/records/{sr_id}/{kind}", {"content": "right"})
    before = ReadLog.objects.count()
    for query in ({}, {"version": 0}, {"as_of": "2100-01-01T00:00:00Z"}):
        asked = cost(lambda query=query: records.read(sr_id, **query))
        assert len(asked) == AUTHENTICATION + 2, "\n".join(asked)
    assert ReadLog.objects.count() == before + 3


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/records/gather", {"k": 50}),
        ("POST", "/v1/records/gather", {"k": 50, "query": "fact"}),
        ("GET", "/v1/records/timeline?limit=100", None),
    ],
)
def test_search__with_many_answers__asks_as_much_as_with_one(
    records: Records, method: str, path: str, body: Any
) -> None:
    def answers() -> int:
        return len(records.call(method, path, body).json()["records"])

    outbox.drain_all()
    assert answers() == 1
    few = cost(answers)
    records.call("POST", "/v1/lanes", {"label": "other"})
    for number in range(30):
        records.ingest(f"fact {number}", properties=[f"n:{number}"], **({"assign_lane": "other"} if number % 2 else {}))
    outbox.drain_all()
    assert answers() == 31
    many = cost(answers)
    assert len(many) == len(few), "\n".join(sorted(set(many) - set(few)))[:3000]

"""``make bench-records``: ingest and read of source records beside raw SQL on the same database.

Every arm writes the same rows in one transaction: entry, content, its piece, cache row, outbox task, and the journal's
entry under the lock of its head; a read is one select and its line in the read log. Three arms each, one call of each
in turn, so that whatever else the machine does falls on all of them:

- *HTTP*: the product's route in process, from the request's bytes to the answer's;
- *action*: the function that route and tool call, with access, quota, checks, journal and task;
- *raw SQL*: those rows in as few statements as we know to write, values ready made, nothing checked.

*Nothing behind HTTP* is the same request through the same middleware, authentication, parser and shape to a function
that does nothing: what the face costs whatever stands behind it. Only ratios mean anything on a shared machine. Also
printed: the peak memory of one content of 100 MB, written and read.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402
from psycopg.types.json import Jsonb  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from rich.table import Table  # noqa: E402

import oml.urls  # noqa: E402
from memory import record_reads  # noqa: E402
from memory.api import record_answers, record_shapes  # noqa: E402
from memory.records import lanes, ledger  # noqa: E402
from memory.records.actions.ingest import ingest_batch, ingest_record  # noqa: E402
from memory.records.commands import IngestCommand, ReadCommand  # noqa: E402
from memory.records.models import Lane, Record, RecordEntry  # noqa: E402
from oml.core.actor import Actor, Channel, Role  # noqa: E402
from oml.http.large_views import LargeOperationView  # noqa: E402
from oml.http.operations import Operation  # noqa: E402
from oml.http.routes import route_by  # noqa: E402
from oml.journal.hashing import GENESIS  # noqa: E402
from oml.journal.models import JournalEntry  # noqa: E402
from workareas.actions.keys import NewPrincipal, issue_key  # noqa: E402
from workareas.actions.tenants import provision_tenant  # noqa: E402
from workareas.api.authentication import BearerAuthentication  # noqa: E402
from workareas.authentication import actor_of_key  # noqa: E402

MEGABYTE = 1 << 20
BATCH = 200
FACT = "Accra Metals quoted 412 USD/t for Q1-2027 delivery, valid until 2026-11-15. Reference {}."
Call = Callable[[int], Any]

# The rows of one record and the task that derives it, as one statement.
_RAW_RECORDS = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(names)s::text[], %(contents)s::bytea[]) AS g (sr_id, content)
), entry AS (
    INSERT INTO memory_recordentry (tenant_id, owner_id, sr_id, version, engine_id, event_id, written_at, author_key_id,
        state, content_sha256, size, deleted, change, note)
    SELECT 'raw', %(owner)s, sr_id, 0, 'raw', 'raw', now(), 'raw', %(state)s::jsonb, %(digest)s, length(content),
        false, '{ingested}', NULL FROM given RETURNING id, sr_id, size
), blob AS (
    INSERT INTO memory_contentblob (tenant_id, sr_id, sha256, size, salt)
    SELECT 'raw', sr_id, %(digest)s, length(content), %(salt)s FROM given RETURNING id, sr_id
), piece AS (
    INSERT INTO memory_contentpiece (blob_id, ordinal, data)
    SELECT blob.id, 0, given.content FROM blob JOIN given USING (sr_id)
), task AS (
    INSERT INTO jobs_outboxtask (name, args, created_at, available_at, attempts, last_error)
    VALUES ('raw', %(task)s::jsonb, now(), 'infinity', 0, '')
)
INSERT INTO memory_record (sr_id, tenant_id, owner_id, lane_id, source_type, authority, source_system, first_engine,
    ingested_at, version, written_at, head_id, content_sha256, size, deleted)
SELECT sr_id, 'raw', %(owner)s, %(lane)s, 'observed', 70, 'raw', 'raw', now(), 0, now(), id, %(digest)s, size, false
FROM entry
"""
_RAW_LOCK = "SELECT seq, chain_hash FROM journal_journalhead WHERE tenant_id = 'raw' FOR NO KEY UPDATE"
_RAW_JOURNAL = """
WITH moved AS (UPDATE journal_journalhead SET seq = seq + %(count)s WHERE tenant_id = 'raw')
INSERT INTO journal_journalentry (tenant_id, seq, event_type, canonical, leaf_hash, chain_hash, at, subject_id, tail)
SELECT 'raw', %(seq)s + g, 'raw', %(canonical)s, %(hash)s, %(hash)s, now(), 'raw', false
FROM generate_series(1, %(count)s) AS g
"""
_RAW_READ = """
SELECT e.*, l.label, p.data FROM memory_record r JOIN memory_recordentry e ON e.id = r.head_id
JOIN memory_lane l ON l.uuid = r.lane_id
JOIN memory_contentblob b ON b.sr_id = e.sr_id AND b.sha256 = e.content_sha256
JOIN memory_contentpiece p ON p.blob_id = b.id
WHERE r.sr_id = %(name)s AND r.owner_id = %(owner)s
"""
_RAW_READ_LOG = """
INSERT INTO memory_readlog (tenant_id, key_id, principal_id, channel, surface, returned, at)
VALUES ('raw', 'raw', 'raw', 'raw', 'record', ARRAY[%(name)s], now())
"""


def _nothing(_actor: Actor, _values: Mapping[str, Any]) -> dict[str, Any]:
    return {"sr_id": "sr_" + "0" * 32, "content_hash": "0" * 64, "ingested_at": "2026-10-27T14:11:08Z"}


_POST_NOTHING = Operation("bench_nothing", record_shapes.IngestShape, _nothing, record_answers.INGESTED, True)
_GET_NOTHING = Operation("bench_nothing_read", record_shapes.ReadShape, _nothing, record_answers.INGESTED)
# Beside the product's own routes, in this process only.
oml.urls.urlpatterns[:0] = [
    route_by(LargeOperationView, "v1/bench", BearerAuthentication, {"post": _POST_NOTHING}),
    route_by(LargeOperationView, "v1/bench/<str:sr_id>", BearerAuthentication, {"get": _GET_NOTHING}),
]


class Endless:
    """A request body of any size that is made while it is read."""

    def __init__(self, size: int) -> None:
        self.parts = [b'{"content": "', *([b"0123456789abcdef" * 4096] * (size // 65536)), b'"}']
        self.length = sum(map(len, self.parts))
        self.rest = b""

    def read(self, size: int = -1) -> bytes:
        while self.parts and len(self.rest) < size:
            self.rest += self.parts.pop(0)
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def readline(self, size: int = -1) -> bytes:
        return self.read(size)


@dataclass
class Bench:
    """One writer key, and every arm as a function of a running number."""

    actor: Actor
    client: Client
    lane: Lane
    canonical: str
    state: Jsonb
    numbers: Iterator[int] = field(default_factory=itertools.count)
    names: list[str] = field(default_factory=list)

    @classmethod
    def build(cls) -> Bench:
        admin = provision_tenant(slug="bench", name="Bench").admin
        issued = issue_key(admin, principal=NewPrincipal("bench"), role=Role.WRITER)
        actor = actor_of_key(issued.key.pk, channel=Channel.HTTP)
        client = Client(headers={"Authorization": f"Bearer {issued.secret}", "User-Agent": "bench"})
        ingest_record(actor, command=IngestCommand("warm"))
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO journal_journalhead (tenant_id, seq, chain_hash, permission_epoch) VALUES ('raw',0,%s,0)",
                [GENESIS],
            )
        journal = JournalEntry.objects.order_by("-id")[0]
        state = Jsonb(RecordEntry.objects.get().state)
        return cls(actor, client, lanes.home_lane(actor), journal.canonical, state)

    def post(self, path: str, body: Any) -> Any:
        answer = self.client.post(path, json.dumps(body), content_type="application/json")
        assert answer.status_code == 201, answer.content
        return answer.json()

    def fact(self) -> str:
        return FACT.format(next(self.numbers))

    # --- ingest ------------------------------------------------------------------------------------

    def ingest_http(self, _: int) -> Any:
        return self.post("/v1/records", {"content": self.fact()})

    def nothing_http(self, _: int) -> Any:
        return self.post("/v1/bench", {"content": self.fact()})

    def ingest_action(self, _: int) -> Any:
        return ingest_record(self.actor, command=IngestCommand(self.fact()))

    def ingest_raw(self, _: int) -> None:
        self._raw(1)

    def batch_http(self, _: int) -> Any:
        return self.post("/api/v2/ingest/batch", {"records": [{"content": self.fact()} for _ in range(BATCH)]})

    def batch_action(self, _: int) -> Any:
        return ingest_batch(self.actor, commands=[IngestCommand(self.fact()) for _ in range(BATCH)])

    def batch_raw(self, _: int) -> None:
        self._raw(BATCH)

    def _raw(self, count: int) -> None:
        names = [f"sr_{secrets.token_hex(16)}" for _ in range(count)]
        values = {
            "names": names,
            "contents": [self.fact().encode() for _ in range(count)],
            "owner": self.actor.principal_id,
            "lane": self.lane.pk,
            "state": self.state,
            "digest": "0" * 64,
            "salt": bytes(32),
            "task": Jsonb({"sr_ids": " ".join(names)}),
        }
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_RAW_RECORDS, values)
            cursor.execute(_RAW_LOCK)
            seq, _ = cursor.fetchone()
            cursor.execute(_RAW_JOURNAL, {"seq": seq, "count": count, "canonical": self.canonical, "hash": bytes(32)})

    # --- read --------------------------------------------------------------------------------------

    def read_http(self, number: int) -> None:
        assert self.client.get(f"/v1/records/{self.name(number)}").status_code == 200

    def read_nothing(self, number: int) -> None:
        assert self.client.get(f"/v1/bench/{self.name(number)}").status_code == 200

    def read_action(self, number: int) -> None:
        assert record_reads.record(self.actor, command=ReadCommand(self.name(number)))["content"]

    def read_raw(self, number: int) -> None:
        values = {"name": self.name(number), "owner": self.actor.principal_id}
        with connection.cursor() as cursor:
            cursor.execute(_RAW_READ, values)
            assert cursor.fetchone() is not None
            cursor.execute(_RAW_READ_LOG, values)

    def name(self, number: int) -> str:
        return self.names[number % len(self.names)]

    # --- what is there -----------------------------------------------------------------------------

    def large(self, megabytes: int) -> None:
        """One content of so many megabytes, written and read; prints the peaks of memory."""
        before = peak()
        body = Endless(megabytes * MEGABYTE)
        environ = {"wsgi.input": body, "CONTENT_LENGTH": str(body.length), "CONTENT_TYPE": "application/json"}
        answer = self.client.generic("POST", "/v1/records", b"", **environ)
        assert answer.status_code == 201, answer.content
        written = peak()
        read = self.client.get(f"/v1/records/{answer.json()['sr_id']}")
        size = sum(len(piece) for piece in read.streaming_content)
        assert size > megabytes * MEGABYTE
        print(
            f"one content of {megabytes} MB: peak RSS {before:.0f} MB before, {written:.0f} MB after writing it, "
            f"{peak():.0f} MB after reading it"
        )
        connection.close()

    def fill(self, records: int) -> None:
        """Bring the principal to so many records, through the ledger's own door."""
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("records", total=records, completed=Record.objects.count())
            while (missing := records - Record.objects.count()) > 0:
                firsts = [
                    ledger.First(self.lane, self.fact(), "observed", 70, "bench", (("n", str(number)),))
                    for number in range(min(missing, 1000))
                ]
                with transaction.atomic():
                    ledger.begin(self.actor, firsts)
                progress.update(task, completed=records - missing + len(firsts))
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
            cursor.execute(
                "SELECT sr_id FROM memory_record WHERE tenant_id = %s AND size < 200 ORDER BY random() LIMIT 1000",
                [self.actor.tenant_id],
            )
            self.names = [name for (name,) in cursor.fetchall()]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_turn(arms: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """Median milliseconds of each arm, one call of each in turn."""
    times: dict[str, list[float]] = {name: [] for name in arms}
    for number in range(-(rounds // 10), rounds):
        for name, arm in arms.items():
            start = time.perf_counter()
            arm(number)
            if number >= 0:  # the first ones warm caches and plans
                times[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(mine) for name, mine in times.items()}


def show(title: str, found: Mapping[str, float], each: int = 1) -> None:
    raw = found["raw SQL"]
    table = Table(title=title, title_justify="left")
    for name in ("", "p50 ms", "records/s", "to raw SQL"):
        table.add_column(name, justify="left" if not name else "right")
    for name, milliseconds in found.items():
        table.add_row(name, f"{milliseconds:.2f}", f"{each * 1000 / milliseconds:,.0f}", f"{milliseconds / raw:.1f}×")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="records that are there when anything is measured")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--large", type=int, default=100, help="megabytes of the large content; 0 leaves it out")
    options = parser.parse_args()
    call_command("migrate", verbosity=0)
    bench = Bench.build()
    if options.large:
        bench.large(options.large)
    bench.fill(options.records)
    print(f"{Record.objects.count():,} records of one principal")
    show(
        "ingest, one at a time",
        in_turn(
            {
                "HTTP": bench.ingest_http,
                "nothing behind HTTP": bench.nothing_http,
                "action": bench.ingest_action,
                "raw SQL": bench.ingest_raw,
            },
            options.rounds,
        ),
    )
    show(
        f"ingest, batches of {BATCH}",
        in_turn(
            {"HTTP": bench.batch_http, "action": bench.batch_action, "raw SQL": bench.batch_raw},
            max(options.rounds // 25, 1),
        ),
        BATCH,
    )
    show(
        "read",
        in_turn(
            {
                "HTTP": bench.read_http,
                "nothing behind HTTP": bench.read_nothing,
                "action": bench.read_action,
                "raw SQL": bench.read_raw,
            },
            options.rounds,
        ),
    )


if __name__ == "__main__":
    main()

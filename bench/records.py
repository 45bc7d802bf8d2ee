"""``make bench-records``: ingest and read of source records beside the same raw SQL on the same database.

Through the product's own HTTP view, in process. Printed as ratios, since times are noise on a shared machine; and the
peak memory of one content of 100 MB, written and read.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")
MEGABYTE = 1 << 20


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


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def per_second(count: int, work: Callable[[int], Any]) -> float:
    start = time.perf_counter()
    for number in range(count):
        work(number)
    return count / (time.perf_counter() - start)


def p50(count: int, work: Callable[[int], Any]) -> float:
    times = []
    for number in range(count):
        start = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="records that are there when reading is measured")
    parser.add_argument("--large", type=int, default=100, help="megabytes of the large content; 0 leaves it out")
    options = parser.parse_args()

    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection, transaction
    from django.test import Client

    call_command("migrate", verbosity=0)
    from memory.records import ledger, rules
    from memory.records.lanes import home_lane
    from memory.records.models import Record
    from oml.core.actor import Channel, Role
    from workareas.actions.keys import NewPrincipal, issue_key
    from workareas.actions.tenants import provision_tenant
    from workareas.authentication import actor_of_key

    admin = provision_tenant(slug="bench", name="Bench").admin
    issued = issue_key(admin, principal=NewPrincipal("bench"), role=Role.WRITER)
    actor = actor_of_key(issued.key.pk, channel=Channel.HTTP)
    headers = {"Authorization": f"Bearer {issued.secret}"}
    client = Client(headers=headers)

    def post(path: str, body: Any) -> Any:
        answer = client.post(path, json.dumps(body), content_type="application/json")
        assert answer.status_code == 201, answer.content
        return answer.json()

    fact = "Accra Metals quoted 412 USD/t for Q1-2027 delivery, valid until 2026-11-15. Reference {}."
    post("/v1/records", {"content": "warm"})
    lane = home_lane(actor)

    if options.large:
        before = peak()
        body = Endless(options.large * MEGABYTE)
        environ = {"wsgi.input": body, "CONTENT_LENGTH": str(body.length), "CONTENT_TYPE": "application/json"}
        answer = client.generic("POST", "/v1/records", b"", **environ)
        assert answer.status_code == 201, answer.content
        written = peak()
        read = client.get(f"/v1/records/{answer.json()['sr_id']}")
        size = sum(len(piece) for piece in read.streaming_content)
        assert size > options.large * MEGABYTE
        print(
            f"one content of {options.large} MB: peak RSS {before:.0f} MB before, {written:.0f} MB after writing it, "
            f"{peak():.0f} MB after reading it"
        )
        connection.close()

    def raw_insert(count: int, start: int) -> None:
        """What one record costs at least: entry, content and cache row, in one transaction."""
        with transaction.atomic(), connection.cursor() as cursor:
            for number in range(count):
                name, text = f"sr_{start + number:032x}", fact.format(number).encode()
                cursor.execute(
                    "INSERT INTO memory_recordentry (tenant_id, owner_id, sr_id, version, engine_id, event_id, "
                    "written_at, author_key_id, state, content_sha256, size, deleted, change, note) VALUES "
                    "(%s,%s,%s,0,'raw','raw',now(),'raw','{}',%s,%s,false,'{ingested}',NULL) RETURNING id",
                    ["raw", actor.principal_id, name, "0" * 64, len(text)],
                )
                (entry,) = cursor.fetchone()
                cursor.execute(
                    "INSERT INTO memory_contentblob (tenant_id, sr_id, sha256, size, salt) "
                    "VALUES ('raw',%s,%s,%s,%s) RETURNING id",
                    [name, "0" * 64, len(text), b"x" * 32],
                )
                (blob,) = cursor.fetchone()
                cursor.execute(
                    "INSERT INTO memory_contentpiece (blob_id, ordinal, data) VALUES (%s,0,%s)", [blob, text]
                )
                cursor.execute(
                    "INSERT INTO memory_record (sr_id, tenant_id, owner_id, lane_id, source_type, authority, "
                    "source_system, first_engine, ingested_at, version, written_at, head_id, content_sha256, size, "
                    "deleted) VALUES (%s,'raw',%s,%s,'observed',70,'raw','raw',now(),0,now(),%s,%s,%s,false)",
                    [name, actor.principal_id, lane.pk, entry, "0" * 64, len(text)],
                )

    singles, batches = 300, 10
    single = per_second(singles, lambda n: post("/v1/records", {"content": fact.format(n)}))
    raw_single = per_second(singles, lambda n: raw_insert(1, n))
    batch = 200 * per_second(
        batches,
        lambda n: post("/api/v2/ingest/batch", {"records": [{"content": fact.format(f"{n}-{m}")} for m in range(200)]}),
    )
    raw_batch = 200 * per_second(batches, lambda n: raw_insert(200, 10**6 + n * 200))
    print(f"ingest, one at a time: {single:.0f}/s, raw SQL {raw_single:.0f}/s, ratio {raw_single / single:.1f}")
    print(f"ingest, batches of 200: {batch:.0f}/s, raw SQL {raw_batch:.0f}/s, ratio {raw_batch / batch:.1f}")

    while (present := Record.objects.count()) < options.records:
        firsts = [
            ledger.First(lane, fact.format(present + n), "observed", 70, "bench", (("n", str(n)),)) for n in range(1000)
        ]
        with transaction.atomic():
            ledger.begin(actor, firsts)
        print(f"\r{present:,} of {options.records:,} records", end="", file=sys.stderr)
    print(file=sys.stderr)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute(
            "SELECT sr_id FROM memory_record WHERE tenant_id = %s ORDER BY random() LIMIT 500", [actor.tenant_id]
        )
        names = [name for (name,) in cursor.fetchall() if rules.SR_ID.match(name)]

    def raw_read(number: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT e.*, p.data FROM memory_record r JOIN memory_recordentry e ON e.id = r.head_id "
                "JOIN memory_contentblob b ON b.sr_id = e.sr_id AND b.sha256 = e.content_sha256 "
                "JOIN memory_contentpiece p ON p.blob_id = b.id WHERE r.sr_id = %s AND r.owner_id = %s",
                [names[number % len(names)], actor.principal_id],
            )
            assert cursor.fetchone() is not None

    reading = p50(500, lambda n: client.get(f"/v1/records/{names[n % len(names)]}"))
    raw = p50(500, raw_read)
    print(
        f"read at {Record.objects.count():,} records: p50 {reading:.2f} ms over the HTTP view, raw SQL {raw:.2f} ms, "
        f"ratio {reading / raw:.1f}"
    )


if __name__ == "__main__":
    main()

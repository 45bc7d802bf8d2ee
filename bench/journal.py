"""``make bench-journal``: what the journal's order and proofs cost, beside the same inserts without them.

Eight writer processes, each transaction one row of work and one event, on a database whose commits reach the disk:

- *unchained*: the same row into a table like the journal's, numbered by an identity column: no head, no chain.
- *lock last*: the product's ``append``, the head row locked by the last statement before COMMIT.
- *lock first*: the head row locked before the work, as a naive append would.

Arms take turns, so that whatever else the machine does falls on all of them. Then a tail polls both kinds of journal
while eight writers commit out of order; then a long journal is verified, checkpointed and proved. Only ratios mean
anything; times are printed and never judged. Exit code 1: the tail missed an event, or the journal does not verify.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from memory.claims.events import Promoted  # noqa: E402
from oml.core.actor import Actor, Channel, Role  # noqa: E402
from oml.core.canonical import canonical_json  # noqa: E402
from oml.core.clock import now, rfc3339  # noqa: E402
from oml.core.ids import new_id  # noqa: E402
from oml.journal import tree  # noqa: E402
from oml.journal.append import append, journalled  # noqa: E402
from oml.journal.checkpoint import make_checkpoint  # noqa: E402
from oml.journal.hashing import GENESIS, chain_hash, leaf_hash  # noqa: E402
from oml.journal.models import Checkpoint, JournalEntry, JournalHead, JournalSubtree  # noqa: E402
from oml.journal.selectors import tail_page, tail_rows  # noqa: E402
from oml.journal.verify import verify_tenant  # noqa: E402
from oml.journal.workers import processes  # noqa: E402

WRITERS = 8
ARMS = ("unchained", "lock last", "lock first")
PAYLOAD = "x" * 400


def tenant(number: int) -> str:
    return f"ten_bench{number:021d}"


def actor_of(tenant_id: str) -> Actor:
    return Actor(tenant_id, new_id("pri"), new_id("key"), Role.WRITER, Channel.HTTP)


def event() -> Promoted:
    return Promoted(
        workarea_id="wa_01K0000000000000000000WORK",
        artifact_id=new_id("art"),
        claim_key="supplier-quote-am-7741",
        version=1,
        kind="memory",
        self_signed=False,
        closure_size=0,
    )


def work(milliseconds: float) -> None:
    """One row, and whatever else a transaction does."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_work (payload) VALUES (%s)", [PAYLOAD])
    if milliseconds:
        time.sleep(milliseconds / 1000)


@journalled
def lock_last(actor: Actor, milliseconds: float) -> None:
    work(milliseconds)
    append(actor, [event()], epoch=None)


@journalled
def lock_first(actor: Actor, milliseconds: float) -> None:
    JournalHead.objects.select_for_update().get(pk=actor.tenant_id)
    work(milliseconds)
    append(actor, [event()], epoch=None)


def unchained(actor: Actor, milliseconds: float) -> None:
    """The same row, hashed alike, by the same ORM, into a table that nothing orders."""
    with transaction.atomic():
        work(milliseconds)
        item, at = event(), now()
        record = {
            "tenant": actor.tenant_id,
            "event_type": item.type,
            "event_version": item.event_version,
            "at": rfc3339(at),
            "actor": {"key": actor.key_id, "principal": actor.principal_id},
            "channel": str(actor.channel),
            "workarea": item.workarea_id,
            "far_workarea": None,
            "simulation": None,
            "subject": item.subject(),
            "payload": item.payload(),
        }
        canonical = canonical_json(record)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO bench_unchained (tenant_id, event_type, canonical, leaf_hash, chain_hash, at, "
                "workarea_id, subject_id, tail) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, true)",
                [
                    actor.tenant_id,
                    item.type,
                    canonical.decode(),
                    leaf_hash(canonical),
                    GENESIS,
                    at,
                    item.workarea_id,
                    item.artifact_id,
                ],
            )


WRITE: dict[str, Callable[[Actor, float], None]] = {
    "unchained": unchained,
    "lock last": lock_last,
    "lock first": lock_first,
}


def writer(number: int) -> None:
    """One writer process: told on stdin what to write and for how long, says on stdout how often it did."""
    dice = random.Random(number)
    connection.ensure_connection()
    print("ready", flush=True)
    for line in sys.stdin:
        arm, tenants, seconds, milliseconds = json.loads(line)
        actors = [actor_of(tenant(n)) for n in range(tenants)]
        done, end = 0, time.time() + seconds
        while time.time() < end:
            WRITE[arm](dice.choice(actors), dice.uniform(0, 2 * milliseconds))
            done += 1
        print(json.dumps(done), flush=True)


class Writers:
    """The eight processes, started once: what is measured is not how fast Python starts."""

    def __init__(self) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, __file__, "--writer", str(number)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(WRITERS)
        ]
        for one in self._processes:
            self._line(one)

    def start(self, arm: str, tenants: int, seconds: float, milliseconds: float) -> None:
        for one in self._processes:
            assert one.stdin is not None
            one.stdin.write(json.dumps([arm, tenants, seconds, milliseconds]) + "\n")
            one.stdin.flush()

    def finish(self) -> int:
        """How many transactions all of them committed."""
        return sum(json.loads(self._line(one)) for one in self._processes)

    def end(self) -> None:
        for one in self._processes:
            one.communicate()

    @staticmethod
    def _line(one: subprocess.Popen[str]) -> str:
        assert one.stdout is not None
        return one.stdout.readline()


def prepare(tenants: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_work (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text)")
        cursor.execute("CREATE TABLE bench_unchained (LIKE journal_journalentry INCLUDING ALL)")
        cursor.execute("ALTER TABLE bench_unchained ALTER seq ADD GENERATED ALWAYS AS IDENTITY")
    JournalHead.objects.bulk_create([JournalHead(tenant_id=tenant(n)) for n in range(tenants)])


def throughput(console: Console, writers: Writers, rounds: int, seconds: float) -> None:
    table = Table(title=f"Transactions a second, {WRITERS} writers, median of {rounds} rounds")
    for head in ("tenants", "other work", *ARMS, "last / unchained", "last / first"):
        table.add_column(head, justify="right")
    for tenants in (1, 16):
        for milliseconds in (0.0, 5.0):
            rates: dict[str, list[float]] = defaultdict(list)
            for _ in range(rounds):
                for arm in ARMS:
                    writers.start(arm, tenants, seconds, milliseconds)
                    rates[arm].append(writers.finish() / seconds)
            found = {arm: statistics.median(values) for arm, values in rates.items()}
            table.add_row(
                "1 hot" if tenants == 1 else str(tenants),
                f"{milliseconds:.0f} ms" if milliseconds else "none",
                *(f"{found[arm]:,.0f}" for arm in ARMS),
                f"{found['lock last'] / found['unchained']:.2f}",
                f"{found['lock last'] / found['lock first']:.1f}",
            )
    console.print(table)


def tail(console: Console, writers: Writers, seconds: float) -> bool:
    """Poll while eight writers commit in whatever order; True when the journal's tail missed nothing."""
    table = Table(title="A tail polling after the last number it saw, eight writers, 0 to 10 ms transactions")
    for head in ("numbered by", "events", "seen", "missed"):
        table.add_column(head, justify="right")
    whole = True
    for arm, poll, everything in (
        ("lock last", poll_journal, journal_numbers),
        ("unchained", poll_identity, identity_numbers),
    ):
        first = max(everything(), default=0)
        writers.start(arm, 1, seconds, 5.0)
        with ThreadPoolExecutor(1) as pool:
            finished = pool.submit(writers.finish)
            seen = set(poll(first, until=finished.done))
        written = {number for number in everything() if number > first}
        missed = len(written - seen)
        whole = whole and (arm != "lock last" or missed == 0)
        label = "the head, locked last" if arm == "lock last" else "an identity column"
        table.add_row(label, f"{len(written):,}", f"{len(seen):,}", f"{missed:,}")
    console.print(table)
    return whole


def poll_journal(after: int, *, until: Callable[[], bool]) -> Iterator[int]:
    """The product's own tail, page after page."""
    ended = False
    while True:
        page = [entry.seq for entry in tail_page(tail_rows(tenant(0)), after_seq=after, limit=500)]
        yield from page
        after = page[-1] if page else after
        if not page and ended:
            return
        ended = until()


def poll_identity(after: int, *, until: Callable[[], bool]) -> Iterator[int]:
    ended = False
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT seq FROM bench_unchained WHERE seq > %s ORDER BY seq LIMIT 500", [after])
            page = [row[0] for row in cursor.fetchall()]
        yield from page
        after = page[-1] if page else after
        if not page and ended:
            return
        ended = until()


def journal_numbers() -> list[int]:
    return list(JournalEntry.objects.filter(tenant_id=tenant(0)).values_list("seq", flat=True))


def identity_numbers() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM bench_unchained")
        return [row[0] for row in cursor.fetchall()]


def long_journal(tenant_id: str, entries: int) -> None:
    """Entries as append writes them, without the eight processes."""
    actor, chain, rows = actor_of(tenant_id), GENESIS, []
    at = now()
    for seq in range(1, entries + 1):
        item = event()
        record: dict[str, Any] = {
            "tenant": tenant_id,
            "seq": seq,
            "event_type": item.type,
            "event_version": item.event_version,
            "at": rfc3339(at),
            "actor": {"key": actor.key_id, "principal": actor.principal_id},
            "channel": str(actor.channel),
            "workarea": item.workarea_id,
            "far_workarea": None,
            "simulation": None,
            "subject": item.subject(),
            "payload": item.payload(),
        }
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        leaf = leaf_hash(text.encode())
        chain = chain_hash(chain, seq, leaf)
        rows.append(
            JournalEntry(
                tenant_id=tenant_id,
                seq=seq,
                event_type=item.type,
                canonical=text,
                leaf_hash=leaf,
                chain_hash=chain,
                at=at,
                workarea_id=item.workarea_id,
                subject_id=item.artifact_id,
                tail=True,
            )
        )
        if len(rows) == 5000 or seq == entries:
            JournalEntry.objects.bulk_create(rows)
            rows = []
    JournalHead.objects.create(tenant_id=tenant_id, seq=entries, chain_hash=chain)


def proofs(console: Console, entries: int) -> bool:
    tenant_id = tenant(99)
    long_journal(tenant_id, entries)
    plain = verify_tenant(tenant_id)
    first = timed(lambda: make_checkpoint(tenant_id))
    append_some(tenant_id, 500)
    later = timed(lambda: make_checkpoint(tenant_id))
    head = Checkpoint.objects.filter(tenant_id=tenant_id).latest("size").size
    included = timed(lambda: tree.inclusion_proof(tenant_id, entries // 3, head))
    consistent = timed(lambda: tree.consistency_proof(tenant_id, entries // 3, head))
    signed = verify_tenant(tenant_id)
    jobs = os.cpu_count() or 1
    with processes(jobs) as workers:
        list(workers.map(len, [""] * jobs))  # started, so that what is timed is the check
        together = verify_tenant(tenant_id, workers=workers)
    blocks = JournalSubtree.objects.filter(tenant_id=tenant_id).count()
    table = Table(title=f"A journal of {entries:,} entries")
    table.add_column("what")
    table.add_column("", justify="right")
    for what, figure in (
        ("verify, chain alone", f"{plain.entries / plain.seconds:,.0f} entries/s"),
        ("verify, against signed checkpoints too", f"{signed.entries / signed.seconds:,.0f} entries/s"),
        (f"the same in blocks, {jobs} processes", f"{together.entries / together.seconds:,.0f} entries/s"),
        ("first checkpoint, every leaf read", f"{first * 1000:,.0f} ms"),
        ("next checkpoint, 500 entries later", f"{later * 1000:,.1f} ms"),
        ("inclusion proof", f"{included * 1000:,.1f} ms"),
        ("consistency proof", f"{consistent * 1000:,.1f} ms"),
        ("stored subtree hashes", f"{blocks:,}"),
    ):
        table.add_row(what, figure)
    console.print(table)
    return plain.broken is signed.broken is together.broken is None


def append_some(tenant_id: str, count: int) -> None:
    actor = actor_of(tenant_id)
    with transaction.atomic():
        append(actor, [event() for _ in range(count)], epoch=None)


def timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of writing, a round and arm")
    parser.add_argument("--entries", type=int, default=200_000, help="of the long journal")
    parser.add_argument("--writer", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.writer is not None:
        writer(chosen.writer)
        return 0
    console = Console()
    call_command("migrate", verbosity=0)
    prepare(16)
    with connection.cursor() as cursor:
        cursor.execute("SHOW fsync")
        console.print(f"fsync is {cursor.fetchone()[0]}, {os.cpu_count()} processors")
    writers = Writers()
    throughput(console, writers, chosen.rounds, chosen.seconds)
    whole = tail(console, writers, 2 * chosen.seconds)
    writers.end()
    intact = all(verify_tenant(tenant(n)).broken is None for n in range(16))
    proved = proofs(console, chosen.entries)
    console.print("the tail missed nothing" if whole else "THE TAIL MISSED EVENTS")
    console.print("all journals verify" if intact and proved else "A JOURNAL DOES NOT VERIFY")
    return 0 if whole and intact and proved else 1


if __name__ == "__main__":
    sys.exit(main())

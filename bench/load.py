"""``make bench-load``: how fast submit and recall are over ``/v1`` and MCP, beside the same SQL without the product.

It starts OML as ``make run`` does on a home of its own, lets eight clients call it, and lets the same eight clients
send the raw SQL to the same database: for a submission the rows that one leaves (artifact, outbox task, idempotency
record, journal entry under the head's lock) in one transaction, for a recall the very statements that one runs.
Arms take turns, so that whatever else the machine does falls on all of them. Only ratios mean anything; times are
printed and never judged. While submissions come in, the worker scans and embeds them on the same processors; what it
uses stands in a column of its own, with the processor time of web, database and clients for each call.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from oml.demo.server import running  # noqa: E402
from oml.embedded import ownership  # noqa: E402
from oml.embedded.cluster import Cluster  # noqa: E402
from oml.embedded.places import Places  # noqa: E402

TURNS = 4
PROMOTED = 200
METALS = "universe.procurement.metals-crew"
MCP_VERSION = "2025-11-25"
_LOCK_HEAD = "SELECT seq FROM bench.journal_journalhead WHERE tenant_id = %s FOR UPDATE"
_MOVE_HEAD = "UPDATE bench.journal_journalhead SET seq = seq + 1 WHERE tenant_id = %s"
_TABLES = ("memory_artifact", "jobs_outboxtask", "workareas_idempotencyrecord", "journal_journalentry")

KINDS = ("web", "database", "worker", "clients")

Call = Callable[[], None]
Client = Callable[[], AbstractContextManager[Call]]


@dataclass
class Arm:
    """One way of doing one thing; ``client`` makes a caller for one thread."""

    name: str
    client: Client
    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    processor: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        return sorted(self.times)[int(share * (len(self.times) - 1))] * 1000

    def used(self, kind: str) -> float:
        """Milliseconds of processor for each call."""
        return self.processor[kind] / len(self.times) * 1000


class Meter:
    """Processor seconds that the processes of one home, and this one, have used so far."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def read(self) -> Counter[str]:
        postmaster = Cluster(self._places).postmaster()
        assert postmaster is not None
        ended = postmaster.cpu_times()
        seconds: Counter[str] = Counter(
            clients=time.process_time(), database=ended.children_user + ended.children_system
        )
        for backend in [postmaster, *postmaster.children(recursive=True)]:
            seconds["database"] += _used(backend)
        for process in ownership.children(self._places):
            with suppress(psutil.Error):
                words = " ".join(process.cmdline())
                kind = "web" if "gunicorn" in words else "worker" if "celery" in words else ""
                seconds[kind] += _used(process)
        return seconds


def _used(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


class Web:
    """One kept HTTP connection with one key."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
        self._connection.request("POST", path, json.dumps(body).encode(), self._headers | headers)
        response = self._connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        if response.status >= 400:
            raise SystemExit(f"{path} answered {response.status}: {answer}")
        return answer

    def close(self) -> None:
        self._connection.close()

    def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MCP_VERSION}
        result: dict[str, Any] = self.post("/mcp", message, **accept)["result"]
        if result.get("isError"):
            raise SystemExit(f"{name}: {result}")
        return result


class RawSubmit:
    """The rows of one real submission, written again and again into tables of the same shape."""

    def __init__(self, database: str, artifact: str) -> None:
        self._database = database
        self._numbers = itertools.count(1)
        with psycopg.connect(database) as connection:
            connection.execute("CREATE SCHEMA bench")
            for table in (*_TABLES, "journal_journalhead"):
                name = sql.Identifier(table)
                connection.execute(sql.SQL("CREATE TABLE bench.{} (LIKE public.{} INCLUDING ALL)").format(name, name))
            connection.execute("INSERT INTO bench.journal_journalhead SELECT * FROM journal_journalhead")
            found = {"memory_artifact": "id", "workareas_idempotencyrecord": "subject_id"}
            found["journal_journalentry"] = "subject_id"
            self._rows = {table: _template(connection, table, column, artifact) for table, column in found.items()}
        # The worker has done and deleted the real one by now.
        moment = datetime.now(UTC)
        task = {"name": "memory.scan", "args": Jsonb({"artifact_id": artifact}), "attempts": 0, "last_error": ""}
        self._rows["jobs_outboxtask"] = task | {"created_at": moment, "available_at": moment}

    @contextmanager
    def client(self) -> Iterator[Call]:
        connection = psycopg.connect(self._database)

        def call() -> None:
            number = next(self._numbers)
            fresh = {"claim_key": f"raw-{number}", "idempotency_key": f"raw-{number}"}
            with connection.transaction():
                for table in _TABLES[:3]:
                    own = fresh | ({"id": f"art_raw_{number}"} if table == "memory_artifact" else {})
                    _insert(connection, table, self._rows[table] | {k: own[k] for k in own if k in self._rows[table]})
                entry = self._rows["journal_journalentry"]
                tenant = [entry["tenant_id"]]
                head = connection.execute(_LOCK_HEAD, tenant).fetchone()
                assert head is not None
                _insert(connection, "journal_journalentry", entry | {"seq": head[0] + 1})
                connection.execute(_MOVE_HEAD, tenant)

        with closing(connection):
            yield call


def _template(connection: psycopg.Connection, table: str, subject: str, artifact: str) -> dict[str, Any]:
    """One row of a table as insert values; identities are left to the table."""
    cursor = connection.execute(
        sql.SQL("SELECT * FROM {} WHERE {} = %s LIMIT 1").format(sql.Identifier(table), sql.Identifier(subject)),
        [artifact],
    )
    found = cursor.fetchone()
    if found is None or cursor.description is None:
        raise SystemExit(f"no row of {table} to measure with")
    row = {column.name: value for column, value in zip(cursor.description, found, strict=True)}
    if isinstance(row.get("id"), int):
        del row["id"]
    return {name: Jsonb(value) if isinstance(value, dict) else value for name, value in row.items()}


def _insert(connection: psycopg.Connection, table: str, row: dict[str, Any]) -> None:
    names = sql.SQL(", ").join(sql.Identifier(name) for name in row)
    places = sql.SQL(", ").join([sql.Placeholder()] * len(row))
    statement = sql.SQL("INSERT INTO bench.{} ({}) VALUES ({})").format(sql.Identifier(table), names, places)
    connection.execute(statement, list(row.values()))


def statements_of_a_recall(home: Path, key_id: str, query: str) -> list[str]:
    """The SQL that one recall runs, its parameters inside."""
    os.environ |= {"OML_HOME": str(home), "DJANGO_SETTINGS_MODULE": "oml.settings"}
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from memory.recall.commands import RecallCommand
    from memory.recall.selectors import recall
    from oml.core.actor import Channel
    from workareas.authentication import actor_of_key

    actor = actor_of_key(key_id, channel=Channel.HTTP)
    with CaptureQueriesContext(connection) as captured:
        recall(actor, command=RecallCommand(query=query, scope="universe"))
    connection.close()
    return [query["sql"] for query in captured.captured_queries]


@contextmanager
def raw_recall(database: str, statements: list[str]) -> Iterator[Call]:
    connection = psycopg.connect(database, autocommit=True)

    def call() -> None:
        for statement in statements:
            connection.execute(statement.encode())

    with closing(connection):
        yield call


def take_turns(arms: list[Arm], meter: Meter, *, clients: int, each: int, settle: Callable[[], None]) -> None:
    """Let every arm do ``each`` calls a client, in turns, with everything quiet in between."""
    for arm, _ in track([(arm, turn) for turn in range(TURNS) for arm in arms], description=arms[1].name):
        with ExitStack() as open_clients, ThreadPoolExecutor(clients) as pool:
            calls = [open_clients.enter_context(arm.client()) for _ in range(clients)]
            for call in calls:
                call()  # connections, caches, first use: not measured
            settle()
            before, begun = meter.read(), time.perf_counter()
            for times in pool.map(_repeated(max(1, each // TURNS)), calls):
                arm.times += times
            arm.seconds += time.perf_counter() - begun
            settle()  # what the worker does for these calls is theirs
            arm.processor += meter.read() - before


def _repeated(count: int) -> Callable[[Call], list[float]]:
    def work(call: Call) -> list[float]:
        times = []
        for _ in range(count):
            begun = time.perf_counter()
            call()
            times.append(time.perf_counter() - begun)
        return times

    return work


def table_of(title: str, arms: list[Arm]) -> Table:
    table = Table(title=title, caption="processor: milliseconds for each call, by who used them")
    headings = ("", "calls/s", "of raw SQL", "p50 ms", "p95 ms", *KINDS)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "" else "right")
    for arm in arms:
        figures = [f"{arm.rate:.0f}", f"{arm.rate / arms[0].rate:.3f}"]
        figures += [f"{arm.percentile(share):.1f}" for share in (0.5, 0.95)]
        figures += [f"{arm.used(kind):.1f}" for kind in KINDS]
        table.add_row(arm.name, *figures)
    return table


def promote(port: int, keys: dict[str, str], count: int) -> None:
    """Fill recall's index with ratified claims, by two keys as always."""
    writer, reviewer = Web(port, keys["writer"]), Web(port, keys["reviewer"])
    artifacts = [writer.post("/v1/memories", submission())["artifact_id"] for _ in range(count)]
    for artifact in track(artifacts, description="ratify"):
        serve = _serve_when_scanned(reviewer, artifact)
        body = {"serve_id": serve["serve_id"], "content_digest": serve["content_digest"], "verdict": "ratify"}
        reviewer.post("/v1/review/verdicts", body)


def _serve_when_scanned(reviewer: Web, artifact: str) -> dict[str, Any]:
    for _ in range(600):
        try:
            return reviewer.post("/v1/review/serves", {"artifact_id": artifact})
        except SystemExit as refused:
            if "review.scan_pending" not in str(refused):
                raise
            time.sleep(0.1)
    raise SystemExit("the worker does not scan")


_claims = itertools.count(1)


def submission() -> dict[str, Any]:
    number = next(_claims)
    return {
        "workarea": METALS,
        "claim_key": f"bench-{number}",
        "text": f"Delivery {number} of aluminium from Tema arrived on day {number % 28 + 1} and was weighed twice.",
        "idempotency_key": f"bench-{number}",
    }


@contextmanager
def own_server() -> Iterator[tuple[Path, dict[str, Any]]]:
    """OML on a temporary home, with the demo tenant."""
    folder = Path(tempfile.mkdtemp(prefix="oml-bench-"))
    if os.geteuid() == 0:
        folder.chmod(0o711)  # Postgres runs as another user, who must pass through
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        os.environ["OML_PORT"] = str(probe.getsockname()[1])
    try:
        with running(folder / "home") as (document, _):
            yield folder / "home", document
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--each", type=int, default=60, help="calls of one client on one arm")
    options = parser.parse_args()
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        os.environ.pop(name, None)  # its own server, never the one that somebody uses
    out = Console(width=110)
    with own_server() as (home, demo):
        database, port, keys = Places(home).database_url(), int(os.environ["OML_PORT"]), demo["keys"]

        def settle() -> None:
            with psycopg.connect(database) as connection:
                for _ in range(1200):
                    if connection.execute("SELECT 1 FROM jobs_outboxtask LIMIT 1").fetchone() is None:
                        return
                    time.sleep(0.05)

        @contextmanager
        def v1(path: str, body: Callable[[], dict[str, Any]], key: str) -> Iterator[Call]:
            web = Web(port, keys[key])

            def call() -> None:
                web.post(path, body())

            with closing(web):
                yield call

        @contextmanager
        def mcp(tool: str, body: Callable[[], dict[str, Any]], key: str) -> Iterator[Call]:
            web = Web(port, keys[key])

            def call() -> None:
                web.tool(tool, body())

            with closing(web):
                yield call

        meter = Meter(Places(home))
        promote(port, keys, PROMOTED)
        template = Web(port, keys["writer"]).post("/v1/memories", submission())["artifact_id"]
        raw = RawSubmit(database, template)
        submits = [
            Arm("raw SQL: the rows alone", raw.client),
            Arm("/v1/memories", lambda: v1("/v1/memories", submission, "writer")),
            Arm("MCP oml_remember", lambda: mcp("oml_remember", submission, "writer")),
        ]
        take_turns(submits, meter, clients=options.clients, each=options.each, settle=settle)

        query = {"query": "which aluminium delivery from Tema was weighed twice", "scope": "universe"}
        statements = statements_of_a_recall(home, demo["key_ids"]["reader"], query["query"])
        recalls = [
            Arm(f"raw SQL: its {len(statements)} statements", lambda: raw_recall(database, statements)),
            Arm("/v1/recall", lambda: v1("/v1/recall", lambda: query, "reader")),
            Arm("MCP oml_recall", lambda: mcp("oml_recall", lambda: query, "reader")),
        ]
        take_turns(recalls, meter, clients=options.clients, each=options.each, settle=settle)
    calls = f"{options.clients} clients, {options.clients * options.each} calls an arm, in {TURNS} turns"
    out.print(table_of(f"submit · {calls}", submits))
    out.print(table_of(f"recall over {PROMOTED} promoted claims · {calls}", recalls))
    return 0


if __name__ == "__main__":
    sys.exit(main())

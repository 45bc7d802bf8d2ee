"""OML as `make run` starts it, with every process in the test's hand: durable Postgres and its keeper, web, worker.

Each process has its own group, so that a kill -9 takes all of it, children too. Nothing here is mended by a
supervisor behind the test's back: what dies stays dead until the test starts it again, except Postgres, which the
product's own keeper brings back.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from oml.embedded import broker, ownership
from oml.embedded.cluster import Cluster
from oml.embedded.places import Places
from oml.embedded.supervise import KEEPER_COMMAND, ROOT, Plan, web_command, worker_command

READY_SECONDS = 60.0


class Installation:
    """One home with its own database, port and processes; :meth:`begin` makes it, :meth:`end` removes every process."""

    def __init__(self, home: Path) -> None:
        self.places = Places(home)
        self.cluster = Cluster(self.places)
        self.plan = Plan(port=_free_port(), embedded_database=True)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def port(self) -> int:
        return self.plan.port

    @property
    def database(self) -> str:
        """URL of the product's database, for the checker's own look at the rows."""
        return self.places.database_url()

    def begin(self) -> None:
        """Postgres, broker and migrations, in the order of `make run`; no process of ours yet."""
        self.cluster.ensure_started()
        broker.install(self.database)
        self.run("manage.py", "migrate", "--noinput")

    def run(self, *words: str) -> str:
        """A one-off command of the product on this installation; returns what it printed."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    def provision(self, *slugs: str) -> list[dict[str, Any]]:
        """Tenants with places and keys, made by the product's own functions."""
        made: list[dict[str, Any]] = json.loads(self.run("-m", "tests.chaos.provision", *slugs))
        return made

    def start(self, name: str, **environment: str) -> None:
        """Start ``web``, ``worker`` or ``keeper``; returns at once."""
        command = {
            "web": web_command(self.places, self.plan),
            "worker": worker_command(self.places, self.plan),
            "keeper": KEEPER_COMMAND,
        }[name]
        with open(self.places.log / f"{name}.log", "a") as log:
            self._running[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment() | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """kill -9 of the process and all its children at the same moment; returns when none of them is left."""
        process = self._running.pop(name)
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(family, timeout=10)
        assert not alive, alive

    def stop(self, name: str) -> None:
        """End politely, as Ctrl-C on `make run` does."""
        process = self._running.pop(name)
        process.terminate()
        process.wait(30)

    def stop_postgres_at_once(self) -> None:
        """Postgres' immediate shutdown: no checkpoint, every connection cut, recovery at the next start."""
        server = self.cluster.postmaster()
        assert server is not None
        server.send_signal(signal.SIGQUIT)
        with suppress(psutil.NoSuchProcess):
            server.wait(30)

    def memory(self, name: str) -> int:
        """Resident bytes of a process and its children, shared pages counted once (PSS where the kernel tells)."""
        leader = psutil.Process(self._running[name].pid)
        return sum(one.memory_full_info().pss for one in [leader, *leader.children(recursive=True)])

    def until_ready(self, seconds: float = READY_SECONDS) -> None:
        """Wait for ``/readyz`` 200."""
        try:
            self.until(lambda: self._readyz()[0] == 200, seconds, "/readyz is not green")
        except AssertionError as late:
            late.add_note(f"/readyz says {self._readyz()}")
            raise

    def until_worker(self, seconds: float = READY_SECONDS) -> None:
        """Wait for a worker that said within the last moments that it lives."""
        self.until(lambda: self._worker_age() < 10, seconds, "no worker lives")

    def until(self, true: Callable[[], bool], seconds: float, otherwise: str) -> float:
        """Poll until something is true; returns the seconds it took."""
        started = time.monotonic()
        while not true():
            assert time.monotonic() - started < seconds, f"{otherwise} after {seconds} s\n{self.last_words()}"
            time.sleep(0.05)
        return time.monotonic() - started

    def last_words(self) -> str:
        """The ends of all logs, for a failed test."""
        logs = sorted(self.places.log.glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)

    def end(self) -> None:
        """Whatever still runs, gone."""
        for name in list(self._running):
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                self.kill(name)
        if self.places.run.exists():
            ownership.end_children(self.places)
            self.cluster.stop()

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.places.home.parent),
            "OML_HOME": str(self.places.home),
            "OML_PORT": str(self.port),
            "DJANGO_SETTINGS_MODULE": "oml.settings",
            "PYTHONUNBUFFERED": "1",
            ownership.MARK: str(self.places.home),
        }

    def _worker_age(self) -> float:
        workers = self._readyz()[1].get("checks", {}).get("workers", {})
        return float(workers.get("age_seconds", 1e9))

    def _readyz(self) -> tuple[int, dict[str, Any]]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=10) as answer:
                return int(answer.status), json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())
        except OSError:
            return 0, {}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

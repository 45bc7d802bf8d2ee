"""Runs web, worker and the database's keeper under supervisord and says how they fare.

A process that dies is started again; one that keeps dying ends the whole with an honest exit code, because
half a system that looks alive is worse than none. What must never happen here: a process without the mark
by which the next start finds it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xmlrpc.client import Fault, ServerProxy

from supervisor.xmlrpc import SupervisorTransport

from oml.embedded.ownership import MARK
from oml.embedded.parent import die_with_parent
from oml.embedded.places import LONGEST_SOCKET_FOLDER, Places

CONFIGURATION = Path(__file__).with_name("supervisord.conf")
ROOT = Path(__file__).resolve().parents[2]
_STOP_SECONDS = 40
_MANY_STARTS, _MANY_STARTS_SECONDS = 6, 180
KEEPER_COMMAND = [sys.executable, "-m", "oml.embedded", "keep-database"]


@dataclass(frozen=True)
class Plan:
    """What is to run."""

    port: int
    embedded_database: bool
    web_processes: int = 2
    web_threads: int = 8
    worker_processes: int = 2


def web_command(places: Places, plan: Plan) -> list[str]:
    """How the web process of `make run` is started."""
    command = [sys.executable, "-m", "gunicorn", "oml.wsgi:application", "--worker-class", "gthread"]
    command += ["--workers", str(plan.web_processes), "--threads", str(plan.web_threads)]
    command += ["--bind", f"127.0.0.1:{plan.port}", "--graceful-timeout", "5", "--timeout", "120"]
    # Longer than clients keep an idle connection, so that it is they who close it: one that the server closes at the
    # moment it is used again is an error that no client may retry. Idle ones hold no thread.
    command += ["--keep-alive", "75"]
    # Requests are in the journal and the read log; an access log would be a third place with paths in it.
    return [*command, "--log-level", "warning", "--worker-tmp-dir", str(places.run)]


def worker_command(places: Places, plan: Plan) -> list[str]:
    """How the worker of `make run`, with beat, is started."""
    command = [sys.executable, "-m", "celery", "--app", "oml", "worker", "--beat", "--loglevel", "warning"]
    command += ["--schedule", str(places.run / "beat"), "--concurrency", str(plan.worker_processes)]
    # Gossip, mingle and Celery's own heartbeat need broadcast queues, which pgmq does not have.
    return [*command, "--without-gossip", "--without-mingle", "--without-heartbeat"]


class Supervisor:
    """One supervisord and its children; :meth:`start` it, ask :meth:`failed`, :meth:`stop` it."""

    def __init__(self, places: Places, plan: Plan, environment: dict[str, str]) -> None:
        self.places = places
        self.plan = plan
        self._environment = environment | {MARK: str(places.home)}
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch: str | None = None
        self._starts: dict[str, list[int]] = {}
        self._control = places.run / "supervisor.sock"
        if len(os.fsencode(self._control)) > LONGEST_SOCKET_FOLDER:
            self._scratch = tempfile.mkdtemp(prefix="oml-run-", dir="/tmp")
            self._control = Path(self._scratch) / "supervisor.sock"

    def start(self) -> None:
        """Starts everything; returns at once."""
        # Its own session: a Ctrl-C in the terminal reaches only us, and we decide the order of the end.
        with open(self.places.log / "supervisor.err", "w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(CONFIGURATION)],
                cwd=ROOT,
                env=self._environment | self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def failed(self) -> str | None:
        """Names the process that cannot be kept alive, or None while all is well."""
        if self._process is None or self._process.poll() is not None:
            return "supervisor"
        for row in self.states():
            if row["statename"] == "FATAL" or self._keeps_dying(str(row["name"]), int(row["start"])):
                return str(row["name"])
        return None

    def _keeps_dying(self, name: str, started: int) -> bool:
        """On a slow machine a process that fails while it starts outlives supervisord's first seconds."""
        seen = self._starts.setdefault(name, [])
        if started and started not in seen:
            seen.append(started)
        return len([moment for moment in seen if moment > time.time() - _MANY_STARTS_SECONDS]) > _MANY_STARTS

    def all_up(self) -> bool:
        """True when every process that is to run has lived through its first seconds."""
        rows = self.states()
        return bool(rows) and all(row["statename"] == "RUNNING" for row in rows if row["start"] or row["pid"])

    def states(self) -> list[dict[str, Any]]:
        """Supervisord's own rows: name, statename, pid; empty while it starts."""
        transport = SupervisorTransport(None, None, f"unix://{self._control}")
        try:
            with ServerProxy("http://127.0.0.1", transport=transport) as server:
                rows = server.supervisor.getAllProcessInfo()
        except (OSError, Fault, ValueError):
            return []
        return rows if isinstance(rows, list) else []

    def stop(self) -> None:
        """Ends all children, then supervisord; returns when they are gone."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def last_words(self, name: str, lines: int = 15) -> str:
        """The end of one process's log, for the terminal."""
        for file in (self.places.log / f"{name}.log", self.places.log / "supervisor.err"):
            if file.exists() and (text := file.read_text(errors="replace").strip()):
                return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])
        return "  (its log is empty)"

    def _variables(self) -> dict[str, str]:
        return {
            "OML_ROOT": str(ROOT),
            "OML_RUN": str(self.places.run),
            "OML_LOG": str(self.places.log),
            "OML_CONTROL": str(self._control),
            "OML_EMBEDDED_DATABASE": "true" if self.plan.embedded_database else "false",
            "OML_COMMAND_DATABASE": shlex.join(KEEPER_COMMAND),
            "OML_COMMAND_WEB": shlex.join(web_command(self.places, self.plan)),
            "OML_COMMAND_WORKER": shlex.join(worker_command(self.places, self.plan)),
        }

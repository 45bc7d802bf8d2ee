"""One `make run` as a test sees it: start it, wait for the welcome, look at its processes, end it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psutil

from oml.embedded import ownership
from oml.embedded.cluster import Cluster
from oml.embedded.places import Places
from oml.embedded.supervise import ROOT

START_SECONDS = 150.0


def free_port() -> int:
    """A port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Run:
    """`make run` on a home and a port of its own, with nothing of the test's environment."""

    def __init__(self, home: Path, port: int, **further: str) -> None:
        self.places = Places(home)
        self.port = port
        self.output = home.parent / "terminal.txt"
        self.process: subprocess.Popen[bytes] | None = None
        self.further = further

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.places.home.parent), "OML_HOME": str(self.places.home)} | {
            "OML_PORT": str(self.port),
            **self.further,
        }

    def start(self) -> Run:
        with open(self.output, "w") as terminal:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "oml.embedded", "run"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=terminal,
                stderr=terminal,
                start_new_session=True,
            )
        return self

    def until_welcome(self) -> Run:
        deadline = time.monotonic() + START_SECONDS
        while "OML is ready" not in self.said():
            assert self.process is not None
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)
        return self

    def said(self) -> str:
        return self.output.read_text() if self.output.exists() else ""

    def demo(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.places.demo.read_text())
        return document

    def interrupt(self) -> int:
        """Ctrl-C; returns the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(90)

    def command(self, word: str) -> subprocess.CompletedProcess[str]:
        """Another terminal: `run` or `stop` on the same home."""
        return subprocess.run(
            [sys.executable, "-m", "oml.embedded", word],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def until_ready(self, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not self.is_ready():
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def until_all_up(self, seconds: float = 90.0) -> None:
        """Healed: the supervisor says that all its processes run, Postgres lives, and ``/readyz`` is green."""
        deadline = time.monotonic() + seconds
        names = ("gunicorn", "celery", "keep-database")
        while True:
            commands = list(self._commands().values())
            missing = [name for name in names if not any(name in command for command in commands)]
            if not missing and Cluster(self.places).postmaster() is not None and self.is_ready():
                return
            assert time.monotonic() < deadline, f"{missing}; {self.said()}"
            time.sleep(0.1)

    def _commands(self) -> dict[psutil.Process, str]:
        found = {}
        for process in ownership.children(self.places):
            with contextlib.suppress(psutil.Error):  # gone since the list was made
                found[process] = " ".join(process.cmdline())
        return found

    def named(self, word: str) -> psutil.Process:
        """The oldest process of this run with ``word`` in its command line."""
        found = [process for process, command in self._commands().items() if word in command]
        assert found, f"no {word} among the processes of this run"
        return min(found, key=psutil.Process.create_time)

    def postmaster(self) -> psutil.Process:
        found = Cluster(self.places).postmaster()
        assert found is not None
        return found

    def leftovers(self) -> list[str]:
        """Everything of this run that still lives; empty after an honest end."""
        left = list(self._commands().values())
        if Cluster(self.places).postmaster() is not None:
            left.append("postgres")
        if self.process is not None and self.process.poll() is None:
            left.append("the run itself")
        return left

    def clean_up(self) -> None:
        """For fixtures: whatever a failed test left."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.places.run.exists():
            ownership.end_children(self.places)
            Cluster(self.places).stop()

"""The real server for the real clients: `make run` in a home of its own, ended whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import ROOT

READY_SECONDS = 180.0


@dataclass(frozen=True)
class Running:
    """A server that answers, and what is known of it."""

    home: Path
    document: dict[str, Any]


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    """One server for the session, started by the command that a person would use."""
    folder = Path(tempfile.mkdtemp(prefix="oml-clients-"))
    if os.geteuid() == 0:
        folder.chmod(0o711)  # Postgres gives up root, and its user must be able to pass
    home = folder / "home"
    log = folder / "run.log"
    environment = {key: value for key, value in os.environ.items() if key not in _OF_THE_TESTS}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "oml.embedded", "run"],
            cwd=ROOT,
            env=environment | {"OML_HOME": str(home), "OML_PORT": str(_free_port())},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Running(home, _wait(home, process, log))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(90)
        shutil.rmtree(folder, ignore_errors=True)


_OF_THE_TESTS = {"OML_ENV", "DATABASE_URL", "CELERY_BROKER_URL", "OML_SECRETS_DIR", "DJANGO_SETTINGS_MODULE"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(home: Path, process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    deadline = time.monotonic() + READY_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            document: dict[str, Any] = json.loads((home / "demo.json").read_text())
            with urllib.request.urlopen(f"{document['base_url']}/readyz", timeout=5):
                return document
        except (OSError, ValueError, urllib.error.HTTPError):
            time.sleep(0.3)
    pytest.fail("the server did not become ready:\n" + log.read_text(errors="replace")[-4000:])

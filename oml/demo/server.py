"""The server that the story is played against: the one of this home that runs, or one started for the story.

What must never happen here: ending a server that somebody else started, or leaving one behind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from oml.embedded.places import Places

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 240.0
END_SECONDS = 60.0


class NoServer(Exception):
    """No server answers and none could be started."""


@contextmanager
def running(home: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield ``demo.json`` of a server that is ready, and whether it was started here.

    Args:
        home: ``OML_HOME``.

    Raises:
        NoServer: with the last lines of the log of the attempt.
    """
    places = Places(home)
    document = _ready(places)
    if document is not None:
        yield document, False
        return
    home.mkdir(parents=True, exist_ok=True)
    log = home / "demo-run.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "oml.embedded", "run"],
            cwd=ROOT,
            env={**os.environ, "OML_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield _wait(places, process, log), True
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(END_SECONDS)


def _ready(places: Places) -> dict[str, Any] | None:
    """The document of this home when its server answers ``/readyz`` with 200."""
    try:
        document: dict[str, Any] = json.loads(places.demo.read_text())
        answer = httpx2.get(f"{document['base_url']}/readyz", timeout=5)
    except (OSError, ValueError, KeyError, httpx2.HTTPError):
        return None
    return document if answer.status_code == 200 else None


def _wait(places: Places, process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        document = _ready(places)
        if document is not None:
            return document
        time.sleep(0.5)
    words = log.read_text(errors="replace").strip().splitlines()[-15:]
    raise NoServer("no OML server became ready:\n" + "\n".join(words))

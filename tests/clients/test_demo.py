"""`make demo`: the story holds against a running server, and breaks off honestly when a promise does not."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from oml.demo.story import BrokenPromise, Story
from oml.embedded.supervise import ROOT
from tests.embedded.running import Run

pytestmark = pytest.mark.slow


def test_demo__against_a_running_server__tells_the_whole_story_and_leaves_it_running(running: Run):
    done = subprocess.run(
        [sys.executable, "-m", "oml.demo"],
        cwd=ROOT,
        env=running.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for sentence in (
        "state held",
        "Steering first",
        "lifecycle.promote",
        "idempotent_replay true",
        "reads exactly that version",
        "verify_journal passes",
    ):
        assert sentence in done.stdout
    assert "Every sentence held." in done.stdout
    assert running.is_ready()


def test_demo__a_promise_that_does_not_hold__breaks_off(running: Run):
    document = running.demo()
    document["keys"]["writer2"] = document["keys"]["writer"]  # the "second agent" is the author itself
    # In a thread of its own: the browser tests' driver keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        told = thread.submit(anyio.run, Story(document, lambda _sentence: None).play)
        with pytest.raises(BrokenPromise, match="another key sees it in its my_work"):
            told.result(timeout=120)

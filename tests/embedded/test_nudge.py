"""oml/nudge.py: nobody waits for the broker, and nothing is broken by its absence."""

from __future__ import annotations

import os
import threading
import time

import pytest

from oml.nudge import Nudger


def test_nudger__broker_hangs__caller_returns_at_once() -> None:
    release = threading.Event()
    nudge = Nudger(lambda: release.wait(30))
    started = time.monotonic()
    for _ in range(1000):
        nudge()
    assert time.monotonic() - started < 5
    release.set()


def test_nudger__broker_raises__later_wishes_are_still_sent(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[int] = []
    done = threading.Event()

    def send() -> None:
        sent.append(1)
        if len(sent) == 1:
            raise OSError("the broker's own words, which may quote anything")
        done.set()

    nudge = Nudger(send)
    nudge()
    deadline = time.monotonic() + 10
    while not caplog.records and time.monotonic() < deadline:
        time.sleep(0.01)
    nudge()
    assert done.wait(10)
    assert [record.getMessage() for record in caplog.records] == [
        "no nudge sent (OSError); the sweep will find the work"
    ]


def test_nudger__burst_while_sending__few_messages_and_one_after_the_last_wish() -> None:
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        time.sleep(0.2)

    nudge = Nudger(send)
    for _ in range(500):
        nudge()
    last = time.monotonic()
    time.sleep(1)
    assert 1 <= len(sent) <= 3
    assert len(sent) > 1 or sent[-1] >= last


def test_nudger__burst_of_a_second_and_a_quick_broker__a_dozen_messages_at_most() -> None:
    sent: list[float] = []
    nudge = Nudger(lambda: sent.append(time.monotonic()))
    until = time.monotonic() + 1
    while time.monotonic() < until:
        nudge()
        time.sleep(0.001)
    assert 2 <= len(sent) <= 12


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_nudger__forked_after_first_use__the_child_sends_too() -> None:
    reader, writer = os.pipe()
    nudge = Nudger(lambda: os.write(writer, b"x"))
    nudge()
    assert os.read(reader, 1) == b"x"
    child = os.fork()
    if child == 0:
        nudge()
        time.sleep(5)
        os._exit(0)
    assert os.read(reader, 1) == b"x"
    os.kill(child, 9)
    os.waitpid(child, 0)

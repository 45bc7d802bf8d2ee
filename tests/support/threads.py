"""Real second connections: run things at once, or stop one of them at a named place while another goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from oml.core.errors import OmlError

LONG_ENOUGH = 60


class Running:
    """A call in a thread with a connection of its own; ``result()`` is what it returned or raised."""

    def __init__(self, call: Callable[[], Any], *, barrier: threading.Barrier | None = None) -> None:
        self._outcome: Any = None
        self._call, self._barrier = call, barrier
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if self._barrier is not None:
                self._barrier.wait(LONG_ENOUGH)
            self._outcome = self._call()
        except BaseException as error:
            self._outcome = error
        finally:
            connection.close()

    def result(self) -> Any:
        self._thread.join(LONG_ENOUGH)
        assert not self._thread.is_alive(), "still running"
        return self._outcome

    def is_waiting(self, seconds: float = 0.3) -> bool:
        self._thread.join(seconds)
        return self._thread.is_alive()


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Start every call at the same moment and return their outcomes in order."""
    barrier = threading.Barrier(len(calls))
    running = [Running(call, barrier=barrier) for call in calls]
    return [one.result() for one in running]


def code_of(outcome: Any) -> str:
    """``ok``, or the code it was refused with; anything else is raised here."""
    if isinstance(outcome, OmlError):
        return outcome.code
    if isinstance(outcome, BaseException):
        raise outcome
    return "ok"


class Gate:
    """A place in the code where the first thread that comes stops until it is let on; later ones pass."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def wait_here(self) -> None:
        if not self.reached.is_set():
            self.reached.set()
            assert self.open.wait(LONG_ENOUGH), "nobody opened the gate"

    def wait_until_reached(self) -> None:
        assert self.reached.wait(LONG_ENOUGH), "nobody came to the gate"


@contextmanager
def stopped(
    monkeypatch: pytest.MonkeyPatch, where: str, call: Callable[[], Any], *, before: bool = False
) -> Iterator[Running]:
    """Run ``call`` and stop it after (or before) the function named ``where``; it goes on when the block ends.

    Only that call's thread stops: what the block itself does passes through freely.
    """
    gate = Gate()
    module, name = where.rsplit(".", 1)
    real = getattr(__import__(module, fromlist=[name]), name)

    def gated(*args: Any, **kwargs: Any) -> Any:
        mine = threading.current_thread() is running._thread
        if mine and before:
            gate.wait_here()
        result = real(*args, **kwargs)
        if mine and not before:
            gate.wait_here()
        return result

    monkeypatch.setattr(where, gated)
    started = threading.Event()

    def after_start() -> Any:
        started.wait(LONG_ENOUGH)
        return call()

    running = Running(after_start)
    started.set()
    gate.wait_until_reached()
    try:
        yield running
    finally:
        gate.open.set()

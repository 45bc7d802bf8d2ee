"""Tells a worker that the outbox has work, without making anybody wait.

A broker that is away must cost a request nothing: the message is sent by a thread of its own, and a burst of
submissions becomes a few messages. Losing one is no harm, the sweep finds the row (design: admission); so
nothing here is retried, and what must never happen is an exception or a delay in the caller.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

# Longest wait of a wish behind the one before it. Without a pause every submission of a burst is a message of its
# own, a worker that was away finds thousands that say the same, and sending costs the requests their processor.
_PAUSE_SECONDS = 0.1


class Nudger:
    """Call it to wish for a message; a daemon thread of this process sends it.

    Args:
        send: does the sending; may raise anything.
    """

    def __init__(self, send: Callable[[], object]) -> None:
        self._send = send
        self._wanted = threading.Event()
        self._lock = threading.Lock()
        self._process = 0

    def __call__(self) -> None:
        """Returns at once."""
        if self._process != os.getpid():
            self._begin()
        self._wanted.set()

    def _begin(self) -> None:
        with self._lock:
            if self._process != os.getpid():  # a forked child has its parent's memory and none of its threads
                self._process = os.getpid()
                threading.Thread(target=self._run, name="oml-nudge", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            try:
                self._send()
            except Exception as error:
                logger.warning("no nudge sent (%s); the sweep will find the work", type(error).__name__)
            time.sleep(_PAUSE_SECONDS)

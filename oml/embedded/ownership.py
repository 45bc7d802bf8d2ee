"""Who owns a home, and which processes belong to it.

One `make run` a home, known by a lock; its processes, known by a variable in their environment, because
process ids are reused and process groups do not survive their leader. What must never happen here: a signal
sent to a process that this home did not start.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from types import TracebackType

import psutil

from oml.embedded.places import Places

MARK = "OML_RUN_HOME"
_GRACE_SECONDS = 15.0


class AlreadyRunning(Exception):
    """Another `make run` owns this home; the message says which process."""


class Ownership:
    """Holds the home for as long as the ``with`` block, or this process, lives."""

    def __init__(self, places: Places) -> None:
        self.places = places

    def __enter__(self) -> Ownership:
        # Kept open on purpose. A POSIX lock, not flock: that one would be inherited by every child and keep
        # the home locked after this process was killed.
        self._file = open(self.places.run_lock, "a")
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            running = owner(self.places)
            number = f" (process {running.pid})" if running else ""
            raise AlreadyRunning(f"OML already runs from {self.places.home}{number}; `make stop` ends it") from None
        me = psutil.Process()
        self.places.owner.write_text(json.dumps({"pid": me.pid, "started": me.create_time()}))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.places.owner.unlink(missing_ok=True)
        self._file.close()


def owner(places: Places) -> psutil.Process | None:
    """The live `make run` of this home, or None."""
    try:
        noted = json.loads(places.owner.read_text())
        process = psutil.Process(noted["pid"])
        same = abs(process.create_time() - noted["started"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, KeyError, psutil.Error):
        return None
    return process if same else None


def children(places: Places) -> list[psutil.Process]:
    """Every live process that was started with this home's mark, whoever its parent is by now."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.environ().get(MARK) == str(places.home):
                found.append(process)
    return found


def end_children(places: Places) -> int:
    """Ends what an earlier, killed run left behind; politely, then for certain. Returns how many."""
    ended: set[int] = set()
    # Twice: a process may have been forked while the first look was taken.
    for _ in range(2):
        left = children(places)
        for process in left:
            ended.add(process.pid)
            with suppress(psutil.Error):
                process.terminate()
        _, stubborn = psutil.wait_procs(left, timeout=_GRACE_SECONDS)
        for process in stubborn:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(stubborn, timeout=5)
    return len(ended)

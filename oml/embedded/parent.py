"""Asks the kernel to end a child when its parent dies, so that a kill -9 leaves no orphan (Linux only)."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(signum: signal.Signals = signal.SIGTERM) -> None:
    """For ``preexec_fn``: runs in the child, after it became its user (a change of user forgets the wish)."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signum)

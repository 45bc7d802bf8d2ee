"""Processes that check blocks of a journal. Nothing here imports Django before a worker has set it up."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def processes(count: int) -> ProcessPoolExecutor:
    """Fresh processes with this process's environment, each with a database connection of its own."""
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    import django

    django.setup()

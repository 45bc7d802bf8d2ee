"""Celery's side of the journal: the task calls one function."""

from __future__ import annotations

from celery import shared_task

from oml.journal.checkpoint import make_checkpoints


@shared_task(name="journal.checkpoint", ignore_result=True)
def checkpoint() -> None:
    """Sign what is new in every tenant's journal."""
    make_checkpoints()

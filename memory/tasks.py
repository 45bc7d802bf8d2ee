"""Celery's and the outbox's side of memory: each task calls one action."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from memory.claims.actions.end import expire_held
from memory.claims.actions.scan import SCAN_TASK, scan_artifacts
from memory.recall import index, statistics
from memory.recall.sealing import seal_read_logs
from memory.records import derive
from oml.jobs.outbox import handler


@handler(SCAN_TASK)
def scan(batch: list[dict[str, Any]]) -> None:
    """Scan and index a batch of submissions."""
    scan_artifacts([task["artifact_id"] for task in batch])


@handler(derive.TASK, slow=True)
def derive_records(batch: list[dict[str, Any]]) -> None:
    """Tags, chunks and vectors of a batch of source records."""
    derive.derive_tasks([task["sr_ids"] for task in batch])


@shared_task(name="memory.expire_held", ignore_result=True)
def expire() -> None:
    """Reject held items that nobody reviewed in time."""
    expire_held()


@shared_task(name="memory.refresh_statistics", ignore_result=True)
def refresh_statistics() -> None:
    """Count document frequencies anew where they moved, and embed what waited for its embedder."""
    statistics.refresh_changed()
    index.embed_missing()
    derive.embed_missing()


@shared_task(name="memory.seal_read_log", ignore_result=True)
def seal() -> None:
    """Seal the last minute of reads into each tenant's journal."""
    seal_read_logs()

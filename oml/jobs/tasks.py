"""Celery's side of the outbox: tasks call the functions next door and nothing else."""

from __future__ import annotations

import time

from celery import current_app, shared_task

from oml.jobs import heartbeat, outbox

_ROUNDS = 4
_SECONDS = 20.0


@shared_task(name="oml.jobs.drain", ignore_result=True)
def drain() -> None:
    """Do due work; when there is more than a few batches, or it takes long, pass the rest on: workers share it."""
    started = time.monotonic()
    for _ in range(_ROUNDS):
        if outbox.drain() == 0:
            return
        if time.monotonic() - started > _SECONDS:
            break
    current_app.send_task("oml.jobs.drain")


@shared_task(name="oml.jobs.sweep", ignore_result=True)
def sweep() -> None:
    """Find work whose nudge was lost with a broker or a worker."""
    drain()


@shared_task(name="oml.jobs.heartbeat", ignore_result=True)
def beat() -> None:
    """Say that this worker lives."""
    heartbeat.beat()

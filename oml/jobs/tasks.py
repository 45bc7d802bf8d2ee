"""Celery's side of the outbox: tasks call the functions next door and nothing else."""

from __future__ import annotations

from celery import current_app, shared_task

from oml.jobs import heartbeat, outbox

_ROUNDS = 4


@shared_task(name="oml.jobs.drain", ignore_result=True)
def drain() -> None:
    """Do due work; when there is more than a few batches, pass the rest on so that workers share it."""
    for _ in range(_ROUNDS):
        if outbox.drain() == 0:
            return
    current_app.send_task("oml.jobs.drain")


@shared_task(name="oml.jobs.sweep", ignore_result=True)
def sweep() -> None:
    """Find work whose nudge was lost with a broker or a worker."""
    drain()


@shared_task(name="oml.jobs.heartbeat", ignore_result=True)
def beat() -> None:
    """Say that this worker lives."""
    heartbeat.beat()

"""The worker process: composition only. Tasks live in the rooms and call actions."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

app = Celery("oml")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def nudge() -> None:
    """Tell a worker that the outbox has work. May fail or get lost: the sweep is the guarantee."""
    app.send_task("oml.jobs.drain")

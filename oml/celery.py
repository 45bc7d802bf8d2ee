"""The worker process: composition only. Tasks live in the rooms and call actions."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready

from oml.nudge import Nudger

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

app = Celery("oml")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


nudge = Nudger(lambda: app.send_task("oml.jobs.drain"))


@worker_ready.connect
def first_heartbeat(**_: Any) -> None:
    """A worker says that it lives when it does, not ten seconds later with beat's first tick."""
    app.send_task("oml.jobs.heartbeat")

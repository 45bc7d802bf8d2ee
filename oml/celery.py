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

# A worker that comes back after an hour need not hear what was said meanwhile: its first sweep finds it all.
_NUDGE_SECONDS = 30
nudge = Nudger(lambda: app.send_task("oml.jobs.drain", expires=_NUDGE_SECONDS))


@worker_ready.connect
def first_heartbeat(**_: Any) -> None:
    """A worker says that it lives when it does, not ten seconds later with beat's first tick."""
    app.send_task("oml.jobs.heartbeat")

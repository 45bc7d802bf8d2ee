"""The house itself as a Django app: the place where rooms that may not know each other are joined."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class HouseConfig(AppConfig):
    """Gives the outbox its way to a worker, so that ``oml.jobs`` needs no Celery application."""

    name = "oml"
    label = "house"
    verbose_name = "OML"

    def ready(self) -> None:
        from oml import celery
        from oml.jobs import outbox

        if settings.CELERY_BROKER_URL != "memory://":  # tests: no other process could hear it
            outbox.set_nudge(celery.nudge)

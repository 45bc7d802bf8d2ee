"""The house itself as a Django app: the place where rooms that may not know each other are joined."""

from __future__ import annotations

from django.apps import AppConfig


class HouseConfig(AppConfig):
    """Gives the outbox its way to a worker, so that ``oml.jobs`` needs no Celery application."""

    name = "oml"
    label = "house"
    verbose_name = "OML"

    def ready(self) -> None:
        from oml import celery
        from oml.jobs import outbox

        outbox.set_nudge(celery.nudge)

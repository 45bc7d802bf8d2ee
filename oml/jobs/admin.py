"""Workers in the admin console. A heartbeat belongs to the deployment and names no tenant; tasks do, and are shown
where their subjects are known (``memory/admin``)."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from oml.console import tiles
from oml.console.readonly import ReadOnlyAdmin
from oml.console.tiles import Tile
from oml.core.clock import now
from oml.http.health import WORKER_LATE_SECONDS
from oml.jobs import heartbeat
from oml.jobs.models import WorkerHeartbeat


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(ReadOnlyAdmin):
    tenant_path = None
    list_display = ("name", "at", "age")
    ordering = ("-at",)
    shown = ("name", "at", "age")

    @admin.display(description="seconds ago")
    def age(self, beat: WorkerHeartbeat) -> int:
        return int((now() - beat.at).total_seconds())


def _workers(request: HttpRequest) -> list[Tile]:
    age = heartbeat.seconds_since_last()
    if age is None:
        return [Tile("Worker", "never seen", attention="nothing is scanned or embedded until one runs")]
    late = age > WORKER_LATE_SECONDS
    return [
        Tile(
            "Worker's heartbeat",
            f"{int(age)} s ago",
            attention="late: submissions wait for their scans" if late else "",
            address="jobs/workerheartbeat/",
        )
    ]


tiles.register(_workers, order=20)

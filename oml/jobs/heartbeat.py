"""Workers say that they live; ``/readyz`` and the dashboard read how long ago."""

from __future__ import annotations

import os
import socket

from django.db.models import Max

from oml.core.clock import now
from oml.jobs.models import WorkerHeartbeat


def beat() -> None:
    """Record this worker's heartbeat."""
    WorkerHeartbeat.objects.update_or_create(
        name=os.environ.get("OML_WORKER_NAME", socket.gethostname()), defaults={"at": now()}
    )


def seconds_since_last() -> float | None:
    """Age of the newest heartbeat in seconds; None when no worker ever lived."""
    newest = WorkerHeartbeat.objects.aggregate(at=Max("at"))["at"]
    return None if newest is None else (now() - newest).total_seconds()

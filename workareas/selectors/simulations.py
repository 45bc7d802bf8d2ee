"""A simulation as its administrators see it (D10)."""

from __future__ import annotations

from typing import Any

from oml.core.clock import rfc3339_seconds
from workareas.models import Simulation


def simulation_body(row: Simulation) -> dict[str, Any]:
    """Id, name, audience of key ids, and when it was closed."""
    return {
        "simulation_id": row.pk,
        "name": row.name,
        "audience": sorted(row.audience.values_list("pk", flat=True)),
        "closed_at": rfc3339_seconds(row.closed_at) if row.closed_at else None,
    }

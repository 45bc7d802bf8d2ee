"""What the journal says happened."""

from __future__ import annotations

import json
from typing import Any

from oml.journal.models import JournalEntry


def journalled(event_type: str, *, tenant_id: str | None = None, once: bool = False) -> list[dict[str, Any]]:
    """Assert that an event was journalled and return its records, oldest first."""
    rows = JournalEntry.objects.filter(event_type=event_type).order_by("id")
    if tenant_id is not None:
        rows = rows.filter(tenant_id=tenant_id)
    records = [json.loads(row.canonical) for row in rows]
    assert records, f"{event_type} is not in the journal"
    assert not once or len(records) == 1, f"{event_type} is there {len(records)} times"
    return records


def length(tenant_id: str) -> int:
    """How many acts stand in a tenant's journal; an attempt that was refused is in it and is no act."""
    return JournalEntry.objects.filter(tenant_id=tenant_id).exclude(event_type="review.refused").count()

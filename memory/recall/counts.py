"""How often was read, by whom and through which surface: for evidence, never what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from django.db.models import Count

from memory.recall.models import ReadLog

Reader = tuple[str, str, str]
"""Key, principal, surface."""


def read_counts(
    tenant_id: str, ranges: Iterable[tuple[int, int]], *, workareas: Collection[str] | None = None
) -> dict[Reader, int]:
    """Count the reads whose rows lie in sealed ranges.

    Args:
        tenant_id: whose read log.
        ranges: first and last row id of seals.
        workareas: only reads that asked about one of these nodes; all, when None.
    """
    counts: Counter[Reader] = Counter()
    for first, last in ranges:
        rows = ReadLog.objects.filter(tenant_id=tenant_id, id__gte=first, id__lte=last)
        if workareas is not None:
            rows = rows.filter(workarea_id__in=workareas)
        grouped = rows.order_by().values_list("key_id", "principal_id", "surface").annotate(count=Count("id"))
        for key, principal, surface, count in grouped:
            counts[key, principal, surface] += count
    return dict(counts)

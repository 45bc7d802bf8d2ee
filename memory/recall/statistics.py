"""Document frequencies per tenant: what makes a rare word weigh more than a common one.

Counted from the promoted rows, in one statement, in the background; a small scope counts its own at query time and
needs none of this. Places are stored, never words, and only those that stand in more than one row: a term that one
text alone has is weighed as such by its absence, and nothing of an erased text stays behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction

from memory.recall.models import TermStatistics

#: Statistics are counted again when the number of rows moved by this share, or by this many in a small tenant.
_SHARE, _AT_LEAST = 0.02, 20

_COUNT = """
INSERT INTO memory_termstatistics (tenant_id, place, documents)
SELECT %(tenant)s, ('x' || lpad(word, 8, '0'))::bit(32)::int, ndoc
FROM ts_stat(format('SELECT lexemes FROM memory_servingrow WHERE promoted AND tenant_id = %%L', %(tenant)s::text))
WHERE ndoc > 1
UNION ALL
SELECT %(tenant)s, 0, count(*) FROM memory_servingrow WHERE promoted AND tenant_id = %(tenant)s
"""


def refresh(tenant_id: str) -> None:
    """Count a tenant's document frequencies anew; readers see the old ones until it commits."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Two workers at once would insert twice; the second one waits and counts again.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('recall.statistics'), hashtext(%s))", [tenant_id])
        TermStatistics.objects.filter(tenant_id=tenant_id).delete()
        cursor.execute(_COUNT, {"tenant": tenant_id})


def refresh_changed() -> int:
    """Refresh every tenant whose rows changed enough to matter; returns how many. For beat."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.id, coalesce(s.documents, 0), (SELECT count(*) FROM memory_servingrow r "
            "WHERE r.promoted AND r.tenant_id = t.id) FROM workareas_tenant t "
            "LEFT JOIN memory_termstatistics s ON s.tenant_id = t.id AND s.place = 0"
        )
        changed = [
            tenant
            for tenant, known, present in cursor.fetchall()
            if abs(present - known) > max(_AT_LEAST - 1, _SHARE * known) or (present and not known)
        ]
    for tenant in changed:
        refresh(tenant)
    return len(changed)


def frequencies(tenant_id: str, places: Sequence[int]) -> tuple[int, dict[int, int]]:
    """Rows counted over and document frequency by place; a place that is missing stands in one row at most."""
    rows = dict(
        TermStatistics.objects.filter(tenant_id=tenant_id, place__in=[0, *places]).values_list("place", "documents")
    )
    total = rows.pop(0, 0)
    return total, {place: rows.get(place, 1) for place in places}

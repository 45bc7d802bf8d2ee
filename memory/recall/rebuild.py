"""Build the whole index again from the artifacts: after another lexer, another model, or a loss.

Recall goes on meanwhile: a row is replaced in one transaction, and vectors of two models are never compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Q, QuerySet

from memory.claims.models import Artifact
from memory.claims.states import ScanState, State, Surface
from memory.recall import index, statistics
from memory.recall.models import ServingRow

_AT_ONCE = 32
_SCANNED = [ScanState.CLEAN, ScanState.FLAGGED]


def indexed_artifacts() -> QuerySet[Artifact]:
    """What belongs into the index: claims that are promoted, and those that are held and scanned."""
    return Artifact.objects.filter(
        Q(state=State.PROMOTED) | Q(state=State.HELD, scan_state__in=_SCANNED),
        text__isnull=False,
        channel=Surface.CLAIM,
    ).order_by("pk")


def rebuild_serving() -> Iterator[int]:
    """Rebuild every row, oldest first; yields how many each step built.

    Safe to interrupt and to repeat. Rows whose artifact does not belong into the index any more are removed, and the
    document frequencies of tenants that changed are counted anew at the end.
    """
    last = ""
    while True:
        with transaction.atomic():
            # Locked, so that an artifact that ends at this moment is not written back.
            rows = list(
                indexed_artifacts()
                .filter(pk__gt=last)
                .select_for_update(of=("self",), no_key=True)
                .select_related("workarea")[:_AT_ONCE]
            )
            if not rows:
                break
            last = rows[-1].pk
            index.prepare(rows)
            for row in rows:
                if row.state == State.PROMOTED:
                    index.publish(row)
        yield len(rows)
    for stray in ServingRow.objects.exclude(pk__in=indexed_artifacts().values("pk")).values_list("pk", flat=True):
        index.erase(stray)
    statistics.refresh_changed()

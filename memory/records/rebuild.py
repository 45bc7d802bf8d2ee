"""The caches of source records from their ledger: the same rows, whenever they are written again."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction

from memory.records import derive, rules, statements
from memory.records.models import Record, RecordEntry

_STEP = 100


def count_records() -> int:
    """How many records the ledger knows."""
    return RecordEntry.objects.values("sr_id").distinct().count()


def rebuild() -> Iterator[int]:
    """Drop the cache and write it again from the ledger; yields how many records each step did.

    One transaction: readers see the old rows until it commits.
    """
    with transaction.atomic():
        Record.objects.all().delete()
        after = ""
        while True:
            ids = list(
                RecordEntry.objects.filter(sr_id__gt=after)
                .order_by("sr_id")
                .values_list("sr_id", flat=True)
                .distinct()[:_STEP]
            )
            if not ids:
                return
            statements.cache([head.pk for head in heads_of(ids)], fresh=True)
            derive.derive(ids)
            after = ids[-1]
            yield len(ids)


def heads_of(ids: list[str]) -> list[RecordEntry]:
    """The latest entry of each of these records."""
    by_record: dict[str, list[RecordEntry]] = {}
    for entry in RecordEntry.objects.filter(sr_id__in=ids):
        by_record.setdefault(entry.sr_id, []).append(entry)
    heads = [rules.head_of(entries) for _, entries in sorted(by_record.items())]
    return [head for head in heads if head is not None]

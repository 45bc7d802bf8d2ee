"""Entries of one tenant as a verifier reads them: every column, in order, straight from the driver."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection
from django.db.models import Subquery
from psycopg import ServerCursor

from oml.journal.chain_check import Head, Row
from oml.journal.models import JournalEntry, JournalHead

CHUNK = 5_000


def stream(tenant_id: str, *, after: int = 0, until: int | None = None) -> Iterator[tuple[Row, Head | None]]:
    """Rows in order, each with the head as the same statement saw it; inside a transaction.

    Past the ORM, since it is most of the time there is: a server-side cursor of the driver, in the binary format, whose
    tuples are the rows as they are.

    Args:
        tenant_id: whose.
        after: the number that the first row follows; with 0 there is no lower bound, so that a row below 1 is seen.
        until: the last number; None reads to the end, whatever stands there.
    """
    heads = JournalHead.objects.filter(pk=tenant_id)
    entries = JournalEntry.objects.filter(tenant_id=tenant_id)
    if after:
        entries = entries.filter(seq__gt=after)
    if until is not None:
        entries = entries.filter(seq__lte=until)
    rows = (
        entries.order_by("seq", "id")
        .annotate(head_seq=Subquery(heads.values("seq")), head_hash=Subquery(heads.values("chain_hash")))
        .values_list(*Row._fields, "head_seq", "head_hash")
    )
    statement, values = rows.query.sql_with_params()
    connection.ensure_connection()
    width = len(Row._fields)
    with ServerCursor(connection.connection, "verify_journal") as cursor:
        cursor.execute(statement, values, binary=True)
        while chunk := cursor.fetchmany(CHUNK):
            *_, head_seq, head_hash = chunk[-1]  # one statement, one snapshot: the same in every row
            head = None if head_seq is None else Head(head_seq, head_hash)
            for columns in chunk:
                yield Row._make(columns[:width]), head

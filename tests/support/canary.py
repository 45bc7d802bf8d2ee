"""Look for a word in every column of every table, whatever its type."""

from __future__ import annotations

from django.db import connection

_COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' ORDER BY table_name, ordinal_position
"""


def places_of(word: str) -> list[str]:
    """``table.column`` of every place where the word stands, in plain or as UTF-8 bytes."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        for table, column in cursor.fetchall():
            cursor.execute(
                f'SELECT 1 FROM "{table}" WHERE position(%s IN lower("{column}"::text)) > 0 '
                f'OR position(%s IN "{column}"::text) > 0 LIMIT 1',
                [word.lower(), word.lower().encode().hex()],
            )
            if cursor.fetchone():
                found.append(f"{table}.{column}")
    return found

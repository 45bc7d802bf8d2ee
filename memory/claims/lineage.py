"""The lineage closure: everything a claim declares it rests on, however deep (R2).

The closure is computed in the transaction that decides, over the rows as they are then.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

_CLOSURE = """
WITH RECURSIVE closure(id) AS (
    SELECT %s::varchar
  UNION
    SELECT step.id FROM closure, LATERAL (
        SELECT l.source_id AS id FROM memory_lineage l WHERE l.artifact_id = closure.id
      UNION ALL
        SELECT a.previous_id FROM memory_artifact a WHERE a.id = closure.id AND a.previous_id IS NOT NULL
    ) AS step
)
SELECT a.id, a.author_key_id, a.author_principal_id
FROM closure JOIN memory_artifact a ON a.id = closure.id
WHERE a.id <> %s
ORDER BY a.id
"""


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One artifact in a closure, with who wrote it."""

    artifact_id: str
    author_key_id: str
    author_principal_id: str


def closure_of(artifact_id: str) -> list[Ancestor]:
    """Every artifact reachable over derives_from and earlier versions, the artifact itself left out.

    One recursive query; UNION ends it on cycles.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLOSURE, [artifact_id, artifact_id])
        return [Ancestor(*row) for row in cursor.fetchall()]

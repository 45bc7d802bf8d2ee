"""The lineage closure: everything a claim declares it rests on, however deep (R2).

It runs over ``derives_from``, earlier versions, and connection edges, pending and ratified alike, in the edges'
direction. The closure is computed in the transaction that decides, over the rows as they are then.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

#: One step from ``closure.id`` to what it rests on. Edges are a table of the graph room; SQL knows no rooms.
STEP_UP = """
        SELECT l.source_id AS id FROM memory_lineage l WHERE l.artifact_id = closure.id
      UNION ALL
        SELECT a.previous_id FROM memory_artifact a WHERE a.id = closure.id AND a.previous_id IS NOT NULL
      UNION ALL
        SELECT e.to_artifact_id FROM memory_edge e
        WHERE e.from_artifact_id = closure.id AND e.state <> 'rejected'
"""
#: The same step backwards, from ``closure.id`` to what rests on it.
STEP_DOWN = """
        SELECT l.artifact_id AS id FROM memory_lineage l WHERE l.source_id = closure.id
      UNION ALL
        SELECT a.id FROM memory_artifact a WHERE a.previous_id = closure.id
      UNION ALL
        SELECT e.from_artifact_id FROM memory_edge e
        WHERE e.to_artifact_id = closure.id AND e.state <> 'rejected'
"""

_CLOSURE = f"""
WITH RECURSIVE closure(id) AS (
    SELECT %s::varchar
  UNION
    SELECT step.id FROM closure, LATERAL ({STEP_UP}) AS step
)
SELECT a.id, a.author_key_id, a.author_principal_id, k.sponsor_id
FROM closure JOIN memory_artifact a ON a.id = closure.id JOIN workareas_key k ON k.id = a.author_key_id
WHERE a.id <> %s
ORDER BY a.id
"""  # noqa: S608  (constants of this module)


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One artifact in a closure, with who wrote it."""

    artifact_id: str
    author_key_id: str
    author_principal_id: str
    author_sponsor_id: str | None


def closure_of(artifact_id: str) -> list[Ancestor]:
    """Every artifact reachable over lineage, earlier versions and edges, the artifact itself left out.

    One recursive query; UNION ends it on cycles.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLOSURE, [artifact_id, artifact_id])
        return [Ancestor(*row) for row in cursor.fetchall()]

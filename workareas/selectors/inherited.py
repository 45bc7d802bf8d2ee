"""The grants that reach a workarea from above it: who may act here without anything being set here (D7)."""

from __future__ import annotations

from workareas.models import Grant, Workarea

# A table that a person can still look through; beyond it the list of grants has a search.
_MOST = 200


def grants_above(node: Workarea) -> list[Grant]:
    """Grants on the ancestors of a node, denies first, the nearest ancestor first; at most 200."""
    parts = node.path.split(".")
    ancestors = [".".join(parts[:depth]) for depth in range(1, len(parts))]
    rows = Grant.objects.select_related("key__principal", "workarea").filter(
        workarea__tenant_id=node.tenant_id, workarea__path__in=ancestors
    )
    found = sorted(rows, key=lambda grant: (grant.effect != "deny", -len(grant.workarea.path), grant.pk))
    return found[:_MOST]

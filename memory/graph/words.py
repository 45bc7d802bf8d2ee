"""The words that edges carry, when an artifact at one of their ends is erased."""

from __future__ import annotations

from django.db.models import Q

from memory.claims.actions.lifecycle import on_erase
from memory.graph.models import Edge


@on_erase
def edge_notes(artifact_id: str, really: bool) -> dict[str, int]:
    """Proposers' notes about the artifact: a note may quote what it is about, so it goes with it."""
    rows = Edge.objects.filter(Q(from_artifact=artifact_id) | Q(to_artifact=artifact_id)).exclude(note="")
    return {"edge_notes": rows.update(note="", note_salt=None) if really else rows.count()}

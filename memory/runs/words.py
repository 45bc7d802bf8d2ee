"""What an erasure destroys in this room: the copy of a shared checkpoint on the run that pinned it."""

from __future__ import annotations

from memory.claims.actions.lifecycle import on_erase
from memory.runs.content import as_text, from_review
from memory.runs.models import Run, SharedWrite
from memory.runs.rules import CHECKPOINT


@on_erase
def _checkpoint_copy(artifact_id: str, destroy: bool) -> dict[str, int]:
    """A later checkpoint of the same run is another content, and stays."""
    write = SharedWrite.objects.select_related("artifact", "memory").filter(pk=artifact_id).first()
    copies = 0
    if write is not None and write.memory.key == CHECKPOINT and write.artifact.text is not None:
        text = as_text(from_review(write.artifact.text, is_json=write.is_json), param="content")
        runs = Run.objects.filter(pk=write.run_id, checkpoint=text)
        copies = runs.update(checkpoint=None) if destroy else runs.count()
    return {"run_checkpoints": copies}

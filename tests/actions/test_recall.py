"""Recall through the product's own doors: submit, scan, serve, verdict, recall."""

from __future__ import annotations

from memory.recall.commands import RecallCommand
from memory.recall.selectors import recall


def test_recall__a_promoted_memory__is_found(world):
    artifact = world.promoted(on="a", text="Caroline went to a support group in May.")
    answer = recall(world.reader, command=RecallCommand(query="When did Caroline go to the support group?", scope="universe.a"))
    assert [hit["artifact_id"] for hit in answer["hits"]] == [artifact]

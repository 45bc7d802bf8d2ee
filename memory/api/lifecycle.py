"""An administrator's operations on one artifact. Apart from ``operations`` so that MCP cannot reach them (R1)."""

from __future__ import annotations

from typing import Any

from memory.api import answers, shapes
from memory.claims.actions.lifecycle import demote_memory, erase_memory
from oml.core.actor import Actor
from oml.http.operations import Operation


def _demote(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return demote_memory(actor, **values)


def _erase(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return erase_memory(actor, **values)


demote = Operation("memory_demote", shapes.DemoteShape, _demote, answers.ENDED, summary="Take a claim out of recall")
erase = Operation(
    "memory_erase", shapes.EraseShape, _erase, answers.ERASED, summary="Destroy an artifact's content, or preview it"
)

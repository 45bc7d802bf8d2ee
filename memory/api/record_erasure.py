"""An administrator's operation on one record. Apart from ``record_operations`` so that MCP cannot reach it (R1)."""

from __future__ import annotations

from typing import Any

from memory.api import record_answers as answers
from memory.api import record_shapes as shapes
from memory.records.actions.erase import erase_record
from oml.core.actor import Actor
from oml.http.operations import Operation


def _erase(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return erase_record(actor, **values)


erase = Operation(
    "record_erase",
    shapes.RecordEraseShape,
    _erase,
    answers.ERASED,
    summary="Destroy what a record said, in every version, or preview it",
)

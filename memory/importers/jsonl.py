"""JSON lines: one submission an object, its fields those of ``POST /v1/memories`` without the workarea."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file; empty lines are skipped.

    Raises:
        ValueError: a line is not a JSON object; the message names the line and quotes nothing of it.
    """
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
            except ValueError:
                fields = None
            if not isinstance(fields, dict):
                raise ValueError(f"line {number} is not a JSON object")
            yield f"line {number}", fields

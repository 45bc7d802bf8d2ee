"""Files of others as submissions: each reader yields the fields of ``POST /v1/memories``, one object a memory.

A reader parses and nothing else. What it yields goes through the same submit as everything, is held like everything,
and is shape-checked there; what must never happen here is a second way in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memory.importers import jsonl, locomo

#: A reader yields ``(where, fields)``; ``where`` names the place in the file for a person.
Reader = Callable[[Path], Iterator[tuple[str, dict[str, Any]]]]

READERS: dict[str, Reader] = {"jsonl": jsonl.read, "locomo": locomo.read}

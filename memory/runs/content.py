"""Any JSON value as text and back, and its limits. Pure.

Kept as ASCII JSON text rather than as a database's JSON: the order of members and the spelling of numbers come back as
they were sent.
"""

from __future__ import annotations

import json
from typing import Any

from memory.runs.errors import MemoryTooLarge
from memory.runs.rules import MAX_DEPTH, MAX_NOTE, MAX_SLOT_BYTES
from oml.core.errors import Validation


def as_text(value: Any, *, param: str, most: int = MAX_SLOT_BYTES) -> str:
    """The JSON text that a value is kept as.

    Raises:
        MemoryTooLarge: ``memory.too_large``; more than ``most`` bytes.
        Validation: ``request.validation``; U+0000 or a lone surrogate somewhere in it, a number beyond a double's
            range, or more than 64 levels of nesting, which some reader would stumble over.
    """
    strings, deep = _looked_through(value)
    if deep:
        raise Validation(f"{param} is nested deeper than {MAX_DEPTH} levels", param=param)
    if any("\x00" in string for string in strings):
        raise Validation(f"{param} holds U+0000, which text here cannot carry", param=param)
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise Validation(f"{param} holds a lone surrogate; it is not valid Unicode", param=param) from None
    except ValueError:
        raise Validation(f"{param} holds a number beyond the range of a double", param=param) from None
    if size > most:
        raise MemoryTooLarge(f"{param} has {size} bytes of JSON, at most {most}", param=param)
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _looked_through(value: Any) -> tuple[list[str], bool]:
    """Every string of a value, keys included, and whether it is nested deeper than it may be."""
    strings: list[str] = []
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for one in level:
            if isinstance(one, str):
                strings.append(one)
            elif isinstance(one, dict):
                strings += one
                below += one.values()
            elif isinstance(one, list):
                below += one
        if not below:
            return strings, False
        level = below
    return strings, True


def check_note(content: str) -> None:
    """Whether a note fits, counted in characters; it is never cut.

    Raises:
        MemoryTooLarge: ``memory.too_large``.
    """
    if len(content) > MAX_NOTE:
        raise MemoryTooLarge(
            f"the note has {len(content)} characters, at most {MAX_NOTE}; it was not kept", param="content"
        )


def for_review(value: Any) -> tuple[str, bool]:
    """The text that a reviewer is shown and whether it is JSON: a string as itself, anything else as readable JSON."""
    if isinstance(value, str):
        return value, False
    return json.dumps(value, ensure_ascii=False, indent=2), True


def from_review(text: str, *, is_json: bool) -> Any:
    """The value again."""
    return json.loads(text) if is_json else text

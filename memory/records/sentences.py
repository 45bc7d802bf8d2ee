"""JSON as plain sentences, for the index alone: one per leaf, the words of its path joined. Pure, no model.

``{"owner": {"name": "Sarah"}, "seats": 240}`` reads ``owner name is Sarah. seats is 240.`` Stored content is never
touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_DEEPEST = 100


def sentences(content: str) -> str | None:
    """The content's sentences, one a line; None when it is no JSON object or list."""
    if content.lstrip()[:1] not in ("{", "["):
        return None
    try:
        said = "\n".join(_leaves(json.loads(content), (), 0))
    except (ValueError, RecursionError):
        return None
    # An escape may name half of a surrogate pair, which is no character and which no index takes.
    return said.encode("utf-8", "replace").decode() or None


def _leaves(value: Any, path: tuple[str, ...], depth: int) -> Iterator[str]:
    if depth < _DEEPEST and isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*path, _spoken(name)), depth + 1)
    elif depth < _DEEPEST and isinstance(value, list) and value:
        for number, inner in enumerate(value, start=1):
            yield from _leaves(inner, (*path, str(number)), depth + 1)
    else:
        yield f"{' '.join(path) or 'it'} {_said(value)}."


def _spoken(name: str) -> str:
    """``renewalDate`` and ``renewal_date`` read ``renewal date``."""
    return " ".join(_WORDS.findall(name)).lower() or name


def _said(value: Any) -> str:
    if value is None:
        return "is not set"
    if isinstance(value, bool):
        return "is yes" if value else "is no"
    if isinstance(value, dict | list):
        return "is empty" if not value else f"is {json.dumps(value, ensure_ascii=False)}"
    return f"is {value}"

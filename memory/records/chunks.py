"""Contents in chunks of about 1,200 characters, cut at a paragraph, else after a sentence, else between words. Pure.

Every character of a content is in exactly one chunk, whatever its size; chunks come as the content is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LENGTH = 1_200
#: A cut earlier than this would make chunks that say too little.
_LEAST = LENGTH // 3
_CUTS = (
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])\s*|\n"),
    re.compile(r"\s+"),
)


def chunks(parts: Iterable[str]) -> Iterator[str]:
    """Cut a text that comes in parts; wherever the parts end, the chunks are the same."""
    rest = ""
    for part in parts:
        rest += part
        at = 0
        # One character more than a chunk decides its cut, so the parts' ends cannot move it.
        while len(rest) - at > 2 * LENGTH:
            end = at + _cut(rest[at : at + LENGTH])
            yield rest[at:end]
            at = end
        rest = rest[at:]
    while len(rest) > LENGTH:
        end = _cut(rest[:LENGTH])
        yield rest[:end]
        rest = rest[end:]
    if rest:
        yield rest


def _cut(window: str) -> int:
    for pattern in _CUTS:
        last = 0
        for found in pattern.finditer(window, _LEAST):
            last = found.end()
        if last:
            return last
    return len(window)

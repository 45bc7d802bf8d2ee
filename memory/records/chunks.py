"""Contents in chunks of about 1,200 characters, cut at a paragraph, else after a sentence, else between words. Pure.

Every character of a content is in exactly one chunk, whatever its size; chunks come as the content is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LENGTH = 1_200
_CUTS = (
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])\s*|\n"),
    re.compile(r"\s+"),
)


def chunks(parts: Iterable[str], length: int = LENGTH) -> Iterator[str]:
    """Cut a text that comes in parts; wherever the parts end, the chunks are the same."""
    rest = ""
    for part in parts:
        rest += part
        at = 0
        # One character more than a chunk decides its cut, so the parts' ends cannot move it.
        while len(rest) - at > 2 * length:
            end = at + _cut(rest[at : at + length])
            yield rest[at:end]
            at = end
        rest = rest[at:]
    while len(rest) > length:
        end = _cut(rest[:length])
        yield rest[:end]
        rest = rest[end:]
    if rest:
        yield rest


def _cut(window: str) -> int:
    for pattern in _CUTS:
        last = 0
        # A cut in the first third would make chunks that say too little.
        for found in pattern.finditer(window, len(window) // 3):
            last = found.end()
        if last:
            return last
    return len(window)

"""The text as a reader sees it, with the way back to the offsets of the text as sent.

A key with a zero-width space in its middle, or typed in full width, is still that key to whoever copies it.
Rules about content run on the folded text; their spans are carried back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memory.scanning.characters import INVISIBLE

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_TO_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20}


class Folded(NamedTuple):
    """A folded text; ``origins`` has the offset of each character in the text as sent, None if equal."""

    text: str
    origins: Sequence[int] | None

    def span_as_sent(self, start: int, end: int) -> tuple[int, int]:
        """Carry a span of the folded text back; invisible characters inside it belong to it."""
        if self.origins is None or start >= end:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1


def fold(text: str) -> Folded:
    """Full-width forms become ASCII, invisible characters go."""
    if text.isascii():
        return Folded(text, None)
    if _INVISIBLE.search(text) is None:
        return Folded(text.translate(_TO_ASCII), None)
    visible = [match.span() for match in re.finditer(f"[^{INVISIBLE}]+", text)]
    origins = [offset for start, end in visible for offset in range(start, end)]
    return Folded("".join(text[start:end] for start, end in visible).translate(_TO_ASCII), origins)

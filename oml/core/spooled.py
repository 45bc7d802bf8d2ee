"""Text too large to hold in memory: UTF-8 bytes in a file, with their digest. Pure: a file and numbers.

Text of any size meets the application through one of two things, ``str`` and :class:`Spooled`; :func:`pieces_of`
reads both alike. What must never happen here: a byte that is not the one that was sent.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

#: How much of a text is in memory at a time.
PIECE = 1 << 20


class Scratch:
    """A nameless temporary file that is gone with the last text in it."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  (it outlives this call)

    def __del__(self) -> None:
        self.file.close()


@dataclass(frozen=True, slots=True)
class Spooled:
    """A stretch of a file that holds one text in UTF-8.

    Attributes:
        scratch: the file, shared by the large texts of a request.
        offset, size: where its bytes are.
        sha256: hex digest over them.
    """

    scratch: Scratch
    offset: int
    size: int
    sha256: str

    def pieces(self, length: int = PIECE) -> Iterator[bytes]:
        """Its bytes in order, at most ``length`` at a time."""
        left, at = self.size, self.offset
        while left:
            self.scratch.file.seek(at)
            piece = self.scratch.file.read(min(length, left))
            if not piece:
                raise OSError("a spooled text ends early")
            yield piece
            left, at = left - len(piece), at + len(piece)


LargeText = str | Spooled


def pieces_of(text: LargeText, length: int = PIECE) -> Iterator[bytes]:
    """The text's UTF-8 bytes in order, at most ``length`` at a time.

    Raises:
        UnicodeEncodeError: a ``str`` with a lone surrogate.
    """
    if isinstance(text, Spooled):
        yield from text.pieces(length)
        return
    raw = text.encode()
    for at in range(0, len(raw), length):
        yield raw[at : at + length]


def measure(text: LargeText) -> tuple[str, int]:
    """Hex SHA-256 and number of UTF-8 bytes."""
    if isinstance(text, Spooled):
        return text.sha256, text.size
    raw = text.encode()
    return hashlib.sha256(raw).hexdigest(), len(raw)

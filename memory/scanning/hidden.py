"""Reads what invisible characters spell: the three encodings in use for hiding text inside text.

Tag characters mirror ASCII one for one; variation selectors carry a byte each; two zero-width characters
carry bits. A run that decodes to something readable was put there to be read by a machine and not by the
reviewer. What is decoded is content like any other: callers may scan it, and must not log it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory.scanning.characters import untag

_TAGS = re.compile(r"[\U000E0020-\U000E007E]{4,}")
_SELECTORS = re.compile(r"[\uFE00-\uFE0F\U000E0100-\U000E01EF]{4,}")
_BITS = re.compile(r"[\u200B-\u200F\u2060-\u2064\uFEFF]{24,}")
_LETTER = re.compile(r"[^\W\d_]")


class HiddenText(NamedTuple):
    """A run of invisible characters and what it spells."""

    start: int
    end: int
    text: str


def hidden_texts(text: str) -> Iterator[HiddenText]:
    """Every run of invisible characters in ``text`` that decodes to readable text."""
    for match in _TAGS.finditer(text):
        if _readable(decoded := untag(match[0])):
            yield HiddenText(match.start(), match.end(), decoded)
    for match in _SELECTORS.finditer(text):
        if decoded := _from_selectors(match[0]):
            yield HiddenText(match.start(), match.end(), decoded)
    for match in _BITS.finditer(text):
        if decoded := _from_bits(match[0]):
            yield HiddenText(match.start(), match.end(), decoded)


def _from_selectors(run: str) -> str:
    codes = map(ord, run)
    return _text_of(bytes(code - 0xFE00 if code < 0xE0100 else code - 0xE0100 + 16 for code in codes))


def _from_bits(run: str) -> str:
    symbols = sorted(set(run))
    if len(symbols) != 2:
        return ""
    whole = len(run) - len(run) % 8
    for zero, one in (symbols, reversed(symbols)):
        bits = run[:whole].translate({ord(zero): "0", ord(one): "1"})
        if decoded := _text_of(int(bits, 2).to_bytes(whole // 8, "big")):
            return decoded
    return ""


def _text_of(raw: bytes) -> str:
    try:
        decoded = raw.decode()
    except UnicodeDecodeError:
        return ""
    return decoded if _readable(decoded) else ""


def _readable(text: str) -> bool:
    """Four fifths printable, with three different letters: a word, not noise that happens to decode."""
    printable = sum(character.isprintable() or character in "\n\t" for character in text)
    return printable * 5 >= len(text) * 4 and len(set(_LETTER.findall(text))) >= 3

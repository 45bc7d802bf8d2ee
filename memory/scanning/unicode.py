"""The ``unicode`` scanner: characters that make a text read differently to people and to machines.

First, whatever stands where its script or emoji needs it is masked (``characters.py``): emoji joined or
styled, Persian and Indic joiners, marks beside right-to-left writing, variant ideographs, the flags of UTS
51. What is left over of each class is found, neighbours in one span. Combining marks, Arabic and Hebrew
without controls, and full-width punctuation belong to no class here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from memory.scanning.characters import (
    BIDI_CONTROL,
    BIDI_MARK,
    BIDI_OVERRIDE,
    CJK,
    CONTROL,
    INVISIBLE,
    PRIVATE_USE,
    SELECTOR,
    SOFT_HYPHEN,
    TAG,
    ZERO_WIDTH,
    mask_at_home,
)
from memory.scanning.hidden import hidden_texts
from memory.scanning.lookalikes import lookalike_words
from memory.scanning.report import Severity, Span


def _runs_of(characters: str) -> re.Pattern[str]:
    """A run of these, with up to eight visible characters between two: a split word is one finding."""
    return re.compile(rf"[{characters}]+(?:[^{characters}]{{1,8}}[{characters}]+)*")


_INVISIBLE_CLASSES: Final[Mapping[str, re.Pattern[str]]] = {
    "unicode.tag_characters": _runs_of(TAG),
    "unicode.zero_width": _runs_of(ZERO_WIDTH),
    "unicode.variation_selector": _runs_of(SELECTOR),
    "unicode.bidi_override": _runs_of(BIDI_OVERRIDE),
    "unicode.bidi_control": _runs_of(BIDI_CONTROL),
    "unicode.bidi_mark": _runs_of(BIDI_MARK),
    "unicode.soft_hyphen": _runs_of(SOFT_HYPHEN),
}
_CLASSES: Final[Mapping[str, re.Pattern[str]]] = {
    "unicode.private_use": _runs_of(PRIVATE_USE),
    "unicode.control_character": _runs_of(CONTROL),
}

_INVISIBLE = re.compile(f"[{INVISIBLE}]")

_FULL_WIDTH_LETTER = r"\uFF21-\uFF3A\uFF41-\uFF5A"
_FULL_WIDTH_LETTERS = re.compile(f"[{_FULL_WIDTH_LETTER}]")
# Two letters at least; digits, full-width punctuation and spaces may stand between them.
_FULL_WIDTH = re.compile(
    rf"[{_FULL_WIDTH_LETTER}](?:[\uFF01-\uFF20\uFF3B-\uFF40\uFF5B-\uFF5E\u3000 ]*[{_FULL_WIDTH_LETTER}])+"
)
_CJK = re.compile(f"[{CJK}]")
_CJK_NEAR = 12
# A Japanese text writes a name or an abbreviation in full width; whole sentences it does not.
_LONG_FULL_WIDTH = 40

# Letters that Unicode has as symbols: bold, script, circled, small capitals, superscripts. Single ones are
# mathematics; a word of them is a Latin word that no search finds.
_STYLED = (
    r"\U0001D400-\U0001D7CB\u24B6-\u24E9\u249C-\u24B5\U0001F110-\U0001F12B\U0001F130-\U0001F149"
    r"\U0001F150-\U0001F169\U0001F170-\U0001F189\u1D00-\u1D25\u1D2C-\u1D6A\u2102\u210A-\u210E\u2110-\u2113\u2115"
    r"\u2119-\u211D\u2124\u2128\u212C-\u2131\u2133-\u2134\uA730\uA731\u0262\u026A\u0274\u0280\u028F\u0299\u029C\u029F"
)
_STYLED_LETTERS = re.compile(f"[{_STYLED}]")
_STYLED_WORD = re.compile(rf"[{_STYLED}](?:[ ]?[{_STYLED}]){{3,}}")


class UnicodeScanner:
    """Invisible, direction-changing, private and disguised characters."""

    name = "unicode"
    version = "1"
    rules: Mapping[str, Severity] = {
        "unicode.tag_characters": Severity.CRITICAL,
        "unicode.hidden_text": Severity.CRITICAL,
        "unicode.bidi_override": Severity.CRITICAL,
        "unicode.homoglyph": Severity.HIGH,
        "unicode.bidi_control": Severity.MEDIUM,
        "unicode.control_character": Severity.MEDIUM,
        "unicode.fullwidth": Severity.MEDIUM,
        "unicode.variation_selector": Severity.MEDIUM,
        "unicode.zero_width": Severity.MEDIUM,
        "unicode.bidi_mark": Severity.LOW,
        "unicode.flag_sequence": Severity.LOW,
        "unicode.private_use": Severity.LOW,
        "unicode.soft_hyphen": Severity.LOW,
        "unicode.styled_letters": Severity.LOW,
    }

    def scan(self, text: str) -> Iterator[Span]:
        """Spans of every character class that is out of place, and of every disguised word."""
        # Each character once: a class that none of them belongs to costs nothing more.
        alphabet = "".join(set(text))
        if _INVISIBLE.search(alphabet):
            yield from _invisible(text, alphabet)
        for rule, characters in _CLASSES.items():
            if characters.search(alphabet):
                yield from _spans(rule, characters, text)
        if alphabet.isascii():
            return
        for start, end in lookalike_words(text, alphabet):
            yield Span("unicode.homoglyph", start, end)
        if _FULL_WIDTH_LETTERS.search(alphabet):
            yield from _full_width(text, beside_cjk=_CJK.search(alphabet) is not None)
        if _STYLED_LETTERS.search(alphabet):
            yield from _spans("unicode.styled_letters", _STYLED_WORD, text)


def _spans(rule: str, pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        yield Span(rule, *match.span())


def _invisible(text: str, alphabet: str) -> Iterator[Span]:
    masked, rare_flags = mask_at_home(text)
    for start, end in rare_flags:
        yield Span("unicode.flag_sequence", start, end)
    for rule, characters in _INVISIBLE_CLASSES.items():
        if characters.search(alphabet):
            yield from _spans(rule, characters, masked)
    for found in hidden_texts(masked):
        yield Span("unicode.hidden_text", found.start, found.end)


def _full_width(text: str, *, beside_cjk: bool) -> Iterator[Span]:
    for match in _FULL_WIDTH.finditer(text):
        start, end = match.span()
        long = end - start >= _LONG_FULL_WIDTH
        if (
            long
            or not beside_cjk
            or not (_CJK.search(text, max(0, start - _CJK_NEAR), start) or _CJK.search(text, end, end + _CJK_NEAR))
        ):
            yield Span("unicode.fullwidth", start, end)

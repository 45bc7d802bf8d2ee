"""A text as sent, cut into pieces that a page can mark: findings by span, invisible characters by name. Pure.

The pieces joined are the text, character for character: a reviewer judges what was sent and nothing else. What
must never happen here: a character added, lost or replaced; a mark that changes what a copy of the page holds.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.scanning.characters import CONTROL, INVISIBLE, PRIVATE_USE, mask_at_home

# What a browser would show as nothing, as a line break of its own, or as a box.
_UNSEEN = re.compile(rf"[{INVISIBLE}{PRIVATE_USE}{CONTROL}\r\f\x85\u2028\u2029]+")
_SHORT = {
    "\r": "CR",
    "\f": "FF",
    "\x85": "NEL",
    "\u00ad": "SHY",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LSEP",
    "\u2029": "PSEP",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}
# A longer run of different ones is named as a whole: thirty thousand labels help nobody.
_NAMED_SINGLY = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text under the same findings.

    Attributes:
        text: exactly as sent.
        findings: numbers (from 1) of the findings that cover it.
        opens: those of them that begin here.
        label: short name when the piece is invisible, else empty.
        name: the character's full name beside the label.
    """

    text: str
    findings: tuple[int, ...] = ()
    opens: tuple[int, ...] = ()
    label: str = ""
    name: str = ""


def pieces(text: str, findings: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """Cut a text at every finding and every invisible run.

    Args:
        text: as sent.
        findings: mappings with ``start`` and ``end``, character offsets, ``end`` exclusive; a finding's number
            is its position from 1.
    """
    opening: dict[int, list[int]] = {}
    closing: dict[int, list[int]] = {}
    for number, finding in enumerate(findings, 1):
        start, end = _inside(finding, len(text))
        if start < end:
            opening.setdefault(start, []).append(number)
            closing.setdefault(end, []).append(number)
    unseen = {start: (end, label, name) for start, end, label, name in _unseen(text)}
    cuts = {0, len(text), *opening, *closing, *unseen, *(end for end, _, _ in unseen.values())}
    made: list[Piece] = []
    covering: set[int] = set()
    until, label, name = 0, "", ""
    for start, end in itertools.pairwise(sorted(cuts)):
        covering -= set(closing.get(start, ()))
        covering |= set(opening.get(start, ()))
        if start in unseen:
            until, label, name = unseen[start]
        hidden = start < until
        made.append(
            Piece(
                text[start:end],
                findings=tuple(sorted(covering)),
                opens=tuple(opening.get(start, ())),
                label=(label if start in unseen else "…") if hidden else "",
                name=name if hidden else "",
            )
        )
    return made


def line_of(text: str, offset: int) -> int:
    """The line (from 1) that an offset stands in."""
    return text.count("\n", 0, offset) + 1


def _inside(finding: Mapping[str, Any], length: int) -> tuple[int, int]:
    start = min(max(int(finding["start"]), 0), length)
    return start, min(max(int(finding["end"]), start), length)


def _unseen(text: str) -> Iterable[tuple[int, int, str, str]]:
    # Where a script or an emoji needs them they stay unmarked: a mark inside would tear the emoji apart.
    masked, _ = mask_at_home(text)
    # A Windows line end is a line end; only a carriage return that stands alone is worth a label.
    masked = masked.replace("\r\n", "..")
    for run in _UNSEEN.finditer(masked):
        start, end = run.span()
        kinds = text[start:end]
        if len(kinds) > _NAMED_SINGLY and len(set(kinds)) > 1:
            yield start, end, f"{len(kinds)} unseen", f"{len(kinds)} characters that cannot be seen"
            continue
        at = start
        while at < end:
            stop = at
            while stop < end and text[stop] == text[at]:
                stop += 1
            times = f" ×{stop - at}" if stop - at > 1 else ""
            yield at, stop, _label(text[at]) + times, _name(text[at]) + times
            at = stop


def _label(character: str) -> str:
    return _SHORT.get(character) or f"U+{ord(character):04X}"


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'unnamed character').lower()}"

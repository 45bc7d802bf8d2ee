"""Texts in pieces: who speaks, what is said, and the single statements that a question can be about.

A vector of a whole text blurs its sentences; the best sentence of a chat turn finds .57 of the evidence in ten
where the whole turn finds .46 (docs/reference/recall-quality.md). So a row is compared by both. The number of
pieces is bounded, never their reach: pieces grow, and every word is in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

#: More pieces than this are joined with their neighbours.
MAX_PASSAGES = 64
#: A shorter piece ("Hi!") says nothing by itself and goes with the next.
MIN_CHARACTERS = 4

_LABEL = re.compile(r"\s*(?P<label>[^\W\d_][\w.'’\-]*(?: [^\W\d_][\w.'’\-]*){0,3}): +(?=\S)")
#: Headings of notes, not of speakers.
_HEADINGS = (
    "note notes todo update summary warning important example examples step fact facts tip hint caution error info "
    "debug re subject date time title source see"
)
_NOT_A_SPEAKER = frozenset(_HEADINGS.split())
_BREAK = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])\s*|\n\s*\n|\n(?=\s*[-*•\d])")


@dataclass(frozen=True, slots=True)
class Parts:
    """A text taken apart; ``label`` is empty where nobody is named."""

    label: str
    body: str


def take_apart(text: str) -> Parts:
    """Split ``Caroline: I went to …`` into the speaker and what was said."""
    match = _LABEL.match(text)
    if match is None:
        return Parts("", text)
    label = match["label"].casefold()
    if (not text.lstrip()[:1].isupper() and match["label"].isascii()) or label in _NOT_A_SPEAKER:
        return Parts("", text)
    return Parts(label[:64], text[match.end() :])


def passages(body: str) -> list[str]:
    """The statements of a text in order, at most ``MAX_PASSAGES``; never empty for a text that is not."""
    pieces: list[str] = []
    for piece in (part.strip() for part in _BREAK.split(body)):
        if pieces and len(pieces[-1]) < MIN_CHARACTERS:
            pieces[-1] = f"{pieces[-1]} {piece}".strip()
        elif piece:
            pieces.append(piece)
    if len(pieces) > 1 and len(pieces[-1]) < MIN_CHARACTERS:
        last = pieces.pop()
        pieces[-1] = f"{pieces[-1]} {last}"
    per_passage = -(-len(pieces) // MAX_PASSAGES) or 1
    return [" ".join(pieces[at : at + per_passage]) for at in range(0, len(pieces), per_passage)]


def dated(text: str, occurred_at: datetime | None) -> str:
    """The text as it is indexed: with its date in front where it has one."""
    return f"[{occurred_at:%Y-%m-%d}] {text}" if occurred_at else text

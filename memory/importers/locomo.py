"""LoCoMo conversations (Maharana et al. 2024): a turn is a memory, a session is a thread, its date the time.

The data is CC BY-NC 4.0 and no part of this project; this reads a copy of ``locomo10.json`` that somebody has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oml.core.clock import rfc3339

_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing somebody said."""

    dialog_id: str
    session: str
    said_at: datetime
    text: str


def read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the turns of every conversation as submissions.

    Raises:
        ValueError: not a LoCoMo file.
    """
    for name, conversation in conversations(path):
        for turn in turns(name, conversation):
            yield turn.dialog_id, submission(turn)


def conversations(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(name, conversation)``.

    Raises:
        ValueError: not a LoCoMo file.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        named = [(str(row["sample_id"]), dict(row["conversation"])) for row in list(rows)]
        if not named:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise ValueError("this is not a LoCoMo file (a list of objects with sample_id and conversation)") from None
    yield from named


def turns(name: str, conversation: dict[str, Any]) -> Iterator[Turn]:
    """The turns of one conversation, in order."""
    number = 1
    while f"session_{number}_date_time" in conversation:
        said_at = datetime.strptime(conversation[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        for turn in conversation.get(f"session_{number}", ()):
            text = f"{turn['speaker']}: {turn['text']}"
            if turn.get("blip_caption"):
                text += f" [photo: {turn['blip_caption']}]"
            yield Turn(str(turn["dia_id"]), f"{name}/session-{number}", said_at, text)
        number += 1


def submission(turn: Turn) -> dict[str, Any]:
    """A turn as the fields of a submission."""
    conversation = turn.session.partition("/")[0]
    return {
        "claim_key": f"{conversation}/{turn.dialog_id}",
        "text": turn.text,
        "thread": turn.session,
        "occurred_at": rfc3339(turn.said_at),
    }

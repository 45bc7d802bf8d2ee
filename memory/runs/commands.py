"""What a run or whoever starts one asks for, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory.runs.rules import HISTORY_DEFAULT, RECALL_DEFAULT, Scope


@dataclass(frozen=True, slots=True)
class PinCommand:
    """``pin(key, content, scope)``; ``content`` is any JSON value, None for JSON's null."""

    key: str
    content: Any
    scope: Scope = Scope.ACTOR
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class NoteCommand:
    """``note(content, scope)``."""

    content: str
    scope: Scope = Scope.ACTOR
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """``recall_memory(query, limit)``; without a query the newest notes."""

    query: str = ""
    limit: int = RECALL_DEFAULT


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """``run_history(limit, fields)``."""

    limit: int = HISTORY_DEFAULT
    fields: tuple[str, ...] = ("checkpoint",)

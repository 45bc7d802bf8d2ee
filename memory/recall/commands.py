"""What a caller asks of recall (seed: oml_recall; design: retrieval, Contract)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

MAX_QUERY = 8_192
DEFAULT_K = 8
MAX_K = 50


@dataclass(frozen=True, slots=True)
class RecallFilters:
    """Narrow the hits; every one optional. Times are aware; ranges include both ends."""

    kind: str | None = None
    author_key: str | None = None
    claim_key_prefix: str | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    promoted_from: datetime | None = None
    promoted_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecallCommand:
    """One recall: query, node whose subtree is searched, how many hits."""

    query: str
    scope: str
    k: int = DEFAULT_K
    filters: RecallFilters = field(default_factory=RecallFilters)
    max_chars: int | None = None
    explain: bool = False

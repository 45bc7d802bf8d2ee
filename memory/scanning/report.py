"""The words of the chain: what a scanner finds and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol


class Outcome(StrEnum):
    """Five different things, everywhere: a scanner that did not finish is never the same as a clean one."""

    CLEAN = "clean"
    FLAGGED = "flagged"
    BLOCKED = "blocked"
    FAILED = "failed"
    NOT_RUN = "not_run"


class Severity(StrEnum):
    """How much attention a finding asks for; it orders the reviewer's list and decides nothing."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Span(NamedTuple):
    """Where a rule matched: character offsets into the text as sent, ``end`` exclusive."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. It has no excerpt on purpose: findings are stored, listed and exported."""

    rule: str
    severity: Severity
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ScannerReport:
    """What one scanner said about one text."""

    scanner: str
    version: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()


class Scanner(Protocol):
    """A pure scanner; ``memory/scanning/chain.py`` lists those that run.

    Attributes:
        name: stable, part of every rule's name (``unicode.tag_characters``).
        version: changes whenever the same text may be answered differently.
        rules: every rule that :meth:`scan` can name, with its severity.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def rules(self) -> Mapping[str, Severity]: ...

    def scan(self, text: str) -> Iterable[Span]:
        """Spans in any order; time must grow linearly with the text."""
        ...

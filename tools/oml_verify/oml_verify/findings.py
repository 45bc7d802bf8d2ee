"""What was found wrong, and where: by sequence number wherever there is one."""

from __future__ import annotations

from dataclasses import dataclass, field


class Unusable(Exception):
    """The question cannot be asked: a file is missing or the keys cannot be read. Exit code 2."""


@dataclass(frozen=True)
class Finding:
    """One thing that does not hold.

    Attributes:
        text: what, in a sentence's middle.
        seq: the journal entry; None where none is meant.
        until: the last entry, where only a range can be named.
        where: a member of the bundle, where no entry is meant.
    """

    text: str
    seq: int | None = None
    until: int | None = None
    where: str = ""

    def __str__(self) -> str:
        if self.seq is None:
            return f"{self.where}: {self.text}" if self.where else self.text
        place = f"seq {self.seq}" if self.until in (None, self.seq) else f"seq {self.seq} to {self.until}"
        return f"{place}: {self.text}"


@dataclass
class Report:
    """Everything found, and what was looked at."""

    findings: list[Finding] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def fail(self, text: str, *, seq: int | None = None, until: int | None = None, where: str = "") -> None:
        self.findings.append(Finding(text, seq, until, where))

    def ok(self, text: str) -> None:
        self.checked.append(text)

    def note(self, text: str) -> None:
        self.notes.append(text)

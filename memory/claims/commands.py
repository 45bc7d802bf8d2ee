"""What a caller asks of a claim, shape-checked by the face and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.claims.states import Kind, SubmitVerb
from oml.core.clock import rfc3339


@dataclass(frozen=True, slots=True)
class EvidenceRef:
    """A cited source-record version; the head when no version is given."""

    sr_id: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class SubmitCommand:
    """One submission as sent (seed: oml_remember, oml_learn; shapes: Submissions and reads)."""

    workarea: str
    claim_key: str
    text: str
    verb: SubmitVerb = SubmitVerb.REMEMBER
    kind: Kind = Kind.MEMORY
    attachments: tuple[str, ...] = ()
    derives_from: tuple[str, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    idempotency_key: str | None = None
    simulation_id: str | None = None
    occurred_at: datetime | None = None
    thread: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    def fingerprint_parts(self, workarea_id: str) -> dict[str, Any]:
        """Everything that makes this request this request, after path→id resolution (D13)."""
        parts: dict[str, Any] = {
            "workarea": workarea_id,
            "claim_key": self.claim_key,
            "text": self.text,
            "kind": str(self.kind),
            "attachments": list(self.attachments),
            "derives_from": list(self.derives_from),
            "evidence": [[ref.sr_id, ref.version] for ref in self.evidence],
            "simulation_id": self.simulation_id,
            "thread": self.thread,
        }
        for name in ("occurred_at", "valid_from", "valid_to"):
            moment: datetime | None = getattr(self, name)
            parts[name] = rfc3339(moment) if moment else None
        return parts


@dataclass(frozen=True, slots=True)
class MyWorkQuery:
    """Filters of oml_my_work; all optional."""

    workarea: str | None = None
    state: str | None = None
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class VersionCommand:
    """The next version of an own claim as sent (shapes: Versions)."""

    artifact: str
    text: str
    attachments: tuple[str, ...] = ()
    derives_from: tuple[str, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    idempotency_key: str | None = None

    def fingerprint_parts(self) -> dict[str, Any]:
        """Everything that makes this request this request (D13)."""
        return {
            "artifact": self.artifact,
            "text": self.text,
            "attachments": list(self.attachments),
            "derives_from": list(self.derives_from),
            "evidence": [[ref.sr_id, ref.version] for ref in self.evidence],
        }

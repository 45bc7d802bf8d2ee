"""Events of claims. ``content_commitment`` is an HMAC under a salt kept with the text (design: integrity)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory.claims.states import Surface
from oml.journal.registry import Event, event

_CLAIM = ("artifact_id", "claim_key", "version")


@dataclass(frozen=True, kw_only=True)
class ClaimEvent(Event):
    """``channel`` is written only for what an agent shares with its later runs, which no reader's tail shows."""

    artifact_id: str
    claim_key: str
    version: int
    channel: str = Surface.CLAIM

    @classmethod
    def in_tail(cls, payload: dict[str, Any]) -> bool:
        return cls.tail and "channel" not in payload

    def payload(self) -> dict[str, Any]:
        payload = super().payload()
        if self.channel == Surface.CLAIM:
            del payload["channel"]
        return payload


@dataclass(frozen=True, kw_only=True)
class Submitted(ClaimEvent):
    kind: str
    content_commitment: str
    envelope_keyid: str
    derives_from: tuple[str, ...]
    policy_version: int


@event("submission.remember", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Remembered(Submitted):
    pass


@event("submission.learn", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Learned(Submitted):
    pass


@event("admission.scanned", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Scanned(ClaimEvent):
    """``outcomes`` are ``scanner@version=outcome``."""

    outcomes: tuple[str, ...]


@event("lifecycle.promote", subject=_CLAIM, tail=True)
@dataclass(frozen=True, kw_only=True)
class Promoted(ClaimEvent):
    kind: str
    self_signed: bool
    closure_size: int


@event("lifecycle.reject", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Rejected(ClaimEvent):
    cause: str


@event("lifecycle.expire", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Expired(ClaimEvent):
    pass


@event("lifecycle.demote", subject=_CLAIM, tail=True)
@dataclass(frozen=True, kw_only=True)
class Demoted(ClaimEvent):
    cause: str
    reason_commitment: str | None = None


@event("submission.supersede", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Superseded(Submitted):
    pass


@event("submission.withdraw", subject=_CLAIM)
@dataclass(frozen=True, kw_only=True)
class Withdrawn(ClaimEvent):
    pass


@event("lifecycle.erase", subject=_CLAIM, tail=True)
@dataclass(frozen=True, kw_only=True)
class Erased(ClaimEvent):
    """In a reader's tail only if it was ever promoted: else it would tell of a held row (R3)."""

    was_promoted: bool
    reason_commitment: str | None

    @classmethod
    def in_tail(cls, payload: dict[str, Any]) -> bool:
        return bool(payload["was_promoted"]) and super().in_tail(payload)

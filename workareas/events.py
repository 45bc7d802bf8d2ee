"""Events of who and where (design: events)."""

from __future__ import annotations

from dataclasses import dataclass

from oml.journal.registry import Event, event


@event("tenant.created", subject=("tenant_id",))
@dataclass(frozen=True, kw_only=True)
class TenantCreated(Event):
    tenant_id: str
    slug: str


@event("key.issued", subject=("key_id",))
@dataclass(frozen=True, kw_only=True)
class KeyIssued(Event):
    key_id: str
    principal_id: str
    role: str
    interactive: bool
    expires_at: str | None


@event("key.revoked", subject=("key_id",))
@dataclass(frozen=True, kw_only=True)
class KeyRevoked(Event):
    key_id: str
    reason_commitment: str | None = None


@event("principal.removed", subject=("principal_id",))
@dataclass(frozen=True, kw_only=True)
class PrincipalRemoved(Event):
    """Its keys are revoked and its private state is destroyed by the entries that follow in the same transaction."""

    principal_id: str
    reason_commitment: str | None = None


@event("grant.added", subject=("grant_id",))
@dataclass(frozen=True, kw_only=True)
class GrantAdded(Event):
    grant_id: str
    key_id: str
    capability: str
    effect: str


@event("grant.removed", subject=("grant_id",))
@dataclass(frozen=True, kw_only=True)
class GrantRemoved(Event):
    grant_id: str
    key_id: str
    capability: str
    effect: str


@event("human_access.set", subject=("holder",))
@dataclass(frozen=True, kw_only=True)
class HumanAccessSet(Event):
    """``holder`` is a principal id, or ``group:<id>``."""

    holder: str
    permission: str


@event("human_access.unset", subject=("holder",))
@dataclass(frozen=True, kw_only=True)
class HumanAccessUnset(Event):
    holder: str
    permission: str


@event("quota.set", subject=("tenant_id",))
@dataclass(frozen=True, kw_only=True)
class QuotaSet(Event):
    tenant_id: str
    writes_per_minute: int | None
    reads_per_minute: int | None


@event("workarea.created", subject=("workarea",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaCreated(Event):
    workarea: str
    parent: str | None
    leaf: str


@event("workarea.status_changed", subject=("workarea",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaStatusChanged(Event):
    workarea: str
    before: str
    after: str
    reason_commitment: str | None = None


@event("workarea.crew_updated", subject=("workarea",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaCrewUpdated(Event):
    workarea: str
    crew_digest: str


@event("policy.changed", subject=("policy_of",), version=2)
@dataclass(frozen=True, kw_only=True)
class PolicyChanged(Event):
    """``policy_of`` is a workarea id, or the tenant id for the tenant's flag.

    ``before`` and ``after`` are the values that were set anew, null where inherited: numbers and switches, no words. So
    the policy that stood at any verdict can be told from the journal alone.
    """

    policy_of: str
    version: int
    before: dict[str, int | bool | None]
    after: dict[str, int | bool | None]


@event("key.rotated", subject=("key_id",))
@dataclass(frozen=True, kw_only=True)
class KeyRotated(Event):
    """``overlap_until`` is when the secret before stops working; None at once."""

    key_id: str
    overlap_until: str | None


@event("workarea.reassigned", subject=("workarea",), tail=True)
@dataclass(frozen=True, kw_only=True)
class WorkareaReassigned(Event):
    workarea: str
    old_parent: str
    new_parent: str
    reason_commitment: str | None


@event("ban.added", subject=("ban_id",))
@dataclass(frozen=True, kw_only=True)
class BanAdded(Event):
    ban_id: str
    kind: str
    value: str
    reason_commitment: str | None


@event("ban.removed", subject=("ban_id",))
@dataclass(frozen=True, kw_only=True)
class BanRemoved(Event):
    ban_id: str
    kind: str
    value: str


@event("simulation.created", subject=("simulation",))
@dataclass(frozen=True, kw_only=True)
class SimulationCreated(Event):
    simulation: str
    audience: tuple[str, ...]


@event("simulation.audience_changed", subject=("simulation",))
@dataclass(frozen=True, kw_only=True)
class SimulationAudienceChanged(Event):
    simulation: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@event("simulation.closed", subject=("simulation",))
@dataclass(frozen=True, kw_only=True)
class SimulationClosed(Event):
    simulation: str

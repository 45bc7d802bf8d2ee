"""Writes of identities and credentials: principals, keys, grants, human permissions, quotas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from guardian.shortcuts import assign_perm, remove_perm

from oml.core.actor import Actor, Role
from oml.core.clock import now, rfc3339
from oml.core.errors import Validation
from oml.core.ids import new_id
from oml.journal.append import append, hold, journalled
from oml.journal.registry import Event
from workareas import access, quota, reasons
from workareas.access import Access
from workareas.authentication import renew_secret
from workareas.errors import AccessForbidden, AccessNotFound
from workareas.events import (
    GrantAdded,
    GrantRemoved,
    HumanAccessSet,
    HumanAccessUnset,
    KeyIssued,
    KeyRevoked,
    KeyRotated,
    QuotaSet,
)
from workareas.models import Grant, Key, Principal, Tenant, Workarea
from workareas.verbs import CEILING, Capability, Verb
from workareas.words import Effect, PrincipalKind

MAX_OVERLAP_S = 30 * 86_400
_LARGEST_LIMIT = 2**31 - 1
_LONGEST_NAME = 200
# The codenames that the model declares, and none of the ones Django makes beside them.
_HUMAN_PERMISSIONS = frozenset(codename for codename, _ in Workarea._meta.permissions)


@dataclass(frozen=True, slots=True)
class GrantSpec:
    """A grant as asked for: node id or path, capability, allow or deny."""

    workarea: str
    capability: Capability
    effect: Effect = Effect.ALLOW


@dataclass(frozen=True, slots=True)
class NewPrincipal:
    """An identity to create with its first key."""

    name: str
    kind: PrincipalKind = PrincipalKind.AGENT


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key and, this once, its secret."""

    key: Key
    secret: str


@journalled
def issue_key(
    actor: Actor,
    *,
    principal: str | NewPrincipal,
    role: Role,
    grants: Sequence[GrantSpec] = (),
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Issue a key to a principal, with its grants, as one journalled act.

    Args:
        actor: an admin of every node that is granted, of at least one where none is.
        principal: an existing principal's id, or what to create. Only an admin of the root hands out a key that acts
            in the name of somebody who is there already.
        role: the key's ceiling; operator keys come from the command line alone.
        grants: what the key may do where; each within the role's ceiling.
        expires_at: when the key stops working; never, when None.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Validation: ``request.validation``; role, expiry, or a grant above the role's ceiling.
    """
    access.require_role(actor, Verb.KEY_ISSUE)
    known = access.load(actor)
    if role is Role.OPERATOR:
        raise Validation("operator keys are made by `manage.py bootstrap` alone (D9)", param="role")
    if expires_at is not None and expires_at <= now():
        raise Validation("expires_at lies in the past", param="expires_at")
    nodes = [
        access.require_node(known.decide(Verb.KEY_ISSUE, access.find(actor, g.workarea), g.workarea)) for g in grants
    ]
    asked = [(node.pk, spec.capability, spec.effect) for node, spec in zip(nodes, grants, strict=True)]
    for position, one in enumerate(asked):
        if one in asked[:position]:
            raise Validation(f"grants[{position}] repeats an earlier entry", param=f"grants[{position}]")
    if not known.scope(Capability.ADMIN).allow:
        raise AccessForbidden("this key administers no workarea")
    owner = _principal(known, principal)
    key = Key(
        tenant_id=actor.tenant_id, principal=owner, sponsor_id=actor.principal_id, role=role, expires_at=expires_at
    )
    secret = renew_secret(key)
    key.save(force_insert=True)
    made = [_create_grant(actor, key, node, spec) for node, spec in zip(nodes, grants, strict=True)]
    events: list[Event] = [_issued(key), *(added for _, added in made)]
    _, *seqs = append(actor, events, epoch=known.epoch, raise_epoch=True)
    note_entries([grant for grant, _ in made], seqs)
    return IssuedKey(key, secret)


@journalled
def enrol_human(actor: Actor, *, username: str, name: str, password: str, role: Role, staff: bool = False) -> Key:
    """Create a human who signs in, with the interactive key that their acts are recorded under.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        Validation: ``request.validation``; the username is taken.
    """
    decision = access.require_everywhere(actor, Verb.KEY_ISSUE)
    try:
        with transaction.atomic():
            human = Principal.objects.create_principal(
                tenant=Tenant.objects.get(pk=actor.tenant_id),
                username=username,
                name=name,
                kind=PrincipalKind.HUMAN,
                password=password,
                is_staff=staff,
            )
    except IntegrityError:
        raise Validation(f"the username {username} is taken", param="username") from None
    key = Key.objects.create(
        tenant_id=actor.tenant_id, principal=human, sponsor_id=actor.principal_id, role=role, interactive=True
    )
    append(actor, [_issued(key)], epoch=decision.epoch, raise_epoch=True)
    return key


@journalled
def rotate_key(actor: Actor, *, key: str, overlap_s: int = 0) -> IssuedKey:
    """Give a key a new secret; its id and grants stay.

    Args:
        actor: an admin of the root.
        key: the key's id.
        overlap_s: seconds for which the secret before still works, 0 to 30 days.

    Raises:
        AccessNotFound: ``access.not_found``; no such key in this tenant.
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        Validation: ``request.validation``; a revoked or interactive key, or overlap out of range.
    """
    decision = access.require_everywhere(actor, Verb.KEY_ISSUE)
    if not 0 <= overlap_s <= MAX_OVERLAP_S:
        raise Validation(f"overlap_s is from 0 to {MAX_OVERLAP_S}", param="overlap_s")
    row = _find_key(actor, key)
    if row.revoked_at is not None or row.interactive:
        raise Validation(f"key {key} is revoked, or belongs to a human who signs in; it has no secret to rotate")
    until = now() + timedelta(seconds=overlap_s) if overlap_s else None
    # The digest is unique, so its change locks the key against every row that is just being added in its name; with
    # the head held none is, and rotation and a submission of this key cannot wait for each other.
    hold(actor)
    row.previous_digest, row.previous_expires_at = (row.secret_digest, until) if until else (None, None)
    secret = renew_secret(row)
    row.save(update_fields=["secret_digest", "last_four", "previous_digest", "previous_expires_at"])
    rotated = KeyRotated(key_id=row.pk, overlap_until=rfc3339(until) if until else None)
    append(actor, [rotated], epoch=decision.epoch)
    return IssuedKey(row, secret)


@journalled
def revoke_key(actor: Actor, *, key: str, reason: str | None = None) -> Key:
    """Revoke a key at once; revoking it again changes nothing.

    Raises:
        AccessNotFound: ``access.not_found``; no such key in this tenant.
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`; an operator may.
    """
    epoch = None
    if actor.role is not Role.OPERATOR:  # an operator may revoke any key (D9 names content, not keys)
        epoch = access.require_everywhere(actor, Verb.KEY_ISSUE).epoch
    row = _find_key(actor, key)
    if row.revoked_at is not None:
        return row
    row.revoked_at = now()
    row.save(update_fields=["revoked_at"])
    words = reasons.keep(actor, subject_id=row.pk, act="revoke", text=reason)
    append(actor, [KeyRevoked(key_id=row.pk, reason_commitment=words)], epoch=epoch, raise_epoch=True)
    return row


def add_grant(actor: Actor, *, key: str, spec: GrantSpec, reason: str | None = None) -> Grant:
    """:func:`get_or_add_grant`, for who does not ask whether it was there already."""
    return get_or_add_grant(actor, key=key, spec=spec, reason=reason)[0]


@journalled
def get_or_add_grant(actor: Actor, *, key: str, spec: GrantSpec, reason: str | None = None) -> tuple[Grant, bool]:
    """Bind a capability to a key over a subtree; the same grant again is the existing row.

    Returns:
        The grant, and whether it is new.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`; or no such key.
        Validation: ``request.validation``; above the key's role ceiling.
    """
    decision = access.require(actor, Verb.GRANT, spec.workarea)
    row = Key.objects.filter(pk=key, tenant_id=actor.tenant_id).first()
    if row is None:
        raise AccessNotFound(f"no key {key} for this key")
    node = access.require_node(decision)
    existing = Grant.objects.filter(key=row, workarea=node, capability=spec.capability, effect=spec.effect).first()
    if existing is not None:
        return existing, False
    grant, added = _create_grant(actor, row, node, spec)
    reasons.keep(actor, subject_id=grant.pk, act="grant", text=reason)
    note_entries([grant], append(actor, [added], epoch=decision.epoch, raise_epoch=True))
    return grant, True


def note_entries(grants: Sequence[Grant], seqs: Sequence[int]) -> None:
    """Write into each grant which entry of the journal tells of it: known only once the entries are there."""
    for grant, seq in zip(grants, seqs, strict=True):
        grant.journal_seq = seq
    if grants:
        Grant.objects.bulk_update(grants, ["journal_seq"])


@journalled
def remove_grant(actor: Actor, *, grant: str) -> None:
    """Take a grant back.

    Raises:
        AccessNotFound: ``access.not_found``; no such grant on a node this actor administers.
        VerbCeiling: ``access.verb_ceiling``.
    """
    access.require_role(actor, Verb.GRANT)
    known = access.load(actor)
    row = Grant.objects.select_related("workarea").filter(pk=grant, key__tenant_id=actor.tenant_id).first()
    if row is None or Capability.ADMIN not in known.effective(row.workarea.path):
        raise AccessNotFound(f"no grant {grant} for this key")
    removed = GrantRemoved(
        workarea_id=row.workarea_id,
        grant_id=row.pk,
        key_id=row.key_id,
        capability=row.capability,
        effect=row.effect,
    )
    row.delete()
    append(actor, [removed], epoch=known.epoch, raise_epoch=True)


@journalled
def set_human_access(
    actor: Actor, *, holder: Principal | Group, workarea: str, permission: str, granted: bool = True
) -> None:
    """Give a human or a group an object permission on a subtree, or take it back (django-guardian's rows).

    Args:
        actor: an admin of the node.
        holder: a human principal of the tenant, or a group.
        workarea: id or path.
        permission: ``read``, ``review``, ``administer``, ``persistence_read``, ``persistence_delete`` or a ``deny_``
            twin.
        granted: False takes it back.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`; or a foreign holder.
        Validation: ``request.validation``; no such permission.
    """
    decision = access.require(actor, Verb.GRANT, workarea)
    node = access.require_node(decision)
    if permission not in _HUMAN_PERMISSIONS:
        raise Validation(f"permission is one of {', '.join(sorted(_HUMAN_PERMISSIONS))}", param="permission")
    if isinstance(holder, Principal) and holder.tenant_id != actor.tenant_id:
        raise AccessNotFound(f"no principal {holder.pk} for this key", param="holder")
    changed = change_permission(holder, node, permission, granted=granted)
    append(actor, [changed], epoch=decision.epoch, raise_epoch=True)


def change_permission(holder: Principal | Group, node: Workarea, permission: str, *, granted: bool) -> Event:
    """Write one of guardian's rows, or take it away; returns the event for the caller to append."""
    change = assign_perm if granted else remove_perm
    change(f"workareas.{permission}", holder, node)
    name = holder.pk if isinstance(holder, Principal) else f"group:{holder.pk}"
    kind = HumanAccessSet if granted else HumanAccessUnset
    return kind(workarea_id=node.pk, holder=str(name), permission=permission)


@journalled
def set_quota(actor: Actor, *, writes_per_minute: int | None, reads_per_minute: int | None) -> None:
    """Set the tenant's journalled quotas (D6); None means no limit.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        Validation: ``request.validation``; a negative limit.
    """
    decision = access.require_everywhere(actor, Verb.POLICY_SET)
    for name, limit in (("writes_per_minute", writes_per_minute), ("reads_per_minute", reads_per_minute)):
        if limit is not None and not 0 <= limit <= _LARGEST_LIMIT:
            raise Validation(f"{name} is a whole number from 0 to {_LARGEST_LIMIT}", param=name)
    Tenant.objects.filter(pk=actor.tenant_id).update(
        writes_per_minute=writes_per_minute, reads_per_minute=reads_per_minute
    )
    transaction.on_commit(quota.forget)
    changed = QuotaSet(
        tenant_id=actor.tenant_id, writes_per_minute=writes_per_minute, reads_per_minute=reads_per_minute
    )
    append(actor, [changed], epoch=decision.epoch)


def _find_key(actor: Actor, key: str) -> Key:
    row = None
    if "\x00" not in key:
        row = Key.objects.select_for_update(no_key=True).filter(pk=key, tenant_id=actor.tenant_id).first()
    if row is None:
        raise AccessNotFound(f"no key {key} for this key")
    return row


def _principal(known: Access, asked: str | NewPrincipal) -> Principal:
    actor = known.actor
    if isinstance(asked, str):
        found = None
        if "\x00" not in asked and Capability.ADMIN in known.effective("universe"):
            found = Principal.objects.filter(pk=asked, tenant_id=actor.tenant_id, is_active=True).first()
        if found is None:
            raise AccessNotFound(f"no principal {asked} for this key", param="principal.id")
        return found
    if asked.kind == PrincipalKind.HUMAN:
        raise Validation("humans are enrolled by an administrator, they do not carry API keys", param="principal.kind")
    name = asked.name.strip()
    if not 1 <= len(name) <= _LONGEST_NAME or "\x00" in name:
        raise Validation(f"a principal has a name of 1 to {_LONGEST_NAME} characters", param="principal.name")
    tenant = Tenant.objects.get(pk=actor.tenant_id)
    identity = new_id("pri")
    # Agents never sign in; their username only has to be unique, so it is their id.
    return Principal.objects.create_principal(tenant=tenant, id=identity, username=identity, name=name, kind=asked.kind)


def _issued(key: Key) -> KeyIssued:
    return KeyIssued(
        key_id=key.pk,
        principal_id=key.principal_id,
        role=key.role,
        interactive=key.interactive,
        expires_at=rfc3339(key.expires_at) if key.expires_at else None,
    )


def _create_grant(actor: Actor, key: Key, node: Workarea, spec: GrantSpec) -> tuple[Grant, GrantAdded]:
    if spec.effect == Effect.ALLOW and spec.capability not in CEILING[Role(key.role)]:
        raise Validation(
            f"a {key.role} key can never be granted {spec.capability}: a role is a ceiling (R1)",
            param="capability",
        )
    grant = Grant(
        key=key,
        workarea=node,
        capability=spec.capability,
        effect=spec.effect,
        granted_by_id=actor.key_id,
    )
    grant.save(force_insert=True)
    added = GrantAdded(
        workarea_id=grant.workarea_id,
        grant_id=grant.pk,
        key_id=key.pk,
        capability=spec.capability,
        effect=spec.effect,
    )
    return grant, added

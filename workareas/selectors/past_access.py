"""Why might this key do that there, *then*? The same question as ``explain``, answered from the journal alone."""

from __future__ import annotations

import json
from typing import Any

from oml.core.actor import Actor, Role
from oml.core.errors import Validation
from oml.journal.selectors import entries, permission_epoch
from workareas import access
from workareas.errors import AccessForbidden, AccessNotFound, OperatorCeiling, VerbCeiling
from workareas.models import Key
from workareas.replay import Replay, replayed
from workareas.verbs import CAPABILITY_OF, Verb, may_hold


def access_at(tenant_id: str, epoch: int | None = None) -> Replay:
    """A tenant's permissions as they were at an epoch, or as they are; reads the journal from its first entry."""
    return replayed((json.loads(entry.canonical) for entry in entries(tenant_id)), epoch=epoch)


def explain_past_access(actor: Actor, *, key: str, verb: Verb, workarea: str, epoch: int) -> dict[str, Any]:
    """What the authorizer answered when a key asked at an epoch.

    Args:
        actor: an administrator of the root: what is asked about may have been anywhere then.
        key: the key's id.
        verb: a row of the permission matrix.
        workarea: a node's id, or the path it had then.
        epoch: 0 to the present one.

    Returns:
        ``key, role, verb, workarea, path, capability, allowed, code, rule, key_problem, because, blocked_by,
        permission_epoch, seq``.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`; or no such key.
        Validation: ``request.validation``; an epoch that there was not yet.
    """
    access.require_everywhere(actor, Verb.GRANT)
    latest = permission_epoch(actor.tenant_id)
    if not 0 <= epoch <= latest:
        raise Validation(f"the permission epoch is from 0 to {latest}", param="epoch")
    if "\x00" in key or not Key.objects.filter(pk=key, tenant_id=actor.tenant_id).exists():
        raise AccessNotFound(f"no key {key} for this key", param="key")
    then = access_at(actor.tenant_id, epoch)
    role, node = then.role_of(key), then.find(workarea)
    capability = CAPABILITY_OF[verb]
    told: dict[str, Any] = {
        "key": key,
        "role": str(role) if role else None,
        "verb": str(verb),
        "workarea": workarea,
        "path": then.path_of(node) if node else None,
        "capability": str(capability),
        "key_problem": _problem(then, key),
        "permission_epoch": then.epoch,
        "seq": then.seq,
    }
    held = then.effective(key, node) if node else frozenset()
    here = [rule for rule in then.rules_of(key) if node and rule.covers(str(told["path"]))]
    mine = [rule for rule in here if rule.capability is capability] if held else []
    refusal = _refusal(role, verb, seen=bool(held), holds=capability in held)
    return told | {
        "allowed": refusal is None,
        "code": refusal.code if refusal else None,
        "rule": refusal.rule if refusal else None,
        "because": [rule for rule in mine if rule.allow],
        "blocked_by": [rule for rule in mine if not rule.allow],
    }


def _refusal(
    role: Role | None, verb: Verb, *, seen: bool, holds: bool
) -> type[VerbCeiling | AccessNotFound | AccessForbidden] | None:
    """The order of design: access, "Which refusal"."""
    if role is not None and not may_hold(role, verb):
        return OperatorCeiling if role is Role.OPERATOR else VerbCeiling
    if not seen:
        return AccessNotFound
    return None if holds else AccessForbidden


def _problem(then: Replay, key: str) -> str | None:
    if then.role_of(key) is None:
        return "the key had not been issued"
    return "the key had been revoked" if then.is_revoked(key) else None

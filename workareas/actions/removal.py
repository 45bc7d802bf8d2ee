"""Remove an actor for good: nobody signs in or calls as it again, and what was private to it is destroyed.

A room above that keeps private things of a principal registers what to destroy. What must never happen here: something
private of a removed principal that is left, or that anybody else gets to see; a tenant without an administrator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import access, reasons
from workareas.errors import AccessNotFound
from workareas.events import KeyRevoked, PrincipalRemoved
from workareas.models import Key, Principal
from workareas.verbs import Verb

#: ``(principal_id) -> events``: destroy what is private to a principal, and say what went.
Hook = Callable[[str], list[Event]]
_on_removal: list[Hook] = []


def on_removal(hook: Hook) -> Hook:
    """Register work of a room above. It runs before any other row of the principal is locked."""
    _on_removal.append(hook)
    return hook


@dataclass(frozen=True, slots=True)
class Removal:
    """What a removal did; nothing at all where the principal was gone already."""

    principal: Principal
    keys_revoked: tuple[str, ...] = ()


@journalled
def remove_principal(actor: Actor, *, principal: str, reason: str) -> Removal:
    """Remove an actor: inactive, every key revoked, its private state destroyed, in one transaction.

    What it shared or submitted stays, under its name: that was another's to judge. A removal is never taken back, and
    removing it again changes nothing. The tenant keeps an administrator, because one is who removes, and nobody
    removes themselves.

    Args:
        actor: an admin of the root.
        principal: the id of an agent, a human or a service of the tenant.
        reason: kept in words beside the journal.

    Raises:
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        AccessNotFound: ``access.not_found``; no such principal.
        Validation: ``request.validation``; the actor's own principal.
    """
    decision = access.require_everywhere(actor, Verb.KEY_ISSUE)
    found = None
    if "\x00" not in principal:
        found = Principal.objects.filter(pk=principal, tenant_id=actor.tenant_id).first()
    if found is None:
        raise AccessNotFound(f"no principal {principal} for this key", param="principal")
    if found.pk == actor.principal_id:
        raise Validation("nobody removes themselves: another administrator of the root does", param="principal")
    if not found.is_active:
        return Removal(found)
    destroyed = [event for hook in _on_removal for event in hook(found.pk)]
    found.is_active = False
    found.save(update_fields=["is_active"])
    keys = Key.objects.select_for_update(no_key=True).filter(principal=found, revoked_at=None).order_by("pk")
    revoked = tuple(keys.values_list("pk", flat=True))
    Key.objects.filter(pk__in=revoked).update(revoked_at=now())
    words = reasons.keep(actor, subject_id=found.pk, act="remove", text=reason)
    events: list[Event] = [PrincipalRemoved(principal_id=found.pk, reason_commitment=words)]
    events += [KeyRevoked(key_id=key) for key in revoked]
    append(actor, [*events, *destroyed], epoch=decision.epoch, raise_epoch=True)
    return Removal(found, revoked)

"""A human's preset role in a space, or none: which permissions over agent state they hold there (seed: agent-memory).

What must never happen here: a role for anybody who does not sign in, and a permission of the role before that stays.
"""

from __future__ import annotations

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from workareas import access
from workareas.access import direct_persistence
from workareas.actions.keys import change_permission
from workareas.errors import AccessNotFound
from workareas.models import Principal, Workarea
from workareas.space_roles import PERMISSIONS_OF, Persistence, SpaceRole
from workareas.verbs import Verb
from workareas.words import PrincipalKind


@journalled
def set_space_role(
    actor: Actor, *, principal: str, workarea: str, role: SpaceRole | None
) -> tuple[Workarea, frozenset[Persistence]]:
    """Give a human a preset role in a space, in place of the one before; None takes it away.

    A role is its permissions and nothing beside them, so two roles that permit the same are the same afterwards, and
    a role that is held already changes nothing. A ``deny_`` twin stays as it is, and still wins.

    Args:
        actor: an admin of the space.
        principal: a human of the tenant, by id.
        workarea: the space: id or path; the role holds from there down.
        role: one of the five, or None.

    Returns:
        The space, and what the human was given there.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`; or no such principal.
        Validation: ``request.validation``; the principal is no human: a key carries no such permission.
    """
    decision = access.require(actor, Verb.GRANT, workarea)
    node = access.require_node(decision)
    human = None
    if "\x00" not in principal:
        human = Principal.objects.filter(pk=principal, tenant_id=actor.tenant_id, is_active=True).first()
    if human is None:
        raise AccessNotFound(f"no principal {principal} for this key", param="principal")
    if human.kind != PrincipalKind.HUMAN:
        raise Validation("a space role is a human's: an API key carries no persistence permission", param="principal")
    wanted = PERMISSIONS_OF[role] if role is not None else frozenset()
    held = direct_persistence(human.pk, node)
    events = [
        change_permission(human, node, permission, granted=permission in wanted)
        for permission in Persistence
        if (permission in wanted) != (permission in held)
    ]
    if events:
        append(actor, events, epoch=decision.epoch, raise_epoch=True)
    return node, wanted

"""Groups of humans (django.contrib.auth): who is in one is a permission like any other, so an action, journalled.

A group belongs to one tenant by its name, ``<tenant id>:<name>``: Django's groups know no tenant, and a permission that
a group holds reaches everybody in it. What must never happen here: a human in a group of another tenant.
"""

from __future__ import annotations

from django.contrib.auth.models import Group

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from workareas import access
from workareas.errors import AccessNotFound
from workareas.events import HumanAccessSet, HumanAccessUnset
from workareas.models import Principal
from workareas.verbs import Verb
from workareas.words import PrincipalKind

_LONGEST = 100


def group_named(actor: Actor, name: str) -> Group:
    """A group of the actor's tenant, made on its first use.

    Raises:
        Validation: ``request.validation``; an empty or too long name.
    """
    if not name.strip() or len(name) > _LONGEST or "\x00" in name:
        raise Validation(f"a group's name has 1 to {_LONGEST} characters", param="group")
    return Group.objects.get_or_create(name=f"{actor.tenant_id}:{name.strip()}")[0]


@journalled
def set_group_member(actor: Actor, *, group: str, username: str, member: bool = True) -> Group:
    """Take a human into a group, or out of it; what is so already is left as it is.

    Args:
        actor: an admin of the root: a group's permissions may lie anywhere in the tenant.
        group: the group's name within the tenant.
        username: a human of the tenant.
        member: False takes them out.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`; or no such human.
        Validation: ``request.validation``; the group's name.
    """
    decision = access.require_everywhere(actor, Verb.GRANT)
    row = group_named(actor, group)
    human = human_named(actor, username)
    if row.user_set.filter(pk=human.pk).exists() is member:
        return row
    (row.user_set.add if member else row.user_set.remove)(human)
    kind = HumanAccessSet if member else HumanAccessUnset
    root = access.require_node(decision)
    event = kind(workarea_id=root.pk, holder=human.pk, permission=f"group:{row.pk}")
    append(actor, [event], epoch=decision.epoch, raise_epoch=True)
    return row


def human_named(actor: Actor, username: str) -> Principal:
    """A human of the actor's tenant by the name they sign in with.

    Raises:
        AccessNotFound: ``access.not_found``.
    """
    found = None
    if "\x00" not in username:
        humans = Principal.objects.filter(tenant_id=actor.tenant_id, kind=PrincipalKind.HUMAN)
        found = humans.filter(username=username).first()
    if found is None:
        raise AccessNotFound(f"no human {username} for this key", param="username")
    return found

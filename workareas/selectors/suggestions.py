"""What a form may complete while somebody types; typing anything else is fine, the action decides."""

from __future__ import annotations

from oml.core.actor import Actor
from workareas import access
from workareas.models import Principal, Workarea
from workareas.verbs import Capability
from workareas.words import PrincipalKind

# A list that a person can still look through; beyond it they type.
_MOST = 200


def administered_paths(actor: Actor) -> list[str]:
    """Paths that this actor administers, in tree order."""
    scope = access.load(actor).scope(Capability.ADMIN)
    nodes = Workarea.objects.filter(scope.predicate(), tenant_id=actor.tenant_id).order_by("path")
    return list(nodes.values_list("path", flat=True)[:_MOST])


def principals_with_keys(actor: Actor) -> list[tuple[str, str]]:
    """Agents and services of the tenant as (id, name): those who can carry an API key."""
    rows = Principal.objects.filter(tenant_id=actor.tenant_id).exclude(kind=PrincipalKind.HUMAN)
    return list(rows.order_by("name").values_list("id", "name")[:_MOST])

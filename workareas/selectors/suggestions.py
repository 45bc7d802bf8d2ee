"""What a form may complete while somebody types; typing anything else is fine, the action decides."""

from __future__ import annotations

from collections.abc import Iterable

from oml.core.actor import Actor
from workareas import access
from workareas.models import Grant, Key, Principal, Workarea
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
    """Agents and services of the tenant as (id, name): those who can carry an API key; for the root to see."""
    if Capability.ADMIN not in access.load(actor).effective("universe"):
        return []
    rows = Principal.objects.filter(tenant_id=actor.tenant_id).exclude(kind=PrincipalKind.HUMAN)
    return list(rows.order_by("name").values_list("id", "name")[:_MOST])


def keys_by_name(actor: Actor) -> list[tuple[str, str]]:
    """Live keys as (id, whose and of which role): the tenant's for the root, else those granted in one's own part."""
    rows = Key.objects.filter(tenant_id=actor.tenant_id, revoked_at=None).order_by("principal__name", "pk")
    scope = access.load(actor).scope(Capability.ADMIN)
    if not scope.holds("universe"):
        granted = Grant.objects.filter(scope.predicate("workarea__path"), key__tenant_id=actor.tenant_id)
        rows = rows.filter(pk__in=granted.values("key_id"))
    found = rows.values_list("pk", "principal__name", "role")[:_MOST]
    return [(key, f"{name}, {role}") for key, name, role in found]


def names_of_keys(actor: Actor, keys: Iterable[str]) -> dict[str, str]:
    """Whose these keys of the tenant are."""
    rows = Key.objects.filter(tenant_id=actor.tenant_id, pk__in=list(keys))
    return dict(rows.values_list("pk", "principal__name"))

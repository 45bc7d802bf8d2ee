"""Reads of tenants, for commands."""

from __future__ import annotations

from oml.core.actor import Actor, Channel, Role
from workareas.authentication import actor_of_key
from workareas.models import Grant, Tenant
from workareas.verbs import Capability


def tenant_exists(slug: str) -> bool:
    """Whether a tenant of this short name is there."""
    return Tenant.objects.filter(slug=slug).exists()


def tenant_ids() -> list[str]:
    """Ids of all tenants, oldest first."""
    return list(Tenant.objects.order_by("id").values_list("id", flat=True))


def first_administrator(slug: str) -> Actor | None:
    """The oldest usable admin key on the root of a tenant, as the actor of commands run on the server itself."""
    grant = (
        Grant.objects.filter(
            key__tenant__slug=slug,
            key__role=Role.ADMIN,
            key__revoked_at=None,
            key__interactive=False,
            workarea__parent=None,
            capability=Capability.ADMIN,
            effect="allow",
        )
        .order_by("key_id")
        .first()
    )
    return actor_of_key(grant.key_id, channel=Channel.CLI) if grant else None


def only_tenant() -> str | None:
    """The short name of the one tenant, None when there are none or several."""
    slugs = list(Tenant.objects.values_list("slug", flat=True)[:2])
    return slugs[0] if len(slugs) == 1 else None


def quotas(actor: Actor) -> tuple[int | None, int | None]:
    """Writes and reads per minute of the actor's tenant; None is no limit."""
    row = Tenant.objects.get(pk=actor.tenant_id)
    return row.writes_per_minute, row.reads_per_minute

"""Provisioning a tenant: an operator's act, from the command line (D9)."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError, transaction

from oml.core.actor import Actor, Channel, Role
from oml.core.errors import Validation
from oml.core.ids import new_id
from oml.journal.append import append, journalled
from workareas.actions.keys import note_entries
from workareas.authentication import renew_secret
from workareas.events import GrantAdded, KeyIssued, TenantCreated, WorkareaCreated
from workareas.models import Grant, Key, Principal, Tenant, Workarea
from workareas.verbs import Capability
from workareas.words import Effect, PrincipalKind

ROOT = "universe"


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A new tenant, its operator and its first administrator, with their secrets this once."""

    tenant: Tenant
    root: Workarea
    operator: Actor
    operator_secret: str
    admin: Actor
    admin_secret: str


@journalled
def provision_tenant(*, slug: str, name: str) -> Provisioned:
    """Create a tenant with its root, its operator key and its first admin key (admin and reader on the root).

    Raises:
        Validation: ``request.validation``; the slug is taken.
    """
    try:
        with transaction.atomic():
            tenant = Tenant.objects.create(slug=slug, name=name)
    except IntegrityError:
        raise Validation(f"a tenant {slug} exists already", param="slug") from None
    root = Workarea.objects.create(tenant=tenant, parent=None, leaf=ROOT, path=ROOT)
    operator, operator_secret = _service_key(tenant, "Operator", Role.OPERATOR)
    admin, admin_secret = _service_key(tenant, "Administrator", Role.ADMIN)
    grants = [
        Grant.objects.create(key_id=admin.key_id, workarea=root, capability=capability, granted_by_id=operator.key_id)
        for capability in (Capability.ADMIN, Capability.READER)
    ]
    seqs = append(
        operator,
        [
            TenantCreated(tenant_id=tenant.pk, slug=slug),
            WorkareaCreated(workarea_id=root.pk, workarea=root.pk, parent=None, leaf=ROOT),
            *[
                KeyIssued(
                    key_id=actor.key_id,
                    principal_id=actor.principal_id,
                    role=actor.role,
                    interactive=False,
                    expires_at=None,
                )
                for actor in (operator, admin)
            ],
            *[
                GrantAdded(
                    workarea_id=root.pk,
                    grant_id=grant.pk,
                    key_id=admin.key_id,
                    capability=grant.capability,
                    effect=Effect.ALLOW,
                )
                for grant in grants
            ],
        ],
        epoch=None,
        raise_epoch=True,
    )
    note_entries(grants, seqs[-len(grants) :])
    return Provisioned(tenant, root, operator, operator_secret, admin, admin_secret)


def _service_key(tenant: Tenant, name: str, role: Role) -> tuple[Actor, str]:
    identity = new_id("pri")
    principal = Principal.objects.create_principal(
        tenant=tenant, id=identity, username=identity, name=name, kind=PrincipalKind.SERVICE
    )
    key = Key(tenant=tenant, principal=principal, role=role)
    secret = renew_secret(key)
    key.save(force_insert=True)
    return Actor(tenant.pk, principal.pk, key.pk, role, Channel.CLI), secret

"""What a grant, or taking one back, would change: the authorizer's own rule asked with one rule more or less (D7).

Access is compared over the whole subtree, since a deny below may leave nothing of what was given above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oml.core.actor import Actor, Channel, Role
from oml.core.errors import Validation
from workareas import access
from workareas.access import Access
from workareas.errors import AccessNotFound
from workareas.models import Grant, Key, Workarea
from workareas.rules import Rule, capabilities
from workareas.verbs import CEILING, Capability, Verb
from workareas.words import Effect

MAX_REPORTED = 500


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """What one key would gain and lose at one node."""

    path: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrantForeseen:
    """The effect of one grant given or taken back; ``live`` is False of a key that can do nothing anyway."""

    key: Key
    node: Workarea
    nodes: int
    changes: tuple[CapabilityChange, ...]
    truncated: bool
    live: bool


def grant_foreseen(
    actor: Actor, *, key: str, workarea: str, capability: Capability, effect: Effect = Effect.ALLOW
) -> GrantForeseen:
    """What :func:`workareas.actions.keys.add_grant` would change, without changing it.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`; or no such key.
        Validation: ``request.validation``; above the key's role ceiling.
    """
    node = access.require_node(access.require(actor, Verb.GRANT, workarea))
    rows = Key.objects.select_related("principal").filter(tenant_id=actor.tenant_id)
    row = None if "\x00" in key else rows.filter(pk=key).first()
    if row is None:
        raise AccessNotFound(f"no key {key} for this key", param="key")
    if effect == Effect.ALLOW and capability not in CEILING[Role(row.role)]:
        raise Validation(
            f"a {row.role} key can never be granted {capability}: a role is a ceiling (R1)", param="capability"
        )
    known = _access_of(row)
    more = (*known.rules, Rule(node.path, capability, effect == Effect.ALLOW, "foreseen"))
    return _foreseen(row, node, known.rules, more)


def removal_foreseen(actor: Actor, *, grant: str) -> GrantForeseen:
    """What :func:`workareas.actions.keys.remove_grant` would change, without changing it.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; no such grant on a node this actor administers.
    """
    access.require_role(actor, Verb.GRANT)
    rows = Grant.objects.select_related("workarea", "key__principal").filter(key__tenant_id=actor.tenant_id)
    row = None if "\x00" in grant else rows.filter(pk=grant).first()
    if row is None or Capability.ADMIN not in access.load(actor).effective(row.workarea.path):
        raise AccessNotFound(f"no grant {grant} for this key")
    rules = _access_of(row.key).rules
    return _foreseen(row.key, row.workarea, rules, [rule for rule in rules if rule.source != f"grant {row.pk}"])


def _access_of(key: Key) -> Access:
    return access.load(Actor(key.tenant_id, key.principal_id, key.pk, Role(key.role), Channel.SYSTEM, key.interactive))


def _foreseen(key: Key, node: Workarea, before: Sequence[Rule], after: Sequence[Rule]) -> GrantForeseen:
    inside = access.Scope((node.path,), ()).predicate()
    paths = list(
        Workarea.objects.filter(inside, tenant_id=key.tenant_id).order_by("path").values_list("path", flat=True)
    )
    role = Role(key.role)
    changes = []
    for path in paths:
        held, would = capabilities(before, role, path), capabilities(after, role, path)
        if held != would:
            changes.append(CapabilityChange(path, tuple(sorted(would - held)), tuple(sorted(held - would))))
    live = key.revoked_at is None and key.principal.is_active
    shown = tuple(changes[:MAX_REPORTED])
    return GrantForeseen(key, node, len(paths), shown, truncated=len(changes) > MAX_REPORTED, live=live)

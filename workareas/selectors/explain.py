"""Why may this key do that there? The authorizer's own Decision, asked by an administrator about somebody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.core.errors import InvalidKey, Validation
from workareas import access
from workareas.access import Decision
from workareas.errors import AccessNotFound
from workareas.models import Key
from workareas.rules import Rule
from workareas.verbs import CAPABILITY_OF, Capability, Verb


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with what it was asked of; ``key_problem`` says why the key is refused before any of it."""

    key: Key
    verb: Verb
    workarea: str
    capability: Capability
    decision: Decision
    key_problem: str


def explain(actor: Actor, *, key: str, verb: str, workarea: str) -> dict[str, Any]:
    """:func:`explain_access` as the body of ``GET /v1/access/explain``; errors as there.

    Raises:
        Validation: ``request.validation``; no such verb.
    """
    if verb not in list(Verb):
        raise Validation(f"verb is one of {', '.join(Verb)}", param="verb")
    told = explain_access(actor, key=key, verb=Verb(verb), workarea=workarea)
    decision = told.decision
    return {
        "key": told.key.pk,
        "role": told.key.role,
        "verb": str(told.verb),
        "workarea": told.workarea,
        "allowed": decision.allowed and not told.key_problem,
        "code": InvalidKey.code if told.key_problem else decision.code or None,
        "rule": told.key_problem or decision.rule or None,
        "because": [_rule(rule) for rule in decision.because],
        "blocked_by": [_rule(rule) for rule in decision.blocked_by],
        "permission_epoch": decision.epoch,
    }


def explain_access(actor: Actor, *, key: str, verb: Verb, workarea: str) -> Explanation:
    """What :func:`workareas.access.authorize` answers when this key asks, without the key being used.

    Args:
        actor: an administrator of the workarea.
        key: the key's id.
        verb: a row of the permission matrix.
        workarea: id or path, as sent.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden: the asker does not administer the workarea; or no such key.
    """
    access.require(actor, Verb.GRANT, workarea)
    row = (
        Key.objects.select_related("principal").filter(pk=key, tenant_id=actor.tenant_id).first()
        if "\x00" not in key
        else None
    )
    if row is None:
        raise AccessNotFound(f"no key {key} for this key", param="key")
    asking = Actor(row.tenant_id, row.principal_id, row.pk, Role(row.role), Channel.SYSTEM, row.interactive)
    return Explanation(
        key=row,
        verb=verb,
        workarea=workarea,
        capability=CAPABILITY_OF[verb],
        decision=access.authorize(asking, verb, workarea),
        key_problem=_problem(row),
    )


def _rule(rule: Rule) -> dict[str, str]:
    return {
        "workarea_path": rule.path,
        "capability": str(rule.capability),
        "effect": "allow" if rule.allow else "deny",
        "source": rule.source,
    }


def _problem(row: Key) -> str:
    if row.revoked_at is not None:
        return "the key is revoked, so every call is refused before this is asked"
    if row.expires_at is not None and row.expires_at <= now():
        return "the key has expired, so every call is refused before this is asked"
    if not row.principal.is_active:
        return "the principal is switched off, so every call is refused before this is asked"
    return ""

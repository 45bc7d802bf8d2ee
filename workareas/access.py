"""The only authorizer (design: access; D6, D7, D9).

``effective(actor, node)`` = capabilities allowed at the node or an ancestor, minus capabilities denied at the node
or an ancestor; a nearer allow never beats a deny. Keys get their rules from grants, signed-in humans also from
django-guardian's permissions on workareas, which nothing else reads. Everything fails closed: no rule, no access.

The permission epoch is read *before* the rules, so an append under a later epoch notices that this decision aged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Q

from oml.core.actor import Actor, Role
from oml.core.clock import now
from oml.core.errors import InvalidKey, OmlError
from oml.journal.selectors import permission_epoch
from workareas.errors import AccessForbidden, AccessNotFound, OperatorCeiling, VerbCeiling
from workareas.models import Grant, Key, Workarea, WorkareaGroupPermission, WorkareaUserPermission
from workareas.rules import HUMAN_PERMISSIONS, Rule, capabilities, human_rule, within
from workareas.space_roles import Persistence, PersistenceRule, persistence_at, persistence_rule
from workareas.verbs import CAPABILITY_OF, CEILING, Capability, Verb, may_hold, verbs_carried

#: The path of every tenant's root; acts on the tenant as a whole are decided there.
ROOT = "universe"

#: Where guardian keeps them, from a key on, and what an explanation calls them.
_HUMAN_ROWS = (
    ("permission of the user", "principal__workareauserpermission"),
    ("permission of a group", "principal__groups__workareagrouppermission"),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Readable paths as two prefix lists: under an allow root and under no deny root."""

    allow: tuple[str, ...]
    deny: tuple[str, ...]

    def holds(self, path: str) -> bool:
        """The same rule as :meth:`predicate`, for one path in memory."""
        return any(within(path, root) for root in self.allow) and not any(within(path, root) for root in self.deny)

    @property
    def empty(self) -> bool:
        """Whether it holds no path at all."""
        return not any(self.holds(root) for root in self.allow)

    def predicate(self, column: str = "path") -> Q:
        """As a filter over a path column; an empty allow list matches nothing."""
        allowed = Q(pk__in=[])
        for root in self.allow:
            allowed |= _under(column, root)
        for root in self.deny:
            allowed &= ~_under(column, root)
        return allowed


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer that explains itself; :func:`require` raises its refusal."""

    allowed: bool
    verb: Verb
    node: Workarea | None
    epoch: int
    code: str = ""
    rule: str = ""
    because: tuple[Rule, ...] = ()
    blocked_by: tuple[Rule, ...] = ()
    refusal: OmlError | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """An actor's rules at one epoch, loaded once per call."""

    actor: Actor
    epoch: int
    rules: tuple[Rule, ...]
    # A signed-in human's permissions over agent state; empty for every key with a secret, whatever it is granted.
    persistence_rules: tuple[PersistenceRule, ...] = ()

    def persistence(self, path: str) -> frozenset[Persistence]:
        """What a signed-in human may do with agent state at a path."""
        return persistence_at(self.persistence_rules, path)

    def persistence_scope(self, permission: Persistence) -> Scope:
        """Where a signed-in human holds a permission over agent state, as prefix lists."""
        mine = [rule for rule in self.persistence_rules if rule.permission is permission]
        return Scope(
            tuple(sorted({rule.path for rule in mine if rule.allow})),
            tuple(sorted({rule.path for rule in mine if not rule.allow})),
        )

    def effective(self, path: str) -> frozenset[Capability]:
        """Capabilities at a path: allows minus denies, within the role's ceiling."""
        return capabilities(self.rules, self.actor.role, path)

    def scope(self, capability: Capability) -> Scope:
        """Where the actor holds a capability, as prefix lists."""
        if capability not in CEILING[self.actor.role]:
            return Scope((), ())
        mine = [rule for rule in self.rules if rule.capability is capability]
        return Scope(
            tuple(sorted({rule.path for rule in mine if rule.allow})),
            tuple(sorted({rule.path for rule in mine if not rule.allow})),
        )

    def decide(self, verb: Verb, node: Workarea | None, reference: str) -> Decision:
        """Apply the order of design: access, "Which refusal" to one node."""
        if not may_hold(self.actor.role, verb):
            return self._refuse(verb, node, ceiling_error(self.actor, verb))
        held = self.effective(node.path) if node is not None else frozenset()
        if node is None or not held:
            return self._refuse(verb, None, AccessNotFound.workarea(reference))
        capability = CAPABILITY_OF[verb]
        here = [rule for rule in self.rules if rule.covers(node.path) and rule.capability is capability]
        because = tuple(rule for rule in here if rule.allow)
        blocked = tuple(rule for rule in here if not rule.allow)
        if capability not in held:
            error = AccessForbidden(f"this key holds no {capability} access on workarea {reference}")
            return self._refuse(verb, node, error, because, blocked)
        return Decision(True, verb, node, self.epoch, because=because)

    def _refuse(
        self,
        verb: Verb,
        node: Workarea | None,
        error: OmlError,
        because: tuple[Rule, ...] = (),
        blocked_by: tuple[Rule, ...] = (),
    ) -> Decision:
        return Decision(False, verb, node, self.epoch, error.code, error.rule, because, blocked_by, refusal=error)


def load(actor: Actor) -> Access:
    """Load the actor's rules; a constant number of queries."""
    epoch = permission_epoch(actor.tenant_id)
    if actor.role is Role.OPERATOR:
        return Access(actor, epoch, ())
    rules = [
        Rule(path, Capability(capability), effect == "allow", f"grant {grant}")
        for grant, path, capability, effect in Grant.objects.filter(
            # A key revoked or a principal put out since authentication holds nothing any more.
            key_id=actor.key_id,
            key__tenant_id=actor.tenant_id,
            key__revoked_at=None,
            key__principal__is_active=True,
        ).values_list("id", "workarea__path", "capability", "effect")
    ]
    over_state = []
    for source, codename, path in _human_permissions(actor) if actor.interactive else ():
        if (rule := human_rule(source, codename, path)) is not None:
            rules.append(rule)
        elif (state_rule := persistence_rule(codename, path)) is not None:
            over_state.append(state_rule)
    return Access(actor, epoch, tuple(rules), tuple(over_state))


_STANDING = """
SELECT (SELECT permission_epoch FROM journal_journalhead WHERE tenant_id = %(tenant)s), EXISTS (
    SELECT 1 FROM workareas_key k JOIN workareas_principal p ON p.id = k.principal_id
    WHERE k.id = %(key)s AND k.tenant_id = %(tenant)s AND k.revoked_at IS NULL AND p.is_active)
"""


def standing(actor: Actor) -> int:
    """The permission epoch of an actor whose key still stands, for what asks for no place: its principal's own things.

    One statement, by hand: every write of a source record begins with it.

    Raises:
        InvalidKey: ``auth.invalid_key``; the key was revoked, or its principal put out, since it authenticated.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, {"tenant": actor.tenant_id, "key": actor.key_id})
        epoch, stands = cursor.fetchone()
    if not stands:
        raise InvalidKey
    return epoch or 0


def find(actor: Actor, reference: str) -> Workarea | None:
    """Resolve an id or a path inside the actor's tenant; says nothing about access."""
    if "\x00" in reference:
        return None
    return Workarea.objects.filter(Q(pk=reference) | Q(path=reference), tenant_id=actor.tenant_id).first()


def authorize(actor: Actor, verb: Verb, reference: str) -> Decision:
    """Decide whether the actor may use a verb at a workarea.

    Args:
        actor: who asks.
        verb: a row of the permission matrix.
        reference: a workarea's id or path, exactly as the caller sent it.
    """
    return load(actor).decide(verb, find(actor, reference), reference)


def require(actor: Actor, verb: Verb, reference: str) -> Decision:
    """:func:`authorize`, raising its refusal.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; the role can never hold the verb.
        AccessNotFound: ``access.not_found``; unknown, malformed, foreign or invisible node.
        AccessForbidden: ``access.forbidden``; visible node, capability missing.
    """
    return _allowed(authorize(actor, verb, reference))


def require_everywhere(actor: Actor, verb: Verb) -> Decision:
    """Decide an act on the tenant as a whole, which names no workarea: it takes the capability on the root.

    Whoever holds anything knows that there is a tenant, and is told what is missing instead of a path never sent.

    Args:
        actor: who asks.
        verb: what the act is an instance of.

    Returns:
        The decision on the root.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; the role can never hold the verb.
        AccessForbidden: ``access.forbidden``; something is held, and not this on the root.
        AccessNotFound: ``access.not_found``; nothing is held anywhere.
    """
    known = load(actor)
    decision = known.decide(verb, find(actor, ROOT), ROOT)
    if decision.allowed or isinstance(decision.refusal, VerbCeiling):
        return _allowed(decision)
    if not any(known.effective(rule.path) for rule in known.rules if rule.allow):
        raise AccessNotFound("no workarea for this key")
    raise AccessForbidden(f"this needs {CAPABILITY_OF[verb]} access on the root workarea")


def require_verifier(actor: Actor) -> None:
    """Decide whether the actor may take what the tenant's history is verified with: public keys, sizes, proofs.

    It tells nothing of what is in the history, so whoever reads anywhere may, and operators may: ``deployment_keys``
    and ``chain_verify`` of :class:`workareas.verbs.OperatorVerb` (D9).

    Raises:
        AccessForbidden: ``access.forbidden``; a key that reads nowhere.
    """
    if actor.role is not Role.OPERATOR and load(actor).scope(Capability.READER).empty:
        raise AccessForbidden("this key holds no reader access on any workarea")


def require_node(decision: Decision) -> Workarea:
    """The node of an allowed decision."""
    if not decision.allowed or decision.node is None:
        raise decision.refusal or AccessNotFound.workarea("")
    return decision.node


def require_role(actor: Actor, verb: Verb) -> None:
    """Refuse early when the role can never hold the verb.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
    """
    if not may_hold(actor.role, verb):
        raise ceiling_error(actor, verb)


def require_content_role(actor: Actor, message: str) -> None:
    """Refuse an operator: it never writes, reads or reviews content (D9).

    Raises:
        OperatorCeiling: ``access.verb_ceiling``.
    """
    if actor.role is Role.OPERATOR:
        raise OperatorCeiling(message)


def visible_paths(access: Access) -> Scope:
    """Where the actor holds anything at all; used where structure, not content, is shown."""
    return access.scope(Capability.READER)


def readable_paths(actor: Actor) -> Scope:
    """Where the actor may read, for SQL."""
    return load(actor).scope(Capability.READER)


def live_rules(tenant_id: str) -> dict[str, tuple[Role, list[Rule]]]:
    """Role and rules of every live key of a tenant that has any, by key id: :func:`load` for all of them at once.

    A constant number of queries; for questions about everybody, such as whose access a move changes.
    """
    live = Key.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now()),
        tenant_id=tenant_id,
        revoked_at=None,
        principal__is_active=True,
    )
    roles = dict(live.values_list("pk", "role"))
    found = [
        (key, Rule(path, Capability(capability), effect == "allow", f"grant {grant}"))
        for grant, key, path, capability, effect in Grant.objects.filter(key__in=live).values_list(
            "id", "key_id", "workarea__path", "capability", "effect"
        )
    ]
    for source, rows in _HUMAN_ROWS:
        place, code = f"{rows}__content_object__path", f"{rows}__permission__codename"
        held = live.filter(interactive=True, **{f"{rows}__content_object__tenant_id": tenant_id})
        for key, path, codename in held.values_list("pk", place, code):
            rule = human_rule(source, codename, path)
            if rule is not None:
                found.append((key, rule))
    rules: dict[str, tuple[Role, list[Rule]]] = {}
    for key, rule in found:
        rules.setdefault(key, (Role(roles[key]), []))[1].append(rule)
    return rules


def holders(node: Workarea, capability: Capability) -> dict[str, frozenset[str]]:
    """Every live key that effectively holds a capability at a node, with the paths its access comes from.

    The question of :meth:`Access.effective` asked from the node's side; a constant number of queries.
    """
    parts = node.path.split(".")
    above = [".".join(parts[: depth + 1]) for depth in range(len(parts))]
    roles = [role for role in Role if capability in CEILING[role]]
    live = Key.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now()),
        tenant_id=node.tenant_id,
        role__in=roles,
        revoked_at=None,
        principal__is_active=True,
    )
    here = {"workarea__tenant_id": node.tenant_id, "workarea__path__in": above}
    found = [
        (key, path, effect == "allow")
        for key, path, effect in Grant.objects.filter(key__in=live, capability=capability, **here).values_list(
            "key_id", "workarea__path", "effect"
        )
    ]
    names = [name for name, carried in HUMAN_PERMISSIONS.items() if carried is capability]
    codenames = [prefix + name for name in names for prefix in ("", "deny_")]
    for _, rows in _HUMAN_ROWS:
        place, code = f"{rows}__content_object__path", f"{rows}__permission__codename"
        human = {f"{rows}__content_object__tenant_id": node.tenant_id, f"{place}__in": above}
        found += [
            (key, path, not codename.startswith("deny_"))
            for key, path, codename in live.filter(interactive=True, **human, **{f"{code}__in": codenames}).values_list(
                "pk", place, code
            )
        ]
    denied = {key for key, _, allow in found if not allow}
    paths: dict[str, set[str]] = {}
    for key, path, allow in found:
        if allow and key not in denied:
            paths.setdefault(key, set()).add(path)
    return {key: frozenset(where) for key, where in paths.items()}


def effective_verbs(access: Access, node: Workarea) -> list[Verb]:
    """The seed's ``my_effective_verbs`` at a node, in its order."""
    return verbs_carried(access.effective(node.path))


def inspects_somewhere(principal_id: str) -> bool:
    """Whether a human who signs in was given ``persistence:read`` on any workarea, as one cheap question.

    A denial may still take it back where they look; it is for a link, and the page behind it decides.
    """
    given = Q()
    for _, rows in _HUMAN_ROWS:
        given |= Q(**{f"{rows}__permission__codename": Persistence.READ})
    standing_key = Key.objects.filter(
        principal_id=principal_id, interactive=True, revoked_at=None, principal__is_active=True
    )
    return standing_key.filter(given).exists()


def direct_persistence(principal_id: str, node: Workarea) -> frozenset[Persistence]:
    """What a human was given over agent state at exactly this node; what a preset space role replaces."""
    rows = WorkareaUserPermission.objects.filter(user_id=principal_id, content_object=node)
    names = rows.filter(permission__codename__in=list(Persistence)).values_list("permission__codename", flat=True)
    return frozenset(map(Persistence, names))


def ceiling_error(actor: Actor, verb: Verb) -> VerbCeiling:
    """The refusal of a verb that this role can never hold."""
    if actor.role is Role.OPERATOR:
        return OperatorCeiling(f"operator keys have no {verb} verb")
    return VerbCeiling(f"{actor.role} keys can never hold the verb {verb}")


def _allowed(decision: Decision) -> Decision:
    if decision.refusal is not None:
        raise decision.refusal
    return decision


def _under(column: str, root: str) -> Q:
    return Q(**{column: root}) | Q(**{f"{column}__startswith": root + "."})


def _human_permissions(actor: Actor) -> Iterable[tuple[str, str, str]]:
    """Source, codename and path of every object permission of a human whose key stands."""
    if not Key.objects.filter(pk=actor.key_id, revoked_at=None, principal__is_active=True).exists():
        return
    of_user = WorkareaUserPermission.objects.filter(user_id=actor.principal_id)
    of_groups = WorkareaGroupPermission.objects.filter(group__user=actor.principal_id)
    for source, rows in (("permission of the user", of_user), ("permission of a group", of_groups)):
        mine = rows.filter(content_object__tenant_id=actor.tenant_id)
        for codename, path in mine.values_list("permission__codename", "content_object__path"):
            yield source, codename, path

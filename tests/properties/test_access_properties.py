"""Access as arithmetic: deny only ever takes away, SQL and memory agree, the journal alone reproduces every answer."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from oml.core.actor import Actor, Channel, Role
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from tests.support.world import World
from workareas import access
from workareas.access import Access, Rule, Scope
from workareas.actions.keys import GrantSpec, add_grant, remove_grant, revoke_key
from workareas.actions.nodes import create_workarea
from workareas.actions.reassign import reassign
from workareas.models import Effect, Grant, Key, Workarea
from workareas.verbs import CAPABILITY_OF, CEILING, Capability, Verb

NAMES = ("a", "ab", "a-b", "b")
PATHS = ["universe"] + [
    "universe." + ".".join(parts) for depth in (1, 2, 3) for parts in itertools.product(NAMES, repeat=depth)
]
paths = st.sampled_from(PATHS)
rules = st.builds(Rule, paths, st.sampled_from(Capability), st.booleans(), st.just("test"))
roles = st.sampled_from(Role)


def known(role: Role, held: Iterable[Rule]) -> Access:
    return Access(Actor("ten", "pri", "key", role, Channel.HTTP), 0, tuple(held))


def oracle(role: Role, held: Iterable[Rule], path: str) -> set[Capability]:
    """The design's sentence, spelled out step by step over the node and its ancestors."""
    steps = path.split(".")
    above = {".".join(steps[: depth + 1]) for depth in range(len(steps))}
    allowed = {rule.capability for rule in held if rule.path in above and rule.allow}
    denied = {rule.capability for rule in held if rule.path in above and not rule.allow}
    return {capability for capability in allowed if capability not in denied and capability in CEILING[role]}


@given(role=roles, held=st.lists(rules, max_size=8), path=paths, deny=rules)
def test_effective__one_more_deny__never_enlarges_access(role: Role, held: list[Rule], path: str, deny: Rule) -> None:
    more = Rule(deny.path, deny.capability, False, "test")
    assert known(role, [*held, more]).effective(path) <= known(role, held).effective(path)


@given(role=roles, held=st.lists(rules, max_size=8), path=paths, allow=rules)
def test_effective__one_more_allow__never_takes_away_and_gives_its_own_capability_alone(
    role: Role, held: list[Rule], path: str, allow: Rule
) -> None:
    more = Rule(allow.path, allow.capability, True, "test")
    before, after = known(role, held).effective(path), known(role, [*held, more]).effective(path)
    assert before <= after <= before | {allow.capability}


@given(held=st.lists(rules, max_size=8), path=paths, capability=st.sampled_from(Capability), role=roles)
def test_scope__of_a_capability__holds_exactly_where_the_capability_is_effective(
    held: list[Rule], path: str, capability: Capability, role: Role
) -> None:
    mine = known(role, held)
    assert mine.scope(capability).holds(path) == (capability in mine.effective(path))


def test_decide__a_hundred_thousand_random_questions__agree_with_the_oracle() -> None:
    dice = random.Random(20261129)
    nodes = {path: Workarea(id=path, path=path) for path in PATHS}
    for _ in range(2_000):
        held = [
            Rule(dice.choice(PATHS), dice.choice(list(Capability)), dice.random() < 0.6, "test")
            for _ in range(dice.randrange(7))
        ]
        role = dice.choice(list(Role))
        mine = known(role, held)
        for _ in range(50):
            path, verb = dice.choice(PATHS), dice.choice(list(Verb))
            decision = mine.decide(verb, nodes[path], path)
            holds = oracle(role, held, path)
            if CAPABILITY_OF[verb] not in CEILING[role]:
                expected = "access.verb_ceiling"
            elif not holds:
                expected = "access.not_found"
            else:
                expected = "" if CAPABILITY_OF[verb] in holds else "access.forbidden"
            assert (decision.code, decision.allowed) == (expected, expected == "")
            assert decision.allowed == (decision.refusal is None)


@pytest.fixture
def tree(db: None) -> str:
    """Every path of PATHS as a node of one tenant; returns the tenant's id."""
    world = World.build("tree", paths=tuple(path.removeprefix("universe.") for path in PATHS[1:]), committed=False)
    return world.admin.tenant_id


@hypothesis_settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(allow=st.lists(paths, max_size=5), deny=st.lists(paths, max_size=5))
def test_predicate__any_allows_and_denies__selects_what_holds_says(
    tree: str, allow: list[str], deny: list[str]
) -> None:
    scope = Scope(tuple(sorted(set(allow))), tuple(sorted(set(deny))))
    rows = Workarea.objects.filter(scope.predicate(), tenant_id=tree)
    assert set(rows.values_list("path", flat=True)) == {path for path in PATHS if scope.holds(path)}


ACTS = st.lists(
    st.tuples(st.sampled_from(["grant", "deny", "remove", "revoke", "create", "move"]), st.integers(0, 10_000)),
    min_size=1,
    max_size=14,
)


@pytest.mark.django_db
@hypothesis_settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_effective__replayed_from_the_journal_alone__is_the_live_answer(acts: list[tuple[str, int]]) -> None:
    world = World.build(f"t-{uuid4().hex}", paths=("a", "ab", "b"), committed=False)
    for act, number in acts:
        try:
            _act(world, act, random.Random(number))
        except OmlError as refused:
            assert refused.code in {"request.validation", "access.not_found"}, refused.code
    told = replayed(world.admin.tenant_id)
    for key in Key.objects.filter(tenant_id=world.admin.tenant_id):
        actor = Actor(key.tenant_id, key.principal_id, key.pk, Role(key.role), Channel.HTTP)
        live = access.load(actor)
        for path in told.paths.values():
            mine = [] if key.pk in told.revoked else [rule for owner, rule in told.rules if owner == key.pk]
            assert live.effective(path) == oracle(Role(key.role), mine, path), (key.role, path)
    assert set(told.paths.items()) == set(
        Workarea.objects.filter(tenant_id=world.admin.tenant_id).values_list("pk", "path")
    )


def _act(world: World, act: str, dice: random.Random) -> None:
    admin = world.admin
    nodes = list(Workarea.objects.filter(tenant_id=admin.tenant_id).order_by("path"))
    node, other = dice.choice(nodes), dice.choice(nodes)
    actor = dice.choice([world.reader, world.writer, world.reviewer])
    capability = dice.choice(sorted(CEILING[actor.role]))
    match act:
        case "grant" | "deny":
            effect = Effect.ALLOW if act == "grant" else Effect.DENY
            add_grant(admin, key=actor.key_id, spec=GrantSpec(node.pk, capability, effect))
        case "remove":
            grants = list(Grant.objects.filter(key__tenant_id=admin.tenant_id).exclude(key=admin.key_id).order_by("pk"))
            if grants:
                remove_grant(admin, grant=dice.choice(grants).pk)
        case "revoke":
            revoke_key(admin, key=dice.choice([world.writer2, world.reviewer2]).key_id)
        case "create":
            create_workarea(admin, parent=node.pk, leaf=dice.choice(NAMES))
        case "move":
            reassign(admin, workarea=node.pk, parent=other.pk, reason="test")


def replayed(tenant_id: str) -> Any:
    """Tree, grants and revocations, from nothing but the journal's canonical texts."""
    paths: dict[str, str] = {}
    grants: dict[str, tuple[str, str, str, str]] = {}
    revoked: set[str] = set()
    for text in JournalEntry.objects.filter(tenant_id=tenant_id).order_by("seq").values_list("canonical", flat=True):
        record = json.loads(text)
        payload, subject = record["payload"], record["subject"]
        match record["event_type"]:
            case "workarea.created":
                above = f"{paths[payload['parent']]}." if payload["parent"] else ""
                paths[subject["workarea"]] = above + payload["leaf"]
            case "workarea.reassigned":
                old = paths[subject["workarea"]]
                new = f"{paths[payload['new_parent']]}.{old.rpartition('.')[2]}"
                paths = {
                    node: new + path[len(old) :] if access.within(path, old) else path for node, path in paths.items()
                }
            case "grant.added":
                grants[subject["grant_id"]] = (
                    payload["key_id"],
                    record["workarea"],
                    payload["capability"],
                    payload["effect"],
                )
            case "grant.removed":
                del grants[subject["grant_id"]]
            case "key.revoked":
                revoked.add(subject["key_id"])
    rules = [
        (key, Rule(paths[node], Capability(capability), effect == "allow", "journal"))
        for key, node, capability, effect in grants.values()
    ]
    return SimpleNamespace(paths=paths, rules=rules, revoked=revoked)

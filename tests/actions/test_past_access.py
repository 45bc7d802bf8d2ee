"""``effective(key, node, epoch)`` replayed from the journal is the live answer, at every epoch, humans included."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from django.contrib.auth.models import Group

from oml.core.actor import Actor, Channel, Role
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from oml.journal.selectors import permission_epoch
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.world import World
from workareas import access
from workareas.actions.groups import group_named, set_group_member
from workareas.actions.keys import remove_grant, revoke_key, set_human_access
from workareas.actions.nodes import create_workarea
from workareas.actions.reassign import reassign
from workareas.models import Grant, Key, Principal, Workarea
from workareas.selectors.past_access import access_at, explain_past_access
from workareas.verbs import Capability, Verb

pytestmark = pytest.mark.django_db

Answers = dict[tuple[str, str], frozenset[Capability]]


def live(tenant_id: str) -> Answers:
    nodes = list(Workarea.objects.filter(tenant_id=tenant_id))
    answers: Answers = {}
    for key in Key.objects.filter(tenant_id=tenant_id):
        actor = Actor(key.tenant_id, key.principal_id, key.pk, Role(key.role), Channel.HTTP, key.interactive)
        known = access.load(actor)
        answers |= {(key.pk, node.pk): known.effective(node.path) for node in nodes}
    return answers


def told(tenant_id: str, epoch: int, of: Answers) -> Answers:
    then = access_at(tenant_id, epoch)
    return {(key, node): then.effective(key, node) for key, node in of}


def test_access_at__every_epoch_of_an_eventful_day__is_what_the_live_authorizer_said(world: World) -> None:
    tenant = world.admin.tenant_id
    rosa = human(world, name="rosa", on=None)
    principal = Principal.objects.get(pk=rosa.actor.principal_id)
    reviewers = group_named(world.admin, "reviewers")
    made: list[str] = []

    def new_node() -> None:
        made.append(create_workarea(world.admin, parent="universe.a", leaf=f"n{len(made)}").pk)

    acts: list[Any] = [
        lambda: world.deny(world.writer, Capability.WRITER, on="a"),
        lambda: set_human_access(world.admin, holder=principal, workarea="universe.a", permission="review"),
        new_node,
        lambda: set_human_access(world.admin, holder=reviewers, workarea="universe.b", permission="review"),
        lambda: set_group_member(world.admin, group="reviewers", username="rosa"),
        lambda: reassign(world.admin, workarea="universe.a.team", parent="universe.b"),
        lambda: set_human_access(world.admin, holder=principal, workarea="universe.b.team", permission="deny_review"),
        new_node,
        lambda: remove_grant(world.admin, grant=Grant.objects.filter(key=world.reader.key_id).get().pk),
        lambda: set_group_member(world.admin, group="reviewers", username="rosa", member=False),
        lambda: reassign(world.admin, workarea="universe.b", parent="universe.a"),
        lambda: revoke_key(world.admin, key=world.writer2.key_id),
        lambda: set_human_access(
            world.admin, holder=principal, workarea="universe.a", permission="review", granted=False
        ),
    ]
    seen: dict[int, Answers] = {permission_epoch(tenant): live(tenant)}
    for act in acts:
        act()
        seen[permission_epoch(tenant)] = live(tenant)
    assert len(seen) >= len(acts) - 1
    for epoch, answers in seen.items():
        assert told(tenant, epoch, answers) == answers, epoch
    assert any(Capability.REVIEW in held for (key, _), held in seen[max(seen) - 4].items() if key == rosa.actor.key_id)


def test_access_at__the_epoch_of_every_record__never_falls_and_rises_by_one(world: World) -> None:
    world.deny(world.writer, Capability.WRITER, on="a")
    world.promoted(world.writer2)
    rows = JournalEntry.objects.filter(tenant_id=world.admin.tenant_id).order_by("seq")
    epochs = [json.loads(row.canonical)["permission_epoch"] for row in rows]
    assert all(0 <= after - before <= 1 for before, after in itertools.pairwise(epochs))
    assert epochs[-1] == permission_epoch(world.admin.tenant_id)


def explain(world: World, epoch: int, *, by: Actor | None = None, key: str | None = None) -> dict[str, Any]:
    return explain_past_access(
        by or world.admin, key=key or world.writer.key_id, verb=Verb.REMEMBER, workarea="universe.a.team", epoch=epoch
    )


def test_explain_past_access__before_and_after_a_deny__says_which_rules_held_then(world: World) -> None:
    before = permission_epoch(world.admin.tenant_id)
    world.deny(world.writer, Capability.WRITER, on="a")
    revoke_key(world.admin, key=world.writer.key_id)
    then = explain(world, before)
    assert (then["allowed"], then["code"], then["path"]) == (True, None, "universe.a.team")
    assert [rule.path for rule in then["because"]] == ["universe"]
    denied = explain(world, before + 1)
    assert (denied["allowed"], denied["code"]) == (False, "access.forbidden")
    assert [rule.path for rule in denied["blocked_by"]] == ["universe.a"]
    revoked = explain(world, before + 2)
    assert (revoked["allowed"], revoked["key_problem"]) == (False, "the key had been revoked")
    first = explain(world, 0)
    assert (first["allowed"], first["role"], first["key_problem"]) == (False, None, "the key had not been issued")


def test_explain_past_access__by_the_path_it_had_then__finds_the_node(world: World) -> None:
    epoch = permission_epoch(world.admin.tenant_id)
    reassign(world.admin, workarea="universe.a", parent="universe.b")
    assert explain(world, epoch)["path"] == "universe.a.team"
    gone = explain(world, epoch + 1)
    assert (gone["path"], gone["code"]) == (None, "access.not_found")
    by_id = explain_past_access(
        world.admin,
        key=world.writer.key_id,
        verb=Verb.REMEMBER,
        workarea=world.nodes["a.team"].pk,
        epoch=epoch + 1,
    )
    assert (by_id["path"], by_id["allowed"]) == ("universe.b.a.team", True)


def test_explain_past_access__verb_above_the_ceiling__says_so(world: World) -> None:
    epoch = permission_epoch(world.admin.tenant_id)
    for actor in (world.reader, world.operator):
        told = explain(world, epoch, key=actor.key_id)
        assert (told["allowed"], told["code"]) == (False, "access.verb_ceiling")


def test_explain_past_access__who_may_not_or_what_is_not__is_refused(world: World) -> None:
    epoch = permission_epoch(world.admin.tenant_id)

    def refusal(**fields: Any) -> str:
        with pytest.raises(OmlError) as caught:
            explain(world, **{"epoch": epoch, **fields})
        return caught.value.code

    assert refusal(epoch=epoch + 1) == "request.validation"
    assert refusal(epoch=-1) == "request.validation"
    assert refusal(key="key_unknown") == "access.not_found"
    assert refusal(key=World.build("stranger").writer.key_id) == "access.not_found"
    assert refusal(by=world.key("admin", on="a")) == "access.forbidden"
    assert refusal(by=world.writer) == "access.verb_ceiling"


# --- groups --------------------------------------------------------------------------------------


def test_group_member__taken_in_and_out__gains_and_loses_what_the_group_holds(world: World) -> None:
    rosa = human(world, name="rosa", on=None)
    reviewers = group_named(world.admin, "reviewers")
    set_human_access(world.admin, holder=reviewers, workarea="universe.a", permission="review")

    def may() -> bool:
        return access.authorize(rosa.actor, Verb.REVIEW_SERVE, "universe.a.team").allowed

    assert not may()
    before = length(world.admin.tenant_id)
    set_group_member(world.admin, group="reviewers", username="rosa")
    assert may()
    set_group_member(world.admin, group="reviewers", username="rosa")
    assert length(world.admin.tenant_id) == before + 1
    record = journalled("human_access.set", tenant_id=world.admin.tenant_id)[-1]
    assert record["subject"] == {"holder": rosa.actor.principal_id}
    assert record["payload"] == {"permission": f"group:{reviewers.pk}"}
    set_group_member(world.admin, group="reviewers", username="rosa", member=False)
    assert not may()


def test_group__of_the_same_name_in_two_tenants__is_two_groups(world: World) -> None:
    stranger = World.build("stranger")
    assert group_named(world.admin, "reviewers") != group_named(stranger.admin, "reviewers")
    assert Group.objects.count() == 2


def test_group_member__of_another_tenant_or_no_human__is_not_found(world: World) -> None:
    human(World.build("stranger"), name="otto")
    agent = Principal.objects.get(pk=world.writer.principal_id)
    for username in ("otto", agent.username, "nobody", "\x00"):
        with pytest.raises(OmlError) as caught:
            set_group_member(world.admin, group="reviewers", username=username)
        assert caught.value.code == "access.not_found"
    for name in ("", " ", "x" * 101):
        with pytest.raises(OmlError) as caught:
            set_group_member(world.admin, group=name, username="otto")
        assert caught.value.code == "request.validation"
    with pytest.raises(OmlError) as caught:
        set_group_member(world.key("admin", on="a"), group="reviewers", username="otto")
    assert caught.value.code == "access.forbidden"

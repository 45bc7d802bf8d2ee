"""The tree over ``/v1``: create, climb the ladder, record a crew, set a policy, move a subtree."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from oml.core.actor import Role
from oml.core.canonical import canonical_json
from tests.support.api import Api, refused
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.world import World
from workareas.actions.keys import set_human_access
from workareas.actions.nodes import allow_relaxed_review, set_policy
from workareas.actions.simulations import close_simulation, create_simulation
from workareas.models import Principal, StatedReason, Workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(world: World) -> str:
    return world.secret[world.admin]


def step(api: Api, admin: str, node: str, status: str) -> Any:
    return api.post(f"workareas/{node}/status", {"status": status, "reason": "the crew asked"}, key=admin)


# --- create --------------------------------------------------------------------------------------


def test_create__child__starts_in_development_and_is_in_readers_tail(world: World, api: Api, admin: str) -> None:
    answer = api.post(
        "workareas",
        {"parent": "universe.a", "leaf": "q1-2027", "crew": {"name": "planners", "charter_uri": "https://x.example/c"}},
        key=admin,
    )
    assert answer.status_code == 201
    body = answer.json()
    assert body == {
        "id": body["id"],
        "path": "universe.a.q1-2027",
        "status": "development",
        "crew": {"name": "planners", "charter_uri": "https://x.example/c", "external_manager": None},
        "parent": world.nodes["a"].pk,
    }
    event = api.get("events", key=world.secret[world.reader], scope="universe.a").json()["events"][-1]
    assert (event["event_type"], event["subject"]) == ("workarea.created", {"workarea_id": body["id"]})
    info = api.get("workareas/universe.a", key=world.secret[world.reader]).json()
    assert {"id": body["id"], "path_leaf": "q1-2027", "status": "development"} in info["children"]


@pytest.mark.parametrize("leaf", ["", "A", "a_b", "a%", "a.b", "-a", "a-", "ä", "a" * 65, "a b", "a\n", 7])
def test_create__leaf_outside_the_grammar__is_validation(world: World, api: Api, admin: str, leaf: Any) -> None:
    before = length(world.admin.tenant_id)
    error = refused(api.post("workareas", {"parent": "universe", "leaf": leaf}, key=admin), "request.validation", 400)
    assert error["param"] == "leaf"
    assert length(world.admin.tenant_id) == before


@pytest.mark.parametrize("leaf", ["a" * 64, "0", "a-1", "x--y"])
def test_create__leaf_at_the_grammars_edge__is_made(world: World, api: Api, admin: str, leaf: str) -> None:
    assert api.post("workareas", {"parent": "universe", "leaf": leaf}, key=admin).status_code == 201


def test_create__leaf_of_a_sibling__is_validation_and_under_another_parent_fine(
    world: World, api: Api, admin: str
) -> None:
    error = refused(api.post("workareas", {"parent": "universe", "leaf": "a"}, key=admin), "request.validation", 400)
    assert error["param"] == "leaf"
    assert api.post("workareas", {"parent": "universe.a", "leaf": "a"}, key=admin).status_code == 201


def test_create__under_a_validated_node__is_frozen_in_the_seeds_words(world: World, api: Api, admin: str) -> None:
    step(api, admin, "universe.b", "validated")
    error = refused(api.post("workareas", {"parent": "universe.b", "leaf": "x"}, key=admin), "workarea.frozen", 409)
    assert "is validated; writes are refused" in error["message"]


# --- the ladder ----------------------------------------------------------------------------------


def test_status__step_by_step__goes_up_and_is_journalled_without_the_reason(world: World, api: Api, admin: str) -> None:
    api.post("workareas", {"parent": "universe", "leaf": "new"}, key=admin)
    refused(step(api, admin, "universe.new", "validated"), "request.validation", 400)
    assert step(api, admin, "universe.new", "committed").json()["status"] == "committed"
    refused(step(api, admin, "universe.new", "committed"), "request.validation", 400)
    refused(step(api, admin, "universe.new", "development"), "request.validation", 400)
    assert step(api, admin, "universe.new", "validated").json()["status"] == "validated"
    for status in ("development", "committed", "validated", "retired"):
        refused(step(api, admin, "universe.new", status), "request.validation", 400)
    records = journalled("workarea.status_changed", tenant_id=world.admin.tenant_id)[-2:]
    assert [(record["payload"]["before"], record["payload"]["after"]) for record in records] == [
        ("development", "committed"),
        ("committed", "validated"),
    ]
    assert "the crew asked" not in str(records)
    node = Workarea.objects.get(path="universe.new")
    assert StatedReason.objects.filter(subject_id=node.pk, act="status", text="the crew asked").count() == 2


def test_status__held_work__refuses_either_step(world: World, api: Api, admin: str) -> None:
    api.post("workareas", {"parent": "universe", "leaf": "new"}, key=admin)
    world.nodes["new"] = Workarea.objects.get(path="universe.new")
    held = world.submit(on="new")
    error = refused(step(api, admin, "universe.new", "committed"), "workarea.unreviewed", 409)
    assert "1 held and 0 self-signed" in error["message"]
    world.scan()
    world.reject(held)
    assert step(api, admin, "universe.new", "committed").status_code == 200
    world.submit(on="new")
    refused(step(api, admin, "universe.new", "validated"), "workarea.unreviewed", 409)


def test_status__held_work_below__is_the_childs_own_matter(world: World, api: Api, admin: str) -> None:
    world.submit(on="a.team")
    assert step(api, admin, "universe.a", "validated").status_code == 200


def test_status__promoted_self_signed_claim__refuses_the_step_until_it_is_gone(
    world: World, api: Api, admin: str
) -> None:
    allow_relaxed_review(world.admin, allowed=True)
    api.post("workareas", {"parent": "universe", "leaf": "new"}, key=admin)
    world.nodes["new"] = Workarea.objects.get(path="universe.new")
    second = world.key("reviewer", principal=world.writer.principal_id)
    claim = world.promoted(on="new", by=second)
    assert world.row(claim).self_signed
    error = refused(step(api, admin, "universe.new", "committed"), "workarea.unreviewed", 409)
    assert "0 held and 1 self-signed" in error["message"]
    api.post(f"memories/{claim}/demote", {"reason": "review it properly"}, key=admin)
    assert step(api, admin, "universe.new", "committed").status_code == 200


def test_status__pending_edge_from_the_node__refuses_validation_and_only_that(
    world: World, api: Api, admin: str
) -> None:
    proposer = world.key("proposer")
    command = ProposeCommand(EdgeKind.WORKAREA, "continues", world.nodes["a"].pk, world.nodes["b"].pk)
    propose_edge(proposer, command=command)
    error = refused(step(api, admin, "universe.a", "validated"), "workarea.unreviewed", 409)
    assert "1 edges from it are pending" in error["message"]
    assert step(api, admin, "universe.b", "validated").status_code == 200  # an edge lives on its *from* node


def test_status__a_pending_edge_whose_end_is_gone__holds_nothing_up(world: World, api: Api, admin: str) -> None:
    kept, gone = world.promoted(on="a"), world.promoted(on="a")
    propose_edge(world.key("proposer"), command=ProposeCommand(EdgeKind.CLAIM, "supports", kept, gone))
    refused(step(api, admin, "universe.a", "validated"), "workarea.unreviewed", 409)
    api.post(f"memories/{gone}/demote", {"reason": "old"}, key=admin)
    assert step(api, admin, "universe.a", "validated").status_code == 200


def test_status__what_a_closed_simulation_left_behind__holds_nothing_up(world: World, api: Api, admin: str) -> None:
    audience = [world.writer.key_id, world.reviewer.key_id]
    simulation = create_simulation(world.admin, name="what if", audience=audience)
    world.submit(on="a", simulation_id=simulation.pk)
    refused(step(api, admin, "universe.a", "validated"), "workarea.unreviewed", 409)
    close_simulation(world.admin, simulation=simulation.pk)
    assert step(api, admin, "universe.a", "validated").status_code == 200


def test_policy__of_a_validated_node__is_frozen_with_it(world: World, api: Api, admin: str) -> None:
    step(api, admin, "universe.b", "validated")
    refused(api.post("workareas/universe.b/policy", {"serve_ttl_s": 61}, key=admin), "workarea.frozen", 409)


@pytest.mark.parametrize("same", [{}, {"serve_ttl_s": 61}, {"min_verdicts": None}])
def test_policy__set_to_what_it_is__changes_nothing(world: World, api: Api, admin: str, same: dict[str, Any]) -> None:
    api.post("workareas/universe.b/policy", {"serve_ttl_s": 61}, key=admin)
    before = length(world.admin.tenant_id)
    answer = api.post("workareas/universe.b/policy", same, key=admin)
    assert answer.status_code == 200
    assert length(world.admin.tenant_id) == before


def test_status__validated__refuses_every_write_but_demote_erase_and_crew(world: World, api: Api, admin: str) -> None:
    claims = [world.promoted(on="b") for _ in range(3)]
    step(api, admin, "universe.b", "validated")
    writer = world.secret[world.writer]
    submission = {"workarea": "universe.b", "claim_key": "new", "text": "x"}
    refused(api.post("memories", submission, key=writer), "workarea.frozen", 409)
    refused(api.post(f"memories/{claims[0]}/versions", {"text": "y"}, key=writer), "workarea.frozen", 409)
    refused(api.post("workareas", {"parent": "universe.b", "leaf": "x"}, key=admin), "workarea.frozen", 409)
    refused(api.post("workareas/universe.b/reassign", {"parent": "universe.a"}, key=admin), "workarea.frozen", 409)
    refused(api.post("workareas/universe.ab/reassign", {"parent": "universe.b"}, key=admin), "workarea.frozen", 409)
    edge = {"kind": "workarea", "label": "continues", "from": "universe.b", "to": "universe.a"}
    refused(api.post("edges", edge, key=world.secret[world.key("proposer")]), "workarea.frozen", 409)
    assert api.post(f"memories/{claims[0]}/demote", {"reason": "old"}, key=admin).status_code == 200
    assert api.post(f"memories/{claims[1]}/erase", {"reason": "asked"}, key=admin).status_code == 200
    assert api.post("workareas/universe.b/crew", {"name": "archive"}, key=admin).status_code == 200
    assert api.get(f"memories/{claims[2]}", key=world.secret[world.reader]).status_code == 200


def test_status__the_root__stands_on_no_ladder(world: World, api: Api, admin: str) -> None:
    refused(step(api, admin, "universe", "committed"), "request.validation", 400)


# --- crew ----------------------------------------------------------------------------------------


def test_crew__recorded__is_shown_to_readers_and_no_word_of_it_is_journalled(
    world: World, api: Api, admin: str
) -> None:
    crew = {"name": "metals-crew", "charter_uri": "http://127.0.0.1:1/never", "external_manager": "crewd.example.com"}
    answer = api.post("workareas/universe.a/crew", crew, key=admin)
    assert answer.status_code == 200
    assert answer.json()["crew"] == crew
    assert api.get("workareas/universe.a", key=world.secret[world.reader]).json()["crew"] == crew
    (record,) = journalled("workarea.crew_updated", tenant_id=world.admin.tenant_id, once=True)
    for word in crew.values():
        assert word not in str(record)


def test_crew__same_words_for_two_tenants_or_twice__cannot_be_guessed_from_the_journal(
    world: World, api: Api, admin: str
) -> None:
    """Names of people are few: a bare digest of them would be found by trying (design: integrity)."""
    api.post("workareas/universe.a/crew", {"name": "Rosa"}, key=admin)
    record = journalled("workarea.crew_updated", tenant_id=world.admin.tenant_id)[-1]
    bare = hashlib.sha256(canonical_json(["Rosa", None, None])).hexdigest()
    assert bare not in str(record)


@pytest.mark.parametrize(
    ("crew", "param"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "x", "charter_uri": 1}, "charter_uri"),
    ],
)
def test_crew__shape_is_wrong__names_the_field(
    world: World, api: Api, admin: str, crew: dict[str, Any], param: str
) -> None:
    error = refused(api.post("workareas/universe.a/crew", crew, key=admin), "request.validation", 400)
    assert error["param"] == param


# --- policy --------------------------------------------------------------------------------------

DEFAULTS = {
    "held_expiry_s": 604_800,
    "min_verdicts": 1,
    "self_signed_allowed": False,
    "serve_ttl_s": 900,
    "lineage_exclusion": True,
    "reason_required": False,
}


def effective(api: Api, admin: str, node: str, **settings: Any) -> dict[str, Any]:
    answer = api.post(f"workareas/{node}/policy", settings, key=admin)
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    assert set(body) == {"workarea", "effective"}
    return {name: value for name, value in body["effective"].items() if name != "version"}


def test_policy__each_value__comes_from_the_nearest_ancestor_that_sets_it(world: World, api: Api, admin: str) -> None:
    assert effective(api, admin, "universe") == DEFAULTS
    effective(api, admin, "universe", min_verdicts=2, serve_ttl_s=60)
    effective(api, admin, "universe.a", min_verdicts=3)
    assert effective(api, admin, "universe.a.team") == {**DEFAULTS, "min_verdicts": 3, "serve_ttl_s": 60}
    assert effective(api, admin, "universe.ab") == {**DEFAULTS, "min_verdicts": 2, "serve_ttl_s": 60}
    assert effective(api, admin, "universe.a.team", min_verdicts=1)["min_verdicts"] == 1


def test_policy__relaxed_review__needs_the_tenants_flag_development_and_every_setter(
    world: World, api: Api, admin: str
) -> None:
    api.post("workareas", {"parent": "universe.a", "leaf": "dev"}, key=admin)
    node = "universe.a.dev"
    assert not effective(api, admin, node, self_signed_allowed=True)["self_signed_allowed"]
    allow_relaxed_review(world.admin, allowed=True)
    assert effective(api, admin, node)["self_signed_allowed"]
    assert not effective(api, admin, "universe.a", self_signed_allowed=True)["self_signed_allowed"]  # it is committed
    effective(api, admin, "universe", self_signed_allowed=False)
    assert not effective(api, admin, node, self_signed_allowed=True)["self_signed_allowed"]
    effective(api, admin, "universe", self_signed_allowed=True)
    assert effective(api, admin, node)["self_signed_allowed"]
    step(api, admin, node, "committed")
    assert not effective(api, admin, node)["self_signed_allowed"]


@pytest.mark.parametrize(
    "settings",
    [
        {"held_expiry_s": 0},
        {"held_expiry_s": 366 * 86_400 + 1},
        {"min_verdicts": 0},
        {"min_verdicts": 11},
        {"serve_ttl_s": 0},
        {"serve_ttl_s": 86_401},
        {"min_verdicts": True},
        {"min_verdicts": "2"},
        {"min_verdicts": 1.5},
        {"self_signed_allowed": 1},
        {"lineage_exclusion": "no"},
        {"reason_required": 0},
        {"version": 7},
    ],
)
def test_policy__value_out_of_range__is_validation_by_name(
    world: World, api: Api, admin: str, settings: dict[str, Any]
) -> None:
    error = refused(api.post("workareas/universe.a/policy", settings, key=admin), "request.validation", 400)
    assert error["param"] == next(iter(settings))


def test_policy__changed__is_journalled_by_field_and_its_version_rises(world: World, api: Api, admin: str) -> None:
    first = api.post("workareas/universe.a/policy", {"min_verdicts": 2}, key=admin).json()["effective"]["version"]
    second = api.post("workareas/universe.a/policy", {"serve_ttl_s": 60}, key=admin).json()["effective"]["version"]
    assert second == first + 1
    record = journalled("policy.changed", tenant_id=world.admin.tenant_id)[-1]
    assert record["payload"] == {"version": 2, "before": {"serve_ttl_s": None}, "after": {"serve_ttl_s": 60}}
    assert record["subject"] == {"policy_of": world.nodes["a"].pk}


# --- reassign ------------------------------------------------------------------------------------


def move(api: Api, admin: str, node: str, parent: str, **fields: Any) -> Any:
    return api.post(f"workareas/{node}/reassign", {"parent": parent, **fields}, key=admin)


def test_reassign__subtree__moves_with_its_paths_and_raises_the_epoch(world: World, api: Api, admin: str) -> None:
    before = api.get("workareas/universe", key=world.secret[world.reader]).json()["permission_epoch"]
    answer = move(api, admin, "universe.a", "universe.b", reason="merged departments")
    assert answer.status_code == 200
    body = answer.json()
    assert body == {
        "workarea": world.nodes["a"].pk,
        "old_path": "universe.a",
        "new_path": "universe.b.a",
        "nodes": 2,
        "dry_run": False,
        "access_changes": [],
        "access_changes_truncated": False,
    }
    paths = set(Workarea.objects.filter(tenant_id=world.admin.tenant_id).values_list("path", flat=True))
    assert paths == {"universe", "universe.b.a", "universe.b.a.team", "universe.ab", "universe.b"}
    info = api.get("workareas/universe.b.a", key=world.secret[world.reader]).json()
    assert (info["parent"], info["permission_epoch"]) == (world.nodes["b"].pk, before + 1)
    (record,) = journalled("workarea.reassigned", tenant_id=world.admin.tenant_id, once=True)
    assert record["payload"]["old_parent"] == world.nodes["universe"].pk
    assert record["payload"]["new_parent"] == world.nodes["b"].pk
    assert "merged" not in str(record)
    refused(api.get("workareas/universe.a", key=world.secret[world.reader]), "access.not_found", 404)


def test_reassign__dry_run__lists_who_gains_and_loses_what_and_changes_nothing(
    world: World, api: Api, admin: str
) -> None:
    of_b = world.key("writer", on="b")
    of_a = world.key("writer", on="a")
    denied_in_b = world.key("reader", on="universe")
    world.deny(denied_in_b, Capability.READER, on="b")
    untouched = world.key("reader", on="ab")
    before = length(world.admin.tenant_id)
    body = move(api, admin, "universe.a", "universe.b", dry_run=True).json()
    assert body["dry_run"] is True
    changes = {(change["key"], change["path"]): (change["gained"], change["lost"]) for change in body["access_changes"]}
    for path in ("universe.a", "universe.a.team"):
        assert changes[of_b.key_id, path] == (["reader", "writer"], [])
        assert changes[denied_in_b.key_id, path] == ([], ["reader"])
    assert not [change for change in changes if change[0] in (of_a.key_id, untouched.key_id, world.reader.key_id)]
    assert length(world.admin.tenant_id) == before
    assert Workarea.objects.get(pk=world.nodes["a"].pk).path == "universe.a"

    assert move(api, admin, "universe.a", "universe.b").json()["access_changes"] == body["access_changes"]
    assert api.get("workareas/universe.b.a", key=world.secret[of_b]).status_code == 200
    refused(api.get("workareas/universe.b.a", key=world.secret[denied_in_b]), "access.not_found", 404)


def test_reassign__dry_run__counts_signed_in_people_and_leaves_out_dead_keys(
    world: World, api: Api, admin: str
) -> None:
    rosa = human(world, name="rosa", on=None)
    set_human_access(
        world.admin,
        holder=Principal.objects.get(pk=rosa.actor.principal_id),
        workarea="universe.b",
        permission="review",
    )
    api.post(f"keys/{world.key('reader', on='b').key_id}/revoke", {}, key=admin)
    body = move(api, admin, "universe.a", "universe.b", dry_run=True).json()
    changes = {change["key"]: change["gained"] for change in body["access_changes"]}
    assert changes == {rosa.actor.key_id: ["review"]}


def test_reassign__grant_on_a_moved_node__stays_with_the_node(world: World, api: Api, admin: str) -> None:
    of_team = world.key("writer", on="a.team")
    move(api, admin, "universe.a.team", "universe.b")
    assert world.submit(of_team, on="a.team")
    assert api.get("workareas/universe.b.team", key=world.secret[of_team]).status_code == 200
    refused(api.get("workareas/universe.a", key=world.secret[of_team]), "access.not_found", 404)


def test_reassign__neighbours_whose_names_begin_alike__stay_where_they_are(world: World, api: Api, admin: str) -> None:
    """``a``, ``ab``, ``a_b``, ``a%``: neither a prefix nor a pattern may carry a neighbour along."""
    for number, odd in enumerate(("universe.a_b", "universe.a%", "universe.axb", "universe.a\\", "universe.a%.x")):
        node = api.post("workareas", {"parent": "universe", "leaf": f"odd-{number}"}, key=admin).json()["id"]
        Workarea.objects.filter(pk=node).update(path=odd)
    move(api, admin, "universe.a", "universe.b")
    paths = set(Workarea.objects.filter(tenant_id=world.admin.tenant_id).values_list("path", flat=True))
    assert paths >= {"universe.ab", "universe.a_b", "universe.a%", "universe.axb", "universe.a\\", "universe.a%.x"}
    odd_one = Workarea.objects.get(path="universe.a%")
    move(api, admin, odd_one.pk, "universe.ab")
    paths = set(Workarea.objects.filter(tenant_id=world.admin.tenant_id).values_list("path", flat=True))
    assert paths >= {"universe.ab.odd-1", "universe.ab.odd-1.x", "universe.a_b", "universe.b.a", "universe.axb"}


@pytest.mark.parametrize(
    ("node", "parent", "param"),
    [
        ("universe", "universe.a", "workarea"),
        ("universe.a", "universe.a", "parent"),
        ("universe.a", "universe.a.team", "parent"),
        ("universe.a", "universe", "parent"),
    ],
)
def test_reassign__impossible_move__is_validation_and_changes_nothing(
    world: World, api: Api, admin: str, node: str, parent: str, param: str
) -> None:
    before = length(world.admin.tenant_id)
    for dry_run in (True, False):
        error = refused(move(api, admin, node, parent, dry_run=dry_run), "request.validation", 400)
        assert error["param"] == param
    assert length(world.admin.tenant_id) == before


def test_reassign__name_taken_under_the_new_parent__is_validation(world: World, api: Api, admin: str) -> None:
    api.post("workareas", {"parent": "universe.b", "leaf": "a"}, key=admin)
    assert refused(move(api, admin, "universe.a", "universe.b"), "request.validation", 400)["param"] == "parent"


def test_reassign__subtree_that_holds_a_validated_node__is_frozen(world: World, api: Api, admin: str) -> None:
    step(api, admin, "universe.a.team", "validated")
    error = refused(move(api, admin, "universe.a", "universe.b"), "workarea.frozen", 409)
    assert world.nodes["a.team"].pk in error["message"]


def test_reassign__administrator_of_one_end_alone__may_not(world: World, api: Api) -> None:
    of_a = world.secret[world.key("admin", on="a")]
    refused(move(api, of_a, "universe.a", "universe.b"), "access.not_found", 404)
    refused(move(api, of_a, "universe.b", "universe.a"), "access.not_found", 404)
    both = world.key("admin", on="a")
    world.grant(both, Capability.ADMIN, on="b")
    assert move(api, world.secret[both], "universe.a", "universe.b").status_code == 200


def test_reassign__policy_of_the_old_ancestors__is_left_behind_and_the_new_ones_binds(
    world: World, api: Api, admin: str
) -> None:
    set_policy(world.admin, workarea="universe.b", settings={"min_verdicts": 2})
    set_policy(world.admin, workarea="universe.a.team", settings={"serve_ttl_s": 30})
    move(api, admin, "universe.a.team", "universe.b")
    told = effective(api, admin, "universe.b.team")
    assert (told["min_verdicts"], told["serve_ttl_s"]) == (2, 30)


def test_reassign__recall_tail_graph_and_reading__follow_the_node_at_once(world: World, api: Api, admin: str) -> None:
    claim = world.promoted(on="a.team", text="Accra Metals quoted 412 USD/t.")
    neighbour = world.promoted(on="ab", text="Accra Metals quoted 500 USD/t.")
    of_b, of_a = world.key("reader", on="b"), world.key("reader", on="universe")
    world.deny(of_a, Capability.READER, on="b")

    def recalled(by: Any, scope: str) -> set[str]:
        answer = api.post("recall", {"query": "Accra Metals quote", "scope": scope}, key=world.secret[by])
        return {hit["artifact_id"] for hit in answer.json().get("hits", [])}

    assert recalled(of_a, "universe.a") == {claim}
    assert recalled(of_b, "universe.b") == set()
    move(api, admin, "universe.a", "universe.b")
    assert recalled(of_b, "universe.b") == {claim}
    assert recalled(of_b, "universe.b.a") == {claim}
    assert recalled(of_a, "universe") == {neighbour}
    body = api.post("recall", {"query": "Accra Metals", "scope": "universe.b"}, key=world.secret[of_b]).json()
    assert body["hits"][0]["workarea_path"] == "universe.b.a.team"
    assert api.get(f"memories/{claim}", key=world.secret[of_b]).json()["workarea_path"] == "universe.b.a.team"
    refused(api.get(f"memories/{claim}", key=world.secret[of_a]), "access.not_found", 404)
    graph = api.post("graph", {"scope": "universe.b"}, key=world.secret[of_b]).json()
    assert [one["artifact_id"] for one in graph["claims"]] == [claim]
    tail = api.get("events", key=world.secret[of_b], scope="universe.b").json()["events"]
    assert {"artifact_id": claim, "claim_key": world.row(claim).claim_key, "version": 1} in [e["subject"] for e in tail]


def test_reassign__by_a_key_that_moves_itself_out_of_sight__is_done_and_over(world: World, api: Api) -> None:
    mover = world.bare_key(Role.ADMIN)
    for node in ("a", "b"):
        world.grant(mover, Capability.ADMIN, on=node)
    world.deny(mover, Capability.ADMIN, on="a.team")
    refused(move(api, world.secret[mover], "universe.a.team", "universe.b"), "access.not_found", 404)
    assert move(api, world.secret[mover], "universe.a", "universe.b").status_code == 200

"""The four routes of the seed on agent state: five space roles, own, others' and shared rows, and never a key."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import DjangoAssertNumQueries

from memory.claims.models import Artifact
from memory.recall.models import ReadLog
from memory.runs.actions.persistence import row_number
from memory.runs.models import AgentMemory, Run
from memory.runs.rules import Scope
from oml.core.actor import Role
from oml.core.errors import Validation
from tests.support.api import refused
from tests.support.canary import places_of
from tests.support.inspecting import STATE, Inspector, fill, inspector, row_of, share, writing_as
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.runs import begin, register
from tests.support.world import World
from workareas.actions.groups import group_named, set_group_member
from workareas.actions.keys import enrol_human, issue_key, set_human_access
from workareas.actions.nodes import advance_status, allow_relaxed_review
from workareas.actions.space_roles import set_space_role
from workareas.errors import IdempotencyMismatch
from workareas.models import IdempotencyRecord, Principal
from workareas.space_roles import Persistence, SpaceRole

pytestmark = pytest.mark.django_db

DELETES = (SpaceRole.ADMIN, SpaceRole.BUILDER)
READS = (SpaceRole.OPERATOR, SpaceRole.RUNNER, SpaceRole.VIEWER)

MINE = {("persona", "mine"), ("checkpoint", "mine"), ("note", "note mine")}
SHARED = {("quirks", "shared"), ("note", "note shared")}
THEIR_SLOTS = {("persona", "theirs"), ("checkpoint", "theirs")}
THEIRS = THEIR_SLOTS | {("note", "note theirs")}


@pytest.fixture
def world() -> World:
    world = World.build("acme", paths=("a", "b"))
    register(world)
    return world


def slots_of(rows: set[tuple[str, Any]]) -> set[tuple[str, Any]]:
    return {row for row in rows if row[0] != "note"}


def left() -> set[tuple[str | None, str | None]]:
    """(key, content) of every private row there is."""
    return {(row.key, json.loads(row.content or "null")) for row in AgentMemory.objects.filter(scope=Scope.ACTOR)}


# --- reading: role x filter -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", SpaceRole)
def test_list__by_every_role_and_filter__shows_what_the_table_says(world: World, role: SpaceRole) -> None:
    vera = inspector(world, role)
    fill(world, vera)
    other = {"actor_type": "agent", "actor_id": world.writer.principal_id}
    myself = {"actor_type": "actor", "actor_id": vera.principal}
    shared = {"actor_type": "shared"}
    everybody = MINE | SHARED
    table = {
        "unfiltered": ({}, everybody | THEIR_SLOTS, everybody),
        "of another": (other, THEIRS | SHARED, everybody),
        "of myself": (myself, everybody, everybody),
        "shared": (shared, SHARED, everybody),
        "slots": ({"kind": "pinned"}, slots_of(everybody) | THEIR_SLOTS, slots_of(everybody)),
        "memories": ({"kind": "memory"}, everybody - slots_of(everybody), everybody - slots_of(everybody)),
        "another's memories": (
            {"kind": "memory", **other},
            {("note", "note theirs"), ("note", "note shared")},
            {("note", "note mine"), ("note", "note shared")},
        ),
    }
    for name, (query, holder, other_roles) in table.items():
        assert vera.sees(**query) == (holder if role in DELETES else other_roles), name


def test_list__has_the_seeds_shape_and_order(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    run = begin(world, vera.human.actor)
    run.pin("persona", {"tone": "dry"})
    run.note("first")
    run.note("second")
    run.pin("checkpoint", None)
    body = vera.lists()
    assert [row["key"] for row in body["pinned"]] == ["checkpoint", "persona"]
    assert [row["content"] for row in body["memories"]] == ["first", "second"]
    (persona,) = [row for row in body["pinned"] if row["key"] == "persona"]
    row = AgentMemory.objects.get(key="persona")
    assert persona == {
        "id": row.pk,
        "key": "persona",
        "content": {"tone": "dry"},
        "scope": "actor",
        "state": "stored",
        "runId": run.id,
        "actor_type": "human",
        "actor_id": vera.principal,
        "createdAt": persona["createdAt"],
        "updatedAt": persona["updatedAt"],
    }
    assert body["memories"][0]["pinned"] is False
    assert set(vera.lists(kind="pinned")) == {"pinned"}
    assert set(vera.lists(kind="memory")) == {"memories"}


def test_list__a_keyless_memo__is_a_memory_that_is_pinned(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    begin(world, vera.human.actor).note("becomes a memo")
    AgentMemory.objects.update(pinned=True)
    (memo,) = vera.lists()["memories"]
    assert memo["pinned"] is True
    assert vera.lists()["pinned"] == []


def test_list__filtered_by_a_run__shows_what_that_run_wrote(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    first, second = begin(world, vera.human.actor), begin(world, vera.human.actor)
    first.note("of the first")
    second.note("of the second")
    shared = share(world, "quirks", "shared")
    assert vera.sees(runId=first.id) == {("note", "of the first")}
    run = AgentMemory.objects.get(pk=shared).writes.get().run_id
    assert vera.sees(runId=run) == {("quirks", "shared")}
    assert vera.sees(runId="run_unknown") == set()


def test_list__the_agents_name_without_its_at_and_the_tenant_by_its_short_name__is_the_same(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    begin(world, vera.human.actor).note("kept")
    vera.headers["X-Org-Id"] = "acme"
    answer = vera.call("GET", STATE.replace("@", ""))
    assert [row["content"] for row in answer.json()["memories"]] == ["kept"]


def test_list__own_held_writes__are_there_for_their_author_and_for_nobody_else(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    ada = inspector(world, SpaceRole.ADMIN, name="ada")
    share(world, "quirks", "ratified")
    run = begin(world, writing_as(world, vera))
    run.pin("quirks", "awaits a verdict", scope=Scope.SHARED)
    run.note("awaits one too", scope=Scope.SHARED)
    states = {(row["content"], row["state"]) for rows in vera.lists().values() for row in rows}
    assert states == {("ratified", "promoted"), ("awaits a verdict", "held"), ("awaits one too", "held")}
    assert ada.sees() == {("quirks", "ratified")}
    assert ada.sees(actor_type="actor", actor_id=vera.principal) == {("quirks", "ratified")}


def test_list__a_self_signed_write__says_so(db: None) -> None:
    world = World.build("loose", paths=("a",), committed=False)
    allow_relaxed_review(world.admin, allowed=True)
    register(world)
    vera = inspector(world, SpaceRole.VIEWER)
    begin(world).pin("quirks", "at once", scope=Scope.SHARED)
    (slot,) = vera.lists()["pinned"]
    assert (slot["state"], slot["self_signed"], slot["actor_type"], slot["actor_id"]) == (
        "promoted",
        True,
        "shared",
        None,
    )


def test_list__of_another_space__knows_nothing_of_this_one(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    begin(world, on="b").note("of b")
    set_space_role(world.admin, principal=vera.principal, workarea="universe.b", role=SpaceRole.ADMIN)
    assert vera.sees(actor_type="actor", actor_id=world.writer.principal_id) == set()
    vera.headers["X-Space-Id"] = world.nodes["b"].pk
    assert vera.sees(actor_type="actor", actor_id=world.writer.principal_id) == {("note", "of b")}


def test_list__a_look_at_anothers_rows__is_in_the_read_log(world: World) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    begin(world).pin("persona", "theirs")
    vera.lists()
    entry = ReadLog.objects.get(surface="persistence")
    assert (entry.principal_id, entry.workarea_id) == (vera.principal, world.nodes["a"].pk)
    assert entry.returned == [str(row_of("persona", world.writer.principal_id))]


def test_list__costs_the_same_however_much_there_is(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    vera.lists()
    with django_assert_max_num_queries(15) as few:
        vera.lists()
    run = begin(world)
    for number in range(20):
        run.pin(f"slot_{number}", number)
        run.note(str(number))
    for number in range(3):
        share(world, f"shared_{number}", number)
    with django_assert_max_num_queries(len(few.captured_queries)):
        vera.lists()


# --- deleting: role x route -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", SpaceRole)
@pytest.mark.parametrize("whose", ["mine", "theirs", "shared"])
def test_delete__one_row_of_anybody__is_for_admins_and_builders(world: World, role: SpaceRole, whose: str) -> None:
    vera = inspector(world, role)
    fill(world, vera)
    owner = {"mine": vera.principal, "theirs": world.writer.principal_id, "shared": None}[whose]
    slot = row_of("quirks" if owner is None else "persona", owner)
    note = row_of(None, owner)
    before = length(world.admin.tenant_id)
    answers = [vera.call("DELETE", f"{STATE}/pinned/{slot}"), vera.call("DELETE", f"{STATE}/memories/{note}")]
    if role in DELETES:
        assert [(answer.status_code, answer.content) for answer in answers] == [(204, b"")] * 2
        content = "shared" if owner is None else whose
        gone = {("quirks" if owner is None else "persona", content), ("note", f"note {whose}")}
        assert not vera.sees(actor_type="shared") & gone
        assert not vera.sees(actor_type="actor", actor_id=owner or vera.principal) & gone
        assert [vera.call("DELETE", f"{STATE}/pinned/{slot}").status_code] == [404]
    else:
        for answer in answers:
            refused(answer, "access.forbidden", 403)
        assert length(world.admin.tenant_id) == before
        assert len(left()) == 6


@pytest.mark.parametrize("role", SpaceRole)
def test_delete__in_bulk_without_a_filter__takes_every_memory_and_no_slot(world: World, role: SpaceRole) -> None:
    vera = inspector(world, role)
    fill(world, vera)
    answer = vera.call("DELETE")
    if role not in DELETES:
        refused(answer, "access.forbidden", 403)
        assert len(left()) == 6
        return
    assert answer.json() == {"memories_deleted": 3, "checkpoint_deleted": False}
    assert left() == {("persona", "mine"), ("checkpoint", "mine"), ("persona", "theirs"), ("checkpoint", "theirs")}
    assert vera.sees(actor_type="shared") == {("quirks", "shared")}


@pytest.mark.parametrize(
    ("kind", "counts", "lost"),
    [
        (None, (1, True), {("note", "note theirs"), ("checkpoint", "theirs")}),
        ("memory", (1, False), {("note", "note theirs")}),
        ("pinned", (0, True), {("checkpoint", "theirs")}),
    ],
)
def test_delete__in_bulk_of_one_actor__takes_exactly_that_scope(
    world: World, kind: str | None, counts: tuple[int, bool], lost: set[tuple[str, str]]
) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    fill(world, vera)
    other = {"actor_type": "agent", "actor_id": world.writer.principal_id}
    answer = vera.call("DELETE", **other, **({"kind": kind} if kind else {}))
    assert answer.json() == {"memories_deleted": counts[0], "checkpoint_deleted": counts[1]}
    assert vera.sees(**other) == (THEIRS - lost) | SHARED
    assert vera.sees(actor_type="actor", actor_id=vera.principal) == MINE | SHARED


def test_delete__in_bulk_of_what_is_shared__demotes_it_and_leaves_private_rows(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    share(world, "checkpoint", "shared cursor")
    answer = vera.call("DELETE", actor_type="shared")
    assert answer.json() == {"memories_deleted": 1, "checkpoint_deleted": True}
    assert vera.sees(actor_type="shared") == {("quirks", "shared")}
    assert len(left()) == 6
    states = dict(Artifact.objects.values_list("text", "state"))
    assert (states["note shared"], states["shared cursor"], states["held"]) == ("demoted", "demoted", "held")


@pytest.mark.parametrize("kind", ["pinned", None])
def test_delete__in_bulk_with_nothing_to_delete__changes_and_journals_nothing(world: World, kind: str | None) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    begin(world).pin("checkpoint", 1)
    before = length(world.admin.tenant_id)
    answer = vera.call("DELETE", **({"kind": kind} if kind else {}))
    assert answer.json() == {"memories_deleted": 0, "checkpoint_deleted": False}
    assert length(world.admin.tenant_id) == before
    assert len(left()) == 1


def test_delete__an_id_of_the_other_kind_agent_or_space__is_not_found_and_deletes_nothing(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    register(world, agent="@acme/other")
    slot, note = row_of("persona", vera.principal), row_of(None, vera.principal)
    set_space_role(world.admin, principal=vera.principal, workarea="universe.b", role=SpaceRole.ADMIN)
    elsewhere = {**vera.headers, "X-Space-Id": world.nodes["b"].pk}
    attempts = [
        vera.call("DELETE", f"{STATE}/memories/{slot}"),
        vera.call("DELETE", f"{STATE}/pinned/{note}"),
        vera.call("DELETE", f"/api/agents/@acme/other/persistence/memories/{note}"),
        vera.call("DELETE", f"{STATE}/memories/{note}", headers=elsewhere),
        vera.call("DELETE", f"{STATE}/pinned/{2**62}"),
        vera.call("DELETE", f"{STATE}/pinned/{10**30}"),
    ]
    for answer in attempts:
        refused(answer, "access.not_found", 404)
    assert len(left()) == 6


def test_delete__a_held_write_of_somebody_else__is_as_unknown_as_any(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    held = begin(world).note("unseen", scope=Scope.SHARED)
    unknown = vera.call("DELETE", f"{STATE}/memories/{held['id'] + 1}").json()["error"]["message"]
    theirs = vera.call("DELETE", f"{STATE}/memories/{held['id']}").json()["error"]["message"]
    assert theirs.replace(str(held["id"]), "N") == unknown.replace(str(held["id"] + 1), "N")
    assert Artifact.objects.get(pk=held["artifact_id"]).state == "held"


def test_delete__an_own_held_write__withdraws_it(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    held = begin(world, writing_as(world, vera)).note("never mind", scope=Scope.SHARED)
    assert vera.call("DELETE", f"{STATE}/memories/{held['id']}").status_code == 204
    row = Artifact.objects.get(pk=held["artifact_id"])
    assert (row.state, row.cause) == ("rejected", "withdrawn")
    journalled("submission.withdraw", once=True)


def test_delete__of_shared_state__is_a_demotion_in_the_journal_and_takes_it_from_the_next_prompt(world: World) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    row = share(world, "quirks", "SECRETWORD")
    assert begin(world).sees() == {"quirks": "SECRETWORD"}
    assert vera.call("DELETE", f"{STATE}/pinned/{row}").status_code == 204
    assert begin(world).sees() == {}
    (demoted,), (deleted,) = journalled("lifecycle.demote", once=True), journalled("state.deleted", once=True)
    assert demoted["payload"]["cause"] == "admin"
    assert demoted["actor"]["principal"] == vera.principal
    assert (deleted["payload"]["scope"], deleted["payload"]["memory_ids"]) == ("shared", [row])
    assert deleted["payload"]["actor_principal"] is None
    assert "SECRETWORD" not in str([demoted, deleted])
    again = begin(world).pin("quirks", "fresh", scope=Scope.SHARED)
    world.scan()
    world.ratify(again["artifact_id"])
    assert vera.sees() == {("quirks", "fresh")}


def test_delete__of_private_state__names_the_scope_in_the_journal_and_keeps_the_runs_own_record(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    run = begin(world)
    run.pin("checkpoint", "SECRETWORD")
    row = row_of("checkpoint", world.writer.principal_id)
    vera.call("DELETE", actor_type="actor", actor_id=world.writer.principal_id)
    (deleted,) = journalled("state.deleted", once=True)
    assert deleted["payload"] == {
        "scope": "actor",
        "actor_principal": world.writer.principal_id,
        "memory_ids": [row],
        "checkpoint": True,
    }
    assert deleted["workarea"] == world.nodes["a"].pk
    assert Run.objects.get(pk=run.id).checkpoint == '"SECRETWORD"'


def test_delete__of_private_state__leaves_no_word_of_it_and_no_digest_to_guess_by(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    run = begin(world)
    note = run.note("zorblaxquill", idempotency_key="n")
    run.pin("persona", "zorblaxquill", idempotency_key="p")
    run.pin("goals", "stays", idempotency_key="g")
    vera.call("DELETE", f"{STATE}/memories/{note['id']}")
    vera.call("DELETE", f"{STATE}/pinned/{row_of('persona', world.writer.principal_id)}")
    assert places_of("zorblaxquill") == []
    blank = {record.response.get("key", "note") for record in IdempotencyRecord.objects.filter(fingerprint=bytes(32))}
    assert blank == {"note", "persona"}
    with pytest.raises(IdempotencyMismatch):
        run.note("zorblaxquill", idempotency_key="n")
    assert run.pin("goals", "stays", idempotency_key="g")["idempotent_replay"] is True
    assert vera.sees(actor_type="actor", actor_id=world.writer.principal_id) == {("goals", "stays")}


def test_delete__makes_room_for_another_note(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    run = begin(world)
    for number in range(100):
        run.note(str(number))
    vera.call("DELETE", f"{STATE}/memories/{AgentMemory.objects.first().pk}")  # type: ignore[union-attr]
    run.note("fits")


def test_delete__in_a_validated_space__still_demotes(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    row = share(world, "quirks", "wrong")
    advance_status(world.admin, workarea="universe.a", status="validated")
    assert vera.call("DELETE", f"{STATE}/pinned/{row}").status_code == 204


def test_delete__in_bulk__costs_the_same_however_many_memories_go(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    vera = inspector(world, SpaceRole.ADMIN)

    def work(notes: int) -> None:
        run = begin(world)
        for number in range(notes):
            run.note(str(number))
            share(world, None, f"shared {number}")

    work(2)
    with django_assert_max_num_queries(30) as few:
        assert vera.call("DELETE").json()["memories_deleted"] == 4
    work(6)
    with django_assert_max_num_queries(len(few.captured_queries)):
        assert vera.call("DELETE").json()["memories_deleted"] == 12


# --- who is let in --------------------------------------------------------------------------------------------------

ROUTES = [
    ("GET", STATE),
    ("DELETE", STATE),
    ("DELETE", f"{STATE}/memories/1"),
    ("DELETE", f"{STATE}/pinned/1"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route__with_any_api_key__is_forbidden(world: World, method: str, path: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    own = issue_key(world.admin, principal=vera.principal, role=Role.ADMIN, grants=[])
    run = begin(world)
    secrets = [world.secret[actor] for actor in (world.admin, world.operator, world.reader, world.writer)]
    for secret in [*secrets, own.secret, run.token, "oml_k_" + "0" * 26, ""]:
        header = {**vera.headers, "Authorization": f"Bearer {secret}" if secret else ""}
        for client in (Client(), vera.human.client):
            refused(client.generic(method, path, headers=header), "access.forbidden", 403)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route__without_a_session__is_unauthorized(world: World, method: str, path: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    answer = Client().generic(method, path, headers=vera.headers)
    refused(answer, "auth.invalid_key", 401)
    assert answer.headers["WWW-Authenticate"] == 'Session realm="oml"'
    Principal.objects.filter(pk=vera.principal).update(is_active=False)
    refused(vera.call(method, path), "auth.invalid_key", 401)


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("header", ["X-Org-Id", "X-Space-Id"])
@pytest.mark.parametrize("value", [None, "", "two words", "x" * 201, "wa/1"])
def test_every_route__a_header_missing_or_malformed__is_named(
    world: World, method: str, path: str, header: str, value: str | None
) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    headers = {name: one for name, one in vera.headers.items() if name != header}
    if value is not None:
        headers[header] = value
    assert refused(vera.call(method, path, headers=headers), "request.validation", 400)["param"] == header
    sent = vera.call(method, path, headers=headers, **{header: "universe"})
    assert refused(sent, "request.validation", 400)["param"] == header


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route__asked_by_another_site__answers_no_preflight_and_wants_the_header(
    world: World, method: str, path: str
) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = vera.human.client.cookies
    asks = {
        "Origin": "https://elsewhere.example",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "x-org-id, x-space-id",
    }
    preflight = strict.options(path, headers=asks)
    assert preflight.status_code >= 400
    assert not [name for name in preflight.headers if name.lower().startswith("access-control")]
    simple = strict.generic(method, path, headers={"Origin": asks["Origin"]})
    refused(simple, "request.validation", 400)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route__in_a_visible_space_without_a_role__is_forbidden(world: World, method: str, path: str) -> None:
    vera = inspector(world, None)
    refused(vera.call(method, path), "access.forbidden", 403)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route__denied_above__is_forbidden_whatever_is_allowed(world: World, method: str, path: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    for permission in Persistence:
        principal = Principal.objects.get(pk=vera.principal)
        set_human_access(world.admin, holder=principal, workarea="universe", permission=f"deny_{permission}")
    refused(vera.call(method, path), "access.forbidden", 403)


def test_roles__hold_in_the_subtree_and_through_groups(world: World) -> None:

    vera = inspector(world, None)
    set_group_member(world.admin, group="keepers", username="vera")
    group = group_named(world.admin, "keepers")
    set_human_access(world.admin, holder=group, workarea="universe", permission="persistence_read")
    assert vera.call("GET").status_code == 200
    refused(vera.call("DELETE"), "access.forbidden", 403)
    set_human_access(world.admin, holder=group, workarea="universe", permission="persistence_delete")
    assert vera.call("DELETE").status_code == 200


def unseen(world: World, vera: Inspector) -> dict[str, tuple[str, dict[str, str]]]:
    """Every cause for a not-found, each as (path, headers)."""
    World.build("elsewhere", paths=("a",))
    foreign = World.build("foreign", paths=("a",))
    register(foreign)
    return {
        "another tenant": (STATE, {**vera.headers, "X-Org-Id": foreign.admin.tenant_id}),
        "another tenant's name": (STATE, {**vera.headers, "X-Org-Id": "foreign"}),
        "no tenant": (STATE, {**vera.headers, "X-Org-Id": "ten_0"}),
        "another tenant's space": (STATE, {**vera.headers, "X-Space-Id": foreign.nodes["a"].pk}),
        "an unknown space": (STATE, {**vera.headers, "X-Space-Id": "spc_0"}),
        "a space by its path": (STATE, {**vera.headers, "X-Space-Id": "universe.a"}),
        "a space out of sight": (STATE, {**vera.headers, "X-Space-Id": world.nodes["b"].pk}),
        "an unknown agent": (STATE.replace("triage", "other"), vera.headers),
        "no name for an agent": (STATE.replace("triage", "TRIAGE"), vera.headers),
    }


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route__whatever_is_out_of_sight__has_one_body(world: World, method: str, path: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    rest = path.removeprefix(STATE)
    bodies = set()
    for cause, (state, headers) in unseen(world, vera).items():
        answer = vera.call(method, state + rest, headers=headers)
        assert answer.status_code == 404, cause
        agent = "/".join(state.split("/")[3:5])
        bodies.add(answer.content.decode().replace(agent, "AGENT").replace(headers["X-Space-Id"], "SPACE"))
    assert len(bodies) == 1


def test_the_same_request__unknown_foreign_and_unseen__is_byte_equal(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    space = world.nodes["b"].pk
    unseen_space = vera.call("GET", headers={**vera.headers, "X-Space-Id": space}).content
    other_org = vera.call("GET", headers={"X-Org-Id": "nobody", "X-Space-Id": space}).content
    stranger = Inspector(world, human(World.build("foreign", paths=("a",)), "reader", name="sam"))
    foreign = stranger.call("GET", headers={"X-Org-Id": world.admin.tenant_id, "X-Space-Id": space}).content
    assert unseen_space == other_org == foreign


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"kind": "slots"}, "kind"),
        ({"kind": "PINNED"}, "kind"),
        ({"actor_type": "shared", "actor_id": "pri_1"}, "actor_id"),
        ({"actor_type": "agent"}, "actor_id"),
        ({"actor_type": "user"}, "actor_id"),
        ({"actor_id": "pri_1"}, "actor_type"),
        ({"actor_type": "robot", "actor_id": "pri_1"}, "actor_type"),
        ({"surprise": "1"}, "surprise"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_filters__outside_their_words__are_named(world: World, method: str, query: dict[str, str], param: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    assert refused(vera.call(method, **query), "request.validation", 400)["param"] == param


def test_filters__of_whoever_may_not_delete__are_ignored_even_when_they_make_no_sense(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    fill(world, vera)
    assert vera.sees(actor_type="robot") == MINE | SHARED
    assert vera.sees(actor_id=world.writer.principal_id) == MINE | SHARED


@pytest.mark.parametrize("word", ["actor", "user", "end_user", "agent"])
def test_filters__every_word_for_an_identity__selects_it(world: World, word: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    begin(world).note("theirs")
    assert vera.sees(actor_type=word, actor_id=world.writer.principal_id) == {("note", "theirs")}
    assert vera.sees(actor_type="service", actor_id=world.writer.principal_id) == set()


@pytest.mark.parametrize("id_", ["0", "00", "-1", "1.5", "x", "1e3", "%C2%B2", "%20"])
@pytest.mark.parametrize("kind", ["memories", "pinned"])
def test_ids__that_are_no_positive_number__are_unknown_like_any_other(world: World, kind: str, id_: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    refused(vera.call("DELETE", f"{STATE}/{kind}/{id_}"), "access.not_found", 404)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("path", sorted({path for _, path in ROUTES}))
def test_nothing__writes_memory_over_http(world: World, method: str, path: str) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    refused(vera.call(method, path), "request.method", 405)


def test_an_operator_who_signs_in__knows_no_agent_state(world: World) -> None:

    key = enrol_human(world.admin, username="olga", name="Olga", password="correct horse battery", role=Role.OPERATOR)
    set_space_role(world.admin, principal=key.principal_id, workarea="universe.a", role=SpaceRole.ADMIN)
    client = Client()
    client.force_login(key.principal, backend="django.contrib.auth.backends.ModelBackend")
    headers = {"X-Org-Id": "acme", "X-Space-Id": world.nodes["a"].pk}
    refused(client.get(STATE, headers=headers), "access.verb_ceiling", 403)


@given(id_=st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=40))
def test_parse__any_text_for_an_id__is_a_number_or_refused(id_: str) -> None:

    try:
        number = row_number(id_)
    except Validation:
        assert not (id_.isascii() and id_.isdigit()) or int(id_) == 0
    else:
        assert 0 <= number < 2**63

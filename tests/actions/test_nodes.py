"""The tree and its ladder (D8): who may build, what a step must find, what a validated node still admits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory import reads
from oml.core.actor import Actor
from oml.core.errors import OmlError
from oml.journal.selectors import permission_epoch
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.actions.nodes import Crew, advance_status, allow_relaxed_review, create_workarea, set_policy, update_crew
from workareas.actions.reassign import reassign
from workareas.models import Workarea

pytestmark = pytest.mark.django_db


@pytest.fixture
def young(db: None) -> World:
    """A tenant whose nodes are all in development."""
    return World.build("young", paths=("a", "a.team"), committed=False)


def refusal(actor: Actor, act: Callable[[], object]) -> OmlError:
    before = length(actor.tenant_id), list(Workarea.objects.order_by("pk").values())
    with pytest.raises(OmlError) as caught:
        act()
    assert (length(actor.tenant_id), list(Workarea.objects.order_by("pk").values())) == before
    return caught.value


def advanced(world: World, path: str, status: str) -> Workarea:
    return advance_status(world.admin, workarea=path, status=status)


class TestCreate:
    def test_child__starts_in_development_under_a_derived_path(self, world: World) -> None:
        node = create_workarea(world.admin, parent="universe.a", leaf="q1-2027", crew=Crew("metals-crew"))
        assert (node.path, node.status, node.parent_id) == (
            "universe.a.q1-2027",
            "development",
            world.nodes["a"].pk,
        )
        record = journalled("workarea.created")[-1]
        assert record["subject"] == {"workarea": node.pk}

    @pytest.mark.parametrize(
        "leaf",
        ["", "-a", "a-", "A", "a_b", "a.b", "a b", "é", "a\n", "a" * 65, "a\x00", "a%", ".", "..", "а"],
    )
    def test_leaf__outside_its_grammar__is_refused(self, world: World, leaf: str) -> None:
        error = refusal(world.admin, lambda: create_workarea(world.admin, parent="universe.a", leaf=leaf))
        assert (error.code, error.param) == ("request.validation", "leaf")

    @pytest.mark.parametrize("leaf", ["a", "0", "a" * 64, "a-b--c", "universe"])
    def test_leaf__inside_its_grammar__passes(self, world: World, leaf: str) -> None:
        assert create_workarea(world.admin, parent="universe.b", leaf=leaf).leaf == leaf

    def test_leaf__taken_by_a_sibling__is_refused_and_free_elsewhere(self, world: World) -> None:
        error = refusal(world.admin, lambda: create_workarea(world.admin, parent="universe.a", leaf="team"))
        assert error.param == "leaf"
        assert create_workarea(world.admin, parent="universe.b", leaf="team")

    def test_depth__path_that_no_index_could_hold__is_refused(self, world: World) -> None:
        def dig() -> None:
            parent = "universe.b"
            for _ in range(60):
                parent = create_workarea(world.admin, parent=parent, leaf="x" * 64).path

        with pytest.raises(OmlError) as caught:
            dig()
        assert (caught.value.code, caught.value.param) == ("request.validation", "leaf")

    def test_depth__reached_by_a_move__is_refused_too(self, world: World) -> None:
        deep = "universe.a"
        for _ in range(20):
            deep = create_workarea(world.admin, parent=deep, leaf="y" * 64).path
        parent = "universe.b"
        for _ in range(20):
            parent = create_workarea(world.admin, parent=parent, leaf="x" * 64).path
        error = refusal(world.admin, lambda: reassign(world.admin, workarea="universe.a", parent=parent))
        assert (error.code, error.param) == ("request.validation", "parent")

    def test_parent__validated__is_frozen(self, world: World) -> None:
        advanced(world, "universe.b", "validated")
        error = refusal(world.admin, lambda: create_workarea(world.admin, parent="universe.b", leaf="x"))
        assert error.code == "workarea.frozen"

    def test_create__by_others__is_refused(self, world: World) -> None:
        for kind in ("reader", "writer", "reviewer"):
            actor = world.key(kind)
            error = refusal(actor, lambda actor=actor: create_workarea(actor, parent="universe.a", leaf="x"))  # type: ignore[misc]
            assert error.code == "access.verb_ceiling"
        local = world.key("admin", on="a")
        assert refusal(local, lambda: create_workarea(local, parent="universe", leaf="x")).code == "access.not_found"
        assert create_workarea(local, parent="universe.a", leaf="x")

    def test_crew__name_longer_than_its_column__is_refused(self, world: World) -> None:
        for crew in (Crew("x" * 201), Crew("x", "u" * 2001), Crew("x", None, "m" * 201)):
            error = refusal(
                world.admin,
                lambda crew=crew: create_workarea(world.admin, parent="universe.a", leaf="y", crew=crew),  # type: ignore[misc]
            )
            assert error.code == "request.validation"


class TestLadder:
    @pytest.mark.parametrize("status", ["validated", "development", "frozen", "", "COMMITTED"])
    def test_step__that_is_not_the_next__is_refused(self, young: World, status: str) -> None:
        error = refusal(young.admin, lambda: advanced(young, "universe.a", status))
        assert (error.code, error.param) == ("request.validation", "status")

    def test_step__down_or_beyond__is_refused(self, young: World) -> None:
        advanced(young, "universe.a", "committed")
        assert refusal(young.admin, lambda: advanced(young, "universe.a", "committed")).code == "request.validation"
        assert refusal(young.admin, lambda: advanced(young, "universe.a", "development")).code == "request.validation"
        advanced(young, "universe.a", "validated")
        assert refusal(young.admin, lambda: advanced(young, "universe.a", "validated")).code == "request.validation"

    def test_step__of_the_root__is_refused(self, young: World) -> None:
        assert refusal(young.admin, lambda: advanced(young, "universe", "committed")).code == "request.validation"

    def test_step__raises_the_epoch_so_that_writes_under_way_are_decided_again(self, young: World) -> None:
        before = permission_epoch(young.admin.tenant_id)
        advanced(young, "universe.a", "committed")
        assert permission_epoch(young.admin.tenant_id) == before + 1
        record = journalled("workarea.status_changed", once=True)[0]
        assert record["payload"]["before"] == "development" and record["payload"]["after"] == "committed"

    def test_step__while_something_is_held__is_unreviewed(self, young: World) -> None:
        artifact = young.submit()
        assert refusal(young.admin, lambda: advanced(young, "universe.a", "committed")).code == "workarea.unreviewed"
        young.scan()
        young.reject(artifact)
        assert advanced(young, "universe.a", "committed").status == "committed"
        held = young.submit()
        assert refusal(young.admin, lambda: advanced(young, "universe.a", "validated")).code == "workarea.unreviewed"
        young.scan()
        young.ratify(held)
        assert advanced(young, "universe.a", "validated").status == "validated"

    def test_step__to_committed_with_self_signed_claims__is_unreviewed(self, young: World) -> None:
        allow_relaxed_review(young.admin, allowed=True)
        artifact = young.submit()
        young.scan()
        young.ratify(artifact, by=young.key("reviewer", principal=young.writer.principal_id))
        error = refusal(young.admin, lambda: advanced(young, "universe.a", "committed"))
        assert error.code == "workarea.unreviewed"
        assert "1 self-signed" in error.message

    def test_step__held_work_in_a_descendant__is_its_own_affair(self, young: World) -> None:
        young.submit(on="a.team")
        assert advanced(young, "universe.a", "committed")

    def test_validated__still_admits_crew_and_reads_and_nothing_new(self, world: World) -> None:
        artifact = world.promoted(on="b")
        advanced(world, "universe.b", "validated")
        assert update_crew(world.admin, workarea="universe.b", crew=Crew("heirs")).crew_name == "heirs"
        body = reads.workarea(world.reader, reference="universe.b")
        assert (body["status"], body["crew"]["name"]) == ("validated", "heirs")
        with pytest.raises(OmlError) as caught:
            world.submit(on="b")
        assert caught.value.code == "workarea.frozen"
        assert world.row(artifact).state == "promoted"

    def test_step__by_others__is_refused(self, world: World) -> None:
        for actor, code in ((world.writer, "access.verb_ceiling"), (world.key("admin", on="ab"), "access.not_found")):
            act = lambda actor=actor: advance_status(actor, workarea="universe.a", status="validated")  # type: ignore[misc]  # noqa: E731
            assert refusal(actor, act).code == code


class TestPolicy:
    @pytest.mark.parametrize(
        "settings",
        [
            {"min_verdicts": 0},
            {"min_verdicts": 11},
            {"min_verdicts": True},
            {"min_verdicts": "2"},
            {"min_verdicts": 1.0},
            {"held_expiry_s": 0},
            {"held_expiry_s": -1},
            {"held_expiry_s": 367 * 86400},
            {"serve_ttl_s": 0},
            {"serve_ttl_s": 10**10},
            {"lineage_exclusion": 1},
            {"reason_required": "true"},
            {"version": 7},
            {"promote": True},
        ],
    )
    def test_set__out_of_range_or_unknown__is_refused(self, world: World, settings: dict[str, Any]) -> None:
        error = refusal(world.admin, lambda: set_policy(world.admin, workarea="universe.a", settings=settings))
        assert (error.code, error.param) == ("request.validation", next(iter(settings)))

    def test_set__raises_its_version_and_the_epoch_and_says_what_changed(self, world: World) -> None:
        before = permission_epoch(world.admin.tenant_id)
        assert set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2}).version == 1
        assert set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": None}).version == 2
        assert permission_epoch(world.admin.tenant_id) == before + 2
        payload = journalled("policy.changed")[-1]["payload"]
        assert payload == {"version": 2, "before": {"min_verdicts": 2}, "after": {"min_verdicts": None}}

    def test_relaxed_flag__raises_the_epoch(self, world: World) -> None:
        before = permission_epoch(world.admin.tenant_id)
        allow_relaxed_review(world.admin, allowed=True)
        assert permission_epoch(world.admin.tenant_id) == before + 1

    def test_set__by_others__is_refused(self, world: World) -> None:
        local = world.key("admin", on="ab")
        act = lambda: set_policy(local, workarea="universe.a", settings={"min_verdicts": 2})  # noqa: E731
        assert refusal(local, act).code == "access.not_found"
        assert refusal(local, lambda: allow_relaxed_review(local, allowed=True)).code == "access.forbidden"


class TestInfo:
    def test_info__has_exactly_the_seed_s_fields(self, world: World) -> None:
        update_crew(
            world.admin,
            workarea="universe.a",
            crew=Crew("metals-crew", "https://crews.example.com/metals/charter.md", "crewd.example.com"),
        )
        body = reads.workarea(world.writer, reference="universe.a")
        assert body == {
            "id": world.nodes["a"].pk,
            "path": "universe.a",
            "status": "committed",
            "crew": {
                "name": "metals-crew",
                "charter_uri": "https://crews.example.com/metals/charter.md",
                "external_manager": "crewd.example.com",
            },
            "parent": world.nodes["universe"].pk,
            "children": [{"id": world.nodes["a.team"].pk, "path_leaf": "team", "status": "committed"}],
            "edges": [],
            "my_effective_verbs": ["recall", "read", "graph_read", "remember", "learn", "attach"],
            "permission_epoch": permission_epoch(world.writer.tenant_id),
        }

    def test_info__unreadable_parent_and_children__are_absent(self, world: World) -> None:
        local = world.key("reader", on="a")
        world.grant(local, "reader", on="a.team", deny=True)  # type: ignore[arg-type]
        body = reads.workarea(local, reference=world.nodes["a"].pk)
        assert (body["parent"], body["children"], body["crew"]) == (None, [], None)

    def test_info__visible_but_not_readable__is_forbidden(self, world: World) -> None:
        reviewer = world.key("reviewer", on="b")
        world.grant(reviewer, "review", on="a")  # type: ignore[arg-type]
        with pytest.raises(OmlError) as caught:
            reads.workarea(reviewer, reference="universe.a")
        assert caught.value.code == "access.forbidden"

    def test_info__unknown_unreadable_foreign_malformed__are_one_body(self, world: World) -> None:
        local = world.key("reader", on="b")
        foreign = World.build("other", paths=("a",)).nodes["a"].pk
        bodies = set()
        for reference in (world.nodes["a"].pk, foreign, "wa_unknown", "universe.a", "universe.nope", "x y", "%%"):
            with pytest.raises(OmlError) as caught:
                reads.workarea(local, reference=reference)
            bodies.add(str(caught.value.as_dict()).replace(reference, "REFERENCE"))
        assert bodies == {
            "{'error': {'code': 'access.not_found', 'rule': 'effective access (D7); unknown and out-of-scope are "
            "indistinguishable', 'message': 'no readable workarea REFERENCE for this key', 'retryable': False}}"
        }

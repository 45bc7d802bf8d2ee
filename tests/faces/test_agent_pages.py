"""The agents' pages: whose memory they show to whom, and that nothing goes before somebody confirmed it."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from memory.recall.models import ReadLog
from memory.runs.models import AgentMemory
from memory.runs.rules import Scope
from tests.support.inspecting import Inspector, fill, inspector, row_of, share, writing_as
from tests.support.people import human, said
from tests.support.runs import begin, register
from tests.support.world import World
from workareas.actions.nodes import allow_relaxed_review
from workareas.actions.space_roles import set_space_role
from workareas.space_roles import SpaceRole

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = World.build("acme", paths=("a", "b"))
    register(world)
    return world


def tab(who: Inspector, **query: str) -> str:
    answer = who.human.get(memory_of(who), **query)
    assert answer.status_code == 200, said(answer)
    return said(answer)


def memory_of(who: Inspector, *rest: str) -> str:
    return "/".join([f"/agents/@acme/support-triage/{who.world.nodes['a'].pk}/memory", *rest])


def test_agents__lists_those_that_ran_where_state_may_be_inspected(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    register(world, agent="@acme/other")
    begin(world)
    begin(world, on="b", agent="@acme/other")
    page = said(vera.human.get("/agents/"))
    assert "@acme/support-triage in universe.a universe.a 1 run" in page
    assert "other" not in page
    set_space_role(world.admin, principal=vera.principal, workarea="universe", role=SpaceRole.VIEWER)
    assert "@acme/other" in said(vera.human.get("/agents/"))


def test_agents__before_any_run__says_when_they_appear(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    assert "No agent ran here yet" in said(vera.human.get("/agents/"))


def test_navigation__leads_there_for_those_who_may_and_is_home_for_who_has_nothing_else(world: World) -> None:
    vera, rita = inspector(world, SpaceRole.VIEWER), human(world, "reviewer", name="rita")
    assert vera.human.get("/").headers["Location"] == "/agents/"
    assert rita.get("/").headers["Location"] == "/review/"
    assert 'href="/agents/"' not in rita.get("/review/").content.decode()
    set_space_role(world.admin, principal=rita.actor.principal_id, workarea="universe.a", role=SpaceRole.VIEWER)
    assert 'href="/agents/"' in rita.get("/review/").content.decode()


def test_memory__of_a_viewer__shows_own_and_shared_rows_and_no_way_to_delete(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    fill(world, vera)
    page = tab(vera)
    for words in ("persona mine", "checkpoint mine", "note mine", "quirks shared", "note shared", "Shared", "Mine"):
        assert words in page
    assert "theirs" not in page and "held" not in page.lower()
    assert "Delete" not in page
    run = AgentMemory.objects.get(key="persona", actor_id=vera.principal).run_id
    assert f"written by run {run}" in page


def test_memory__of_a_builder__shows_every_actors_slots_and_an_actors_notes_when_chosen(world: World) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    fill(world, vera)
    assert "persona theirs" in tab(vera) and "note theirs" not in tab(vera)
    chosen = tab(vera, show=world.writer.principal_id)
    assert "note theirs" in chosen and "Private to" in chosen and "persona mine" not in chosen
    assert "note shared" in tab(vera, show="shared") and "mine" not in tab(vera, show="shared").split("Pinned slots")[1]
    assert "note mine" in tab(vera, show="mine") and "note shared" not in tab(vera, show="mine")


def test_memory__marks_an_own_write_that_is_held(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    held = begin(world, writing_as(world, vera)).pin("quirks", "not yet", scope=Scope.SHARED)
    page = tab(vera)
    assert "quirks not yet" in page and "Held yours; nobody else sees it until it is ratified" in page
    set_space_role(world.admin, principal=vera.principal, workarea="universe.a", role=SpaceRole.BUILDER)
    row = AgentMemory.objects.get(writes__artifact=held["artifact_id"]).pk
    assert "takes it back" in said(vera.human.get(memory_of(vera, "pinned", str(row), "delete")))


def test_memory__marks_what_is_self_signed(db: None) -> None:
    world = World.build("loose", paths=("a",), committed=False)
    register(world)
    allow_relaxed_review(world.admin, allowed=True)
    vera = inspector(world, SpaceRole.VIEWER)
    begin(world).pin("quirks", "at once", scope=Scope.SHARED)
    assert "Self-signed" in tab(vera)


def test_memory__is_logged_row_by_row_as_shown(world: World) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    fill(world, vera)
    tab(vera, show="shared")
    (entry,) = ReadLog.objects.filter(surface="persistence")
    shared = AgentMemory.objects.filter(scope=Scope.SHARED, writes__artifact__state="promoted")
    assert sorted(entry.returned) == sorted(str(row.pk) for row in shared)


def test_memory__of_more_than_a_page__has_a_second_one(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    run = begin(world, vera.human.actor)
    for number in range(60):
        run.note(f"finding-{number:02}.")
    first, second = tab(vera), tab(vera, page="2")
    assert "finding-59." in first and "finding-09." not in first
    assert "finding-09." in second and "finding-00." in second and "Page 2 of 2, 60 in all" in second
    assert vera.human.get(memory_of(vera), page="3").status_code == 400
    assert vera.human.get(memory_of(vera), page="x").status_code == 400


def test_memory__costs_the_same_however_much_there_is(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    tab(vera)
    with django_assert_max_num_queries(25) as few:
        tab(vera)
    run = begin(world)
    for number in range(15):
        run.pin(f"slot_{number}", number)
    share(world, "more", 1)
    with django_assert_max_num_queries(len(few.captured_queries)):
        tab(vera)


def test_memory__content_that_looks_like_markup__is_text(world: World) -> None:
    vera = inspector(world, SpaceRole.VIEWER)
    begin(world, vera.human.actor).pin("persona", "<script>alert(1)</script>\u200b")
    body = vera.human.get(memory_of(vera)).content.decode()
    assert "<script>alert" not in body
    assert "&lt;script&gt;" in body and 'class="unseen"' in body


def test_delete__asks_first_then_deletes_and_says_so(world: World) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    fill(world, vera)
    note = row_of(None, vera.principal)
    ask = memory_of(vera, "memory", str(note), "delete")
    page = said(vera.human.get(ask))
    assert "Delete this note?" in page and "note mine" in page and "cannot be brought back" in page
    assert AgentMemory.objects.filter(pk=note).exists()
    answer = vera.human.post(ask)
    assert answer.status_code == 303
    assert "Deleted." in said(vera.human.get(answer.headers["Location"]))
    assert not AgentMemory.objects.filter(pk=note).exists()
    assert vera.human.get(ask).status_code == 404


def test_delete__of_shared_and_of_anothers__says_what_it_means(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    shared = said(vera.human.get(memory_of(vera, "pinned", str(row_of("quirks", None)), "delete")))
    assert "deleting it is a demotion" in shared
    theirs = said(vera.human.get(memory_of(vera, "memory", str(row_of(None, world.writer.principal_id)), "delete")))
    assert "note theirs" in theirs and f"private to {world.writer.principal_id}" in theirs


def test_delete_all__of_one_scope__asks_first_and_counts(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    path = memory_of(vera, "delete")
    assert "Other named slots stay" in said(vera.human.get(path, whose=world.writer.principal_id))
    assert AgentMemory.objects.filter(scope=Scope.ACTOR).count() == 6
    answer = vera.human.post(path, whose=world.writer.principal_id)
    assert "Deleted: 1 memory and the checkpoint." in said(vera.human.get(answer.headers["Location"]))
    answer = vera.human.post(path, whose="shared")
    assert "Deleted: 1 memory." in said(vera.human.get(answer.headers["Location"]))
    assert vera.human.get(path, whose="nobody").status_code == 400
    assert vera.human.post(path, whose="").status_code == 400
    assert AgentMemory.objects.filter(scope=Scope.ACTOR).count() == 4


@pytest.mark.parametrize("role", [SpaceRole.VIEWER, SpaceRole.RUNNER, SpaceRole.OPERATOR, None])
def test_delete__by_whoever_may_not__is_refused_on_every_page(world: World, role: SpaceRole | None) -> None:
    vera = inspector(world, role)
    fill(world, vera)
    for rest in (("memory", str(row_of(None, vera.principal)), "delete"), ("delete",)):
        for answer in (
            vera.human.get(memory_of(vera, *rest), whose="mine"),
            vera.human.post(memory_of(vera, *rest), whose="mine"),
        ):
            assert answer.status_code in (400, 403), said(answer)
    assert AgentMemory.objects.filter(scope=Scope.ACTOR).count() == 6


def test_delete__from_another_site__has_no_token_and_does_nothing(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    fill(world, vera)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = vera.human.client.cookies
    note = row_of(None, vera.principal)
    assert strict.post(memory_of(vera, "memory", str(note), "delete")).status_code == 403
    assert AgentMemory.objects.filter(pk=note).exists()


def test_pages__of_what_is_out_of_sight__are_not_found_and_nobody_else_gets_in(world: World) -> None:
    vera = inspector(world, SpaceRole.ADMIN)
    begin(world)
    space, other = world.nodes["a"].pk, world.nodes["b"].pk
    for path in (
        f"/agents/@acme/unknown/{space}/memory",
        f"/agents/@acme/support-triage/{other}/memory",
        f"/agents/@acme/support-triage/{other}",
        "/agents/@acme/support-triage/wa_0/memory",
    ):
        answer = vera.human.get(path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")
    nobody = human(world, "reader", name="ned")
    assert "You hold no persistence:read in any space" in said(nobody.get("/agents/"))
    assert nobody.get("/agents/").status_code == 403
    assert Client().get("/agents/").status_code == 302


def test_about__says_what_is_registered_and_what_the_reader_may(world: World) -> None:
    vera = inspector(world, SpaceRole.BUILDER)
    begin(world)
    page = said(vera.human.get(f"/agents/@acme/support-triage/{world.nodes['a'].pk}"))
    assert "note , pin" in page and "inspect and delete" in page and "universe.a" in page

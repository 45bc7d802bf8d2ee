"""my_work: the calling key's own submissions, newest first, without text; a cursor that neither skips nor repeats."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.claims.commands import MyWorkQuery
from memory.claims.models import Artifact
from memory.claims.selectors.own_work import my_work
from memory.claims.states import Kind
from oml.core.actor import Role
from oml.core.errors import OmlError
from oml.core.ids import new_id
from tests.support.world import World
from workareas.models import Grant

pytestmark = pytest.mark.django_db


def page(world: World, actor: Any = None, **query: Any) -> dict[str, Any]:
    return my_work(actor or world.writer, query=MyWorkQuery(**query))


def refusal(world: World, actor: Any = None, **query: Any) -> OmlError:
    with pytest.raises(OmlError) as caught:
        page(world, actor, **query)
    return caught.value


def copies(artifact: str, count: int) -> None:
    """Many rows like one, by the table: the submit path has its own tests."""
    row = Artifact.objects.get(pk=artifact)
    rows = []
    for number in range(count):
        row.pk, row.claim_key = new_id("art"), f"copy-{artifact}-{number}"
        rows.append(
            Artifact(**{field.attname: getattr(row, field.attname) for field in Artifact._meta.concrete_fields})
        )
    Artifact.objects.bulk_create(rows)


def test_my_work__held__has_exactly_the_seed_s_fields(world: World) -> None:
    artifact = world.submit(claim_key="quote", kind=Kind.DERIVED_FACT)
    row = world.row(artifact)
    assert page(world) == {
        "items": [
            {
                "artifact_id": artifact,
                "claim_key": "quote",
                "version": 1,
                "kind": "derived_fact",
                "state": "held",
                "submitted_at": row.submitted_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "held_expires_at": row.held_expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        ],
        "next_cursor": None,
    }


def test_my_work__promoted_and_rejected__carry_time_and_cause_and_no_reviewer(world: World) -> None:
    promoted = world.promoted()
    rejected = world.submit()
    world.scan()
    world.reject(rejected)
    newest, oldest = page(world)["items"]
    assert (newest["state"], newest["cause"]) == ("rejected", "verdict")
    assert set(newest) == {"artifact_id", "claim_key", "version", "kind", "state", "submitted_at", "cause"}
    assert oldest["artifact_id"] == promoted
    assert set(oldest) == {"artifact_id", "claim_key", "version", "kind", "state", "submitted_at", "promoted_at"}
    told = str(page(world))
    assert world.reviewer.key_id not in told and world.reviewer.principal_id not in told and "wrong" not in told


def test_my_work__another_key_of_the_same_principal__sees_its_own_only(world: World) -> None:
    world.submit()
    second = world.key("writer", principal=world.writer.principal_id)
    assert page(world, second)["items"] == []
    mine = world.submit(second)
    assert [item["artifact_id"] for item in page(world, second)["items"]] == [mine]


def test_my_work__operator__is_refused_in_the_seed_s_words(world: World) -> None:
    assert refusal(world, world.operator).as_dict()["error"] == {
        "code": "access.verb_ceiling",
        "rule": "operator never writes, reads or reviews content (D9)",
        "message": "operator keys have no own-work view",
        "retryable": False,
    }


def test_my_work__every_other_role__has_a_view_even_without_any_grant(world: World) -> None:
    for role in (Role.READER, Role.WRITER, Role.DREAMER, Role.ADMIN):
        assert page(world, world.bare_key(role)) == {"items": [], "next_cursor": None}


def test_my_work__filters__narrow_by_state_and_by_node_id_or_path(world: World) -> None:
    here, there = world.submit(on="a"), world.submit(on="b")
    promoted = world.promoted(on="a")
    assert {item["artifact_id"] for item in page(world, workarea=world.nodes["a"].pk)["items"]} == {here, promoted}
    assert page(world, workarea="universe.b")["items"][0]["artifact_id"] == there
    assert [item["artifact_id"] for item in page(world, workarea="universe.a", state="held")["items"]] == [here]
    assert page(world, state="erased")["items"] == []


def test_my_work__node_it_wrote_to_and_can_no_longer_see__is_still_its_own_work(world: World) -> None:
    artifact = world.submit(on="a")
    Grant.objects.filter(key=world.writer.key_id).delete()
    assert page(world, workarea="universe.a")["items"][0]["artifact_id"] == artifact
    assert refusal(world, workarea="universe.b").code == "access.not_found"


def test_my_work__unknown_unreadable_and_foreign_node__are_one_refusal(world: World) -> None:
    other = World.build("other", paths=("a",))
    hidden = world.bare_key(Role.READER)
    bodies = {
        str(refusal(world, hidden, workarea=reference).as_dict()).replace(reference, "REFERENCE")
        for reference in (
            "wa_unknown",
            "not an id",
            "universe.zzz",
            other.nodes["a"].pk,
            world.nodes["a"].pk,
            "universe",
        )
    }
    assert len(bodies) == 1


@pytest.mark.parametrize(
    ("query", "code", "param"),
    [
        ({"limit": 0}, "request.validation", "limit"),
        ({"limit": -1}, "request.validation", "limit"),
        ({"limit": 101}, "limit.ceiling", "limit"),
        ({"state": "Held"}, "request.validation", "state"),
        ({"state": "served"}, "request.validation", "state"),
        ({"cursor": "x"}, "request.validation", "cursor"),
    ],
)
def test_my_work__query_out_of_range__is_refused_and_never_clamped(
    world: World, query: dict[str, Any], code: str, param: str
) -> None:
    error = refusal(world, **query)
    assert (error.code, error.param) == (code, param)


def test_my_work__cursor_over_1003_rows_while_rows_are_added__skips_none_and_repeats_none(world: World) -> None:
    first = world.submit()
    copies(first, 1002)
    expected = list(Artifact.objects.order_by("-id").values_list("pk", flat=True))
    assert len(expected) == 1003
    seen: list[str] = []
    cursor: str | None = None
    while True:
        answer = page(world, limit=100, cursor=cursor)
        seen += [item["artifact_id"] for item in answer["items"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
        world.submit()
    assert seen == expected


def test_my_work__exactly_one_page__has_no_cursor(world: World) -> None:
    copies(world.submit(), 19)
    assert page(world)["next_cursor"] is None
    world.submit()
    assert page(world)["next_cursor"] is not None


def test_my_work__cursor_of_another_key_state_or_node__is_refused(world: World) -> None:
    copies(world.submit(), 3)
    cursor = page(world, limit=2)["next_cursor"]
    world.submit(world.writer2)
    assert refusal(world, world.writer2, cursor=cursor).param == "cursor"
    assert refusal(world, cursor=cursor, state="held").param == "cursor"
    assert refusal(world, cursor=cursor, workarea="universe.a").param == "cursor"
    assert page(world, limit=100, cursor=cursor)["next_cursor"] is None


def test_my_work__many_rows__asks_as_many_queries_as_few(world: World) -> None:
    artifact = world.submit()
    with CaptureQueriesContext(connection) as few:
        page(world, limit=100, workarea="universe.a", state="held")
    copies(artifact, 150)
    with CaptureQueriesContext(connection) as many:
        page(world, limit=100, workarea="universe.a", state="held")
    assert len(many) == len(few)
    assert not any('"text"' in query["sql"] for query in many.captured_queries)

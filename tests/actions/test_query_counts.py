"""How much is asked of the database does not grow with what is in it: few rows and many cost the same queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory import reads
from memory.claims.models import Artifact
from oml.core.ids import new_id
from review.selectors.queue import QueueQuery, review_queue
from tests.support.world import World
from workareas import access
from workareas.actions.nodes import create_workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


def cost(call: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        call()
    return [query["sql"] for query in queries.captured_queries]


def same_cost(few: list[str], many: list[str]) -> None:
    assert len(few) == len(many), "\n".join(sorted(set(many) - set(few)))[:4000]


def fill(world: World, like: str, count: int, **fields: Any) -> None:
    """Many held rows like one, on the table: the submit path has its own tests."""
    row = Artifact.objects.get(pk=like)
    names = [field.attname for field in Artifact._meta.concrete_fields]
    rows = []
    for number in range(count):
        row.pk, row.claim_key = new_id("art"), f"copy-{like}-{number}"
        rows.append(Artifact(**{**{name: getattr(row, name) for name in names}, **fields}))
    Artifact.objects.bulk_create(rows)


def test_submit__into_a_full_node__asks_as_much_as_into_an_empty_one(world: World) -> None:
    first = world.submit()
    few = cost(world.submit)
    fill(world, first, 300)
    same_cost(few, cost(world.submit))
    assert len(few) <= 20


def test_submit__with_many_sources_and_grants__asks_as_much_as_with_one(world: World) -> None:
    sources = [world.promoted() for _ in range(6)]
    few = cost(lambda: world.learn(sources=sources[:1]))
    for path in ("a", "a.team", "ab", "b"):
        world.grant(world.writer, Capability.READER, on=path)
        world.grant(world.writer, Capability.WRITER, on=path)
    same_cost(few, cost(lambda: world.learn(sources=sources)))


def test_submit__deep_in_the_tree__asks_as_much_as_near_the_root(world: World) -> None:
    world.submit()
    few = cost(lambda: world.submit(on="a"))
    parent = "universe.a"
    for _ in range(12):
        parent = create_workarea(world.admin, parent=parent, leaf="n").path
    same_cost(few, cost(lambda: world.submit(workarea=parent)))


def test_replay__asks_less_than_the_first_time(world: World) -> None:
    request = {"claim_key": "quote", "idempotency_key": "run-1"}
    first = cost(lambda: world.submitted(**request))
    assert len(cost(lambda: world.submitted(**request))) < len(first)


@pytest.mark.parametrize("query", [QueueQuery(limit=100), QueueQuery(limit=100, workarea="universe.a", kind="memory")])
def test_queue__five_hundred_held__asks_as_much_as_three(world: World, query: QueueQuery) -> None:
    held = [world.submit(on=path) for path in ("a", "a.team", "b")]
    world.scan()
    few = cost(lambda: review_queue(world.reviewer, query=query))
    fill(world, held[0], 250, scan_state="clean")
    fill(world, held[1], 250, scan_state="clean")
    many = cost(lambda: review_queue(world.reviewer, query=query))
    same_cost(few, many)
    assert not any('"memory_artifact"."text",' in sql for sql in many)


def test_serve_and_verdict__among_many__ask_as_much_as_among_few(world: World) -> None:
    first, second, third = (world.submit() for _ in range(3))
    world.scan()
    world.ratify(first)
    few = cost(lambda: world.ratify(second))
    fill(world, third, 300, scan_state="clean")
    same_cost(few, cost(lambda: world.ratify(third)))


def test_workarea_info__many_children__asks_as_much_as_few(world: World) -> None:
    reads.workarea(world.reader, reference="universe.a")  # the tenant's quota is asked for once in a while
    few = cost(lambda: reads.workarea(world.reader, reference="universe.a"))
    for number in range(40):
        create_workarea(world.admin, parent="universe.a", leaf=f"n{number}")
    many = cost(lambda: reads.workarea(world.reader, reference="universe.a"))
    same_cost(few, many)
    assert len(reads.workarea(world.reader, reference="universe.a")["children"]) == 41


def test_access__fifty_grants__is_loaded_in_as_many_queries_as_two(world: World) -> None:
    few = cost(lambda: access.load(world.reader))
    for number in range(25):
        node = create_workarea(world.admin, parent="universe.b", leaf=f"n{number}")
        world.nodes[node.leaf] = node
        world.grant(world.reader, Capability.READER, on=node.leaf, deny=bool(number % 2))
    same_cost(few, cost(lambda: access.load(world.reader)))
    assert len(few) <= 3

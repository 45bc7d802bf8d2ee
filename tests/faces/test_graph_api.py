"""The scoped graph over ``/v1``: declared edges inside the read scope, far ends by id, held claims never."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.claims.actions.supersede import supersede_memory
from memory.claims.commands import VersionCommand
from memory.recall.models import ReadLog
from oml.core.actor import Actor
from tests.support.api import Api, refused
from tests.support.edges import Edges
from tests.support.world import World
from workareas.actions.simulations import close_simulation, create_simulation
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


class Graphs:
    """``graphs.of(…)`` is a graph answer; ``graphs.ids(…)`` the claims in it, in order."""

    def __init__(self, world: World, api: Api) -> None:
        self.world, self.api = world, api

    def ask(self, *, by: Actor | None = None, scope: str = "universe", **fields: Any) -> Any:
        return self.api.post("graph", {"scope": scope, **fields}, key=self.world.secret[by or self.world.reader])

    def of(self, **fields: Any) -> dict[str, Any]:
        answer = self.ask(**fields)
        assert answer.status_code == 200, answer.json()
        body: dict[str, Any] = answer.json()
        assert set(body) == {"claims", "edges", "truncated", "next_cursor"}
        assert body["truncated"] is (body["next_cursor"] is not None)
        return body

    def ids(self, **fields: Any) -> list[str]:
        return [claim["artifact_id"] for claim in self.of(**fields)["claims"]]


@pytest.fixture
def graphs(world: World, api: Api) -> Graphs:
    return Graphs(world, api)


def chain(world: World, length: int, *, on: str = "a") -> list[str]:
    """Claims of which each derives from the one before; promoted."""
    made = [world.promoted(on=on)]
    for _ in range(length - 1):
        made.append(world.learn(sources=[made[-1]], on=on))
        world.scan()
        world.ratify(made[-1])
    return made


def test_graph__of_a_scope__has_the_seeds_shapes(world: World, graphs: Graphs, api: Api) -> None:
    source = world.promoted()
    derived = world.learn(sources=[source])
    world.scan()
    world.ratify(derived)
    other = world.promoted(on="a.team")
    edges = Edges(world, api)
    edge = edges.proposed(source, other, label="contradicts")
    body = graphs.of(scope="universe.a")
    assert {tuple(sorted(claim)) for claim in body["claims"]} == {
        ("artifact_id", "claim_key", "kind", "state", "version", "workarea")
    }
    claim = next(claim for claim in body["claims"] if claim["artifact_id"] == derived)
    assert claim == {
        "artifact_id": derived,
        "claim_key": world.row(derived).claim_key,
        "version": 1,
        "kind": "derived_fact",
        "state": "promoted",
        "workarea": world.nodes["a"].pk,
    }
    assert body["edges"] == [
        {"kind": "derives_from", "from": derived, "to": source, "state": "declared"},
        {
            "kind": "connection",
            "label": "contradicts",
            "from": source,
            "to": other,
            "state": "pending",
            "edge_id": edge,
        },
    ]
    edges.judge(edges.serve(edge).json())
    assert graphs.of(scope="universe.a")["edges"][1]["state"] == "ratified"


def test_graph__from_roots__goes_as_many_steps_as_asked_both_ways(world: World, graphs: Graphs) -> None:
    links = chain(world, 7)
    middle = links[3]
    assert graphs.ids(roots=[middle], depth=0) == [middle]
    assert set(graphs.ids(roots=[middle])) == set(links[2:5])
    assert set(graphs.ids(roots=[middle], depth=2)) == set(links[1:6])
    assert graphs.ids(roots=[middle], depth=5)[0] == middle
    assert set(graphs.ids(roots=[links[0]], depth=5)) == set(links[:6])
    assert set(graphs.ids(roots=[links[0], links[6]], depth=1)) == {links[0], links[1], links[5], links[6]}


def test_graph__root_of_depth_zero__still_shows_its_edges_with_bodyless_ends(world: World, graphs: Graphs) -> None:
    links = chain(world, 3)
    body = graphs.of(roots=[links[1]], depth=0)
    assert [claim["artifact_id"] for claim in body["claims"]] == [links[1]]
    assert {(edge["from"], edge["to"]) for edge in body["edges"]} == {(links[1], links[0]), (links[2], links[1])}


def test_graph__without_roots__pages_the_subtree_newest_first_and_depth_does_not_matter(
    world: World, graphs: Graphs
) -> None:
    made = [world.promoted() for _ in range(5)]
    world.promoted(on="ab")
    assert graphs.ids(scope="universe.a") == made[::-1]
    assert graphs.ids(scope="universe.a", depth=5) == made[::-1]
    seen, cursor = [], {}
    while True:
        body = graphs.of(scope="universe.a", limit=2, **cursor)
        seen += [claim["artifact_id"] for claim in body["claims"]]
        if not body["truncated"]:
            break
        cursor = {"cursor": body["next_cursor"]}
    assert seen == made[::-1]


def test_graph__walk_in_pages__meets_every_claim_once_in_the_same_order(world: World, graphs: Graphs) -> None:
    links = chain(world, 6)
    whole = graphs.ids(roots=[links[0]], depth=5)
    seen, cursor = [], {}
    while True:
        body = graphs.of(roots=[links[0]], depth=5, limit=2, **cursor)
        seen += [claim["artifact_id"] for claim in body["claims"]]
        if not body["truncated"]:
            break
        cursor = {"cursor": body["next_cursor"]}
    assert seen == whole
    refused(graphs.ask(roots=[links[0]], depth=4, limit=2, **cursor), "request.validation", 400)
    refused(graphs.ask(roots=[links[1]], depth=5, limit=2, **cursor), "request.validation", 400)
    refused(graphs.ask(by=world.writer, roots=[links[0]], depth=5, limit=2, **cursor), "request.validation", 400)


def test_graph__claim_that_a_page_ended_with_is_gone__is_said_and_the_walk_never_begins_anew(
    world: World, graphs: Graphs, api: Api
) -> None:
    links = chain(world, 5)
    first = graphs.of(roots=[links[0]], depth=5, limit=2)
    last = first["claims"][-1]["artifact_id"]
    api.post(f"memories/{last}/erase", {"reason": "asked"}, key=world.secret[world.admin])
    answer = graphs.ask(roots=[links[0]], depth=5, limit=2, cursor=first["next_cursor"])
    assert refused(answer, "request.validation", 400)["param"] == "cursor"


@pytest.mark.parametrize("walked", [False, True])
def test_graph__paged__shows_each_edge_once_and_with_the_first_of_its_claims(
    world: World, graphs: Graphs, api: Api, walked: bool
) -> None:
    links = chain(world, 4)
    edges = Edges(world, api)
    for start, end in ((links[0], links[3]), (links[3], links[1]), (links[2], world.promoted(on="b"))):
        edges.proposed(start, end)
    asked: dict[str, Any] = {"scope": "universe.a"} | ({"roots": [links[0]], "depth": 5} if walked else {})
    whole = graphs.of(**asked, limit=500)
    pages, listed = [], set()
    cursor: dict[str, Any] = {}
    while True:
        page = graphs.of(**asked, limit=1, **cursor)
        listed |= {claim["artifact_id"] for claim in page["claims"]}
        assert all({edge["from"], edge["to"]} & listed for edge in page["edges"])
        pages.append(page)
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert [claim for page in pages for claim in page["claims"]] == whole["claims"]
    shown = [edge for page in pages for edge in page["edges"]]
    assert sorted(map(str, shown)) == sorted(map(str, whole["edges"]))
    first = pages[0]["claims"][0]["artifact_id"]
    assert {str(edge) for edge in pages[0]["edges"]} == {
        str(edge) for edge in whole["edges"] if first in (edge["from"], edge["to"])
    }


def test_graph__held_rejected_and_demoted_claims__never_appear_as_claims(
    world: World, graphs: Graphs, api: Api
) -> None:
    source = world.promoted()
    held, rejected = world.learn(sources=[source]), world.learn(sources=[source])
    world.scan()
    world.reject(rejected)
    demoted = world.learn(sources=[source])
    world.scan()
    world.ratify(demoted)
    api.post(f"memories/{demoted}/demote", {"reason": "old"}, key=world.secret[world.admin])
    body = graphs.of()
    assert [claim["artifact_id"] for claim in body["claims"]] == [source]
    assert held not in str(body)
    assert rejected not in str(body)
    assert body["edges"] == [{"kind": "derives_from", "from": demoted, "to": source, "state": "declared"}]
    assert graphs.ids(roots=[source], depth=5) == [source]


def test_graph__held_next_version__is_not_betrayed_by_an_edge(world: World, graphs: Graphs) -> None:
    first = world.promoted()
    second = supersede_memory(world.writer, command=VersionCommand(artifact=first, text="Newer."))["artifact_id"]
    assert second not in str(graphs.of())
    world.scan()
    world.ratify(second)
    body = graphs.of()
    assert [claim["artifact_id"] for claim in body["claims"]] == [second]
    assert body["edges"] == [{"kind": "supersedes", "from": second, "to": first, "state": "declared"}]


def test_graph__far_end_outside_the_read_scope__is_its_id_alone(world: World, graphs: Graphs) -> None:
    hidden = world.promoted(on="b", text="The hidden figure is 77.")
    derived = world.learn(sources=[hidden])
    world.scan()
    world.ratify(derived)
    world.deny(world.reader, Capability.READER, on="b")
    body = graphs.of()
    assert [claim["artifact_id"] for claim in body["claims"]] == [derived]
    assert body["edges"] == [{"kind": "derives_from", "from": derived, "to": hidden, "state": "declared"}]
    assert world.row(hidden).claim_key not in str(body)
    refused(graphs.ask(roots=[hidden]), "access.not_found", 404)
    assert graphs.ids(roots=[derived], depth=5) == [derived]


def test_graph__scope__covers_its_subtree_and_no_neighbour_that_begins_alike(world: World, graphs: Graphs) -> None:
    inside, below = world.promoted(on="a"), world.promoted(on="a.team")
    beside = world.promoted(on="ab")
    assert set(graphs.ids(scope="universe.a")) == {inside, below}
    assert set(graphs.ids(scope="universe.ab")) == {beside}
    refused(graphs.ask(scope="universe.a", roots=[beside]), "access.not_found", 404)


def test_graph__unknown_held_foreign_and_unreadable_root__are_one_answer_by_position(
    world: World, graphs: Graphs
) -> None:
    good, held = world.promoted(), world.submit()
    foreign = World.build("stranger").promoted()
    for bad in (held, foreign, "art_unknown", "x", "\u00e9"):
        error = refused(graphs.ask(roots=[good, bad]), "access.not_found", 404)
        assert error["message"] == "roots[1] names no claim readable by this key"
        assert error["param"] == "roots[1]"


def test_graph__ceilings__refuse_and_never_clamp(graphs: Graphs) -> None:
    refused(graphs.ask(depth=6), "limit.ceiling", 400)
    refused(graphs.ask(limit=501), "limit.ceiling", 400)
    for fields in ({"depth": -1}, {"limit": 0}, {"depth": "1"}, {"roots": "x"}, {"roots": ["a", "a"]}, {"cursor": "x"}):
        refused(graphs.ask(**fields), "request.validation", 400)
    refused(graphs.ask(roots=[f"art_{n}" for n in range(101)]), "request.validation", 400)
    assert graphs.of(depth=5, limit=500)["claims"] == []


def test_graph__walk_beyond_what_one_answer_may_meet__is_refused(
    world: World, graphs: Graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = chain(world, 4)
    monkeypatch.setattr("memory.graph.selectors.graph.MAX_VISITED", 3)
    assert refused(graphs.ask(roots=[links[0]], depth=5), "limit.ceiling", 400)["param"] == "depth"
    assert len(graphs.ids(roots=[links[0]], depth=2)) == 3


def test_graph__scope_it_may_not_read__is_refused_as_elsewhere(world: World, graphs: Graphs) -> None:
    refused(graphs.ask(scope="universe.nowhere"), "access.not_found", 404)
    refused(graphs.ask(by=world.key("reader", on="b"), scope="universe.a"), "access.not_found", 404)
    refused(graphs.ask(by=world.operator), "access.verb_ceiling", 403)


def test_graph__simulated_claim_and_its_edges__exist_inside_the_audience_alone(world: World, graphs: Graphs) -> None:
    inside = [world.writer.key_id, world.reviewer.key_id]
    simulation = create_simulation(world.admin, name="drill", audience=inside).pk
    source = world.promoted()
    simulated = world.learn(sources=[source], simulation_id=simulation)
    world.scan()
    world.ratify(simulated)
    assert simulated not in str(graphs.of())
    assert graphs.of(roots=[source])["edges"] == []
    refused(graphs.ask(roots=[simulated]), "access.not_found", 404)
    assert set(graphs.ids(by=world.writer)) == {source, simulated}
    close_simulation(world.admin, simulation=simulation)
    assert simulated not in str(graphs.of(by=world.writer))


def test_graph__read__is_logged_with_the_claims_it_returned(world: World, graphs: Graphs) -> None:
    links = chain(world, 2)
    graphs.of(scope="universe.a", roots=[links[0]])
    row = ReadLog.objects.filter(surface="graph").get()
    assert (row.key_id, row.workarea_id) == (world.reader.key_id, world.nodes["a"].pk)
    assert set(row.returned) == set(links)


def test_graph__many_claims__asks_as_many_queries_as_few(world: World, graphs: Graphs) -> None:
    chain(world, 2)
    with CaptureQueriesContext(connection) as few:
        graphs.of()
    chain(world, 6)
    with CaptureQueriesContext(connection) as many:
        graphs.of()
    assert len(many) == len(few)

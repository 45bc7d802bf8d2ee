"""``GET /v1/review/edges``: what awaits a reviewer of both ends, and the way from there to a verdict."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.api import Api, refused
from tests.support.world import World

pytestmark = pytest.mark.django_db


def propose(world: World, api: Api, label: str = "continues", *, start: str = "a", end: str = "b") -> str:
    if not hasattr(world, "proposer"):
        world.proposer = world.key("proposer")  # type: ignore[attr-defined]
    body = {"kind": "workarea", "label": label, "from": world.nodes[start].pk, "to": world.nodes[end].pk, "note": "q4"}
    response = api.post("edges", body, key=world.secret[world.proposer])  # type: ignore[attr-defined]
    assert response.status_code == 201, response.json()
    return str(response.json()["edge_id"])


def test_review_edges__a_pending_edge__is_listed_served_and_ratified(world: World, api: Api) -> None:
    edge = propose(world, api)
    key = world.secret[world.reviewer]
    listed = api.get("review/edges", key=key).json()
    assert [item["edge_id"] for item in listed["items"]] == [edge]
    assert "q4" not in str(listed)
    serve = api.post("review/serves", {"edge_id": edge}, key=key).json()
    assert serve["text"] == "q4"
    verdict = {"serve_id": serve["serve_id"], "content_digest": serve["content_digest"], "verdict": "ratify"}
    assert api.post("review/verdicts", verdict, key=key).json()["state"] == "ratified"
    assert api.get("review/edges", key=key).json()["items"] == []


def test_review_edges__reviewer_of_one_end__sees_nothing(world: World, api: Api) -> None:
    edge = propose(world, api)
    one_end = world.key("reviewer", on="a")
    assert api.get("review/edges", key=world.secret[one_end]).json()["total"] == 0
    refused(api.post("review/serves", {"edge_id": edge}, key=world.secret[one_end]), "access.not_found", 404)
    refused(api.get("review/edges", key=world.secret[world.reader]), "access.verb_ceiling", 403)


def test_review_edges__three_pages__list_each_edge_once_with_as_many_queries(world: World, api: Api) -> None:
    edges = [propose(world, api, label) for label in ("continues", "mirrors", "relates_to")]
    key = world.secret[world.reviewer]
    met, cursor, costs = [], None, set()
    for _ in edges:
        query = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        with CaptureQueriesContext(connection) as queries:
            page = api.get("review/edges", key=key, **query).json()
        costs.add(len(queries))
        met += [item["edge_id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert met == edges
    assert cursor is None
    assert len(costs) == 1

"""What a key may not see answers exactly like what does not exist: same request, same bytes, same headers (R3, D7).

Each request is sent while its reference names nothing, and again while the same id names something that belongs to
another tenant or lies out of this key's sight. The answers are compared byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory.claims.models import Artifact
from oml.core.actor import Actor
from oml.core.clock import now
from review.models import Serve
from tests.support.api import Api
from tests.support.world import World
from workareas.models import Key, Workarea

pytestmark = pytest.mark.django_db

NODE, ARTIFACT, SERVE, KEY = (f"{kind}_01JB2ZZZ8Z9K2M5P7R1VH3ND00" for kind in ("wa", "art", "srv", "key"))
MALFORMED = ["wa_x", "art", "x", "universe.nowhere", "UNIVERSE", "..", "%", "'; --", "é", "\u202e", "a" * 4000, "0"]

Ask = Callable[[Api, str, str], Any]


def answer(response: Any) -> tuple[int, bytes, dict[str, str]]:
    headers = {name.lower(): value for name, value in response.headers.items() if name.lower() != "x-request-id"}
    return response.status_code, response.content, headers


SUBMISSION = {"claim_key": "quote", "text": "A fact."}
OF_A_NODE: dict[str, tuple[str, Ask]] = {
    "workarea_info": ("reader", lambda api, key, ref: api.get(f"workareas/{ref}", key=key)),
    "recall": ("reader", lambda api, key, ref: api.post("recall", {"query": "x", "scope": ref}, key=key)),
    "events": ("reader", lambda api, key, ref: api.get("events", scope=ref, key=key)),
    "graph": ("reader", lambda api, key, ref: api.post("graph", {"scope": ref}, key=key)),
    "my_work": ("writer", lambda api, key, ref: api.get("my-work", workarea=ref, key=key)),
    "submit": ("writer", lambda api, key, ref: api.post("memories", {**SUBMISSION, "workarea": ref}, key=key)),
    "queue": ("reviewer", lambda api, key, ref: api.get("review/queue", workarea=ref, key=key)),
    "child": ("admin", lambda api, key, ref: api.post("workareas", {"parent": ref, "leaf": "x"}, key=key)),
    "status": (
        "admin",
        lambda api, key, ref: api.post(f"workareas/{ref}/status", {"status": "committed", "reason": "r"}, key=key),
    ),
    "policy": ("admin", lambda api, key, ref: api.post(f"workareas/{ref}/policy", {"min_verdicts": 2}, key=key)),
    "crew": ("admin", lambda api, key, ref: api.post(f"workareas/{ref}/crew", {"name": "crew"}, key=key)),
    "reassign": (
        "admin",
        lambda api, key, ref: api.post(f"workareas/{ref}/reassign", {"parent": "universe.b", "reason": "r"}, key=key),
    ),
    "edge_from": (
        "proposer",
        lambda api, key, ref: api.post(
            "edges", {"kind": "workarea", "label": "continues", "from": ref, "to": "universe.b"}, key=key
        ),
    ),
    "edge_to": (
        "proposer",
        lambda api, key, ref: api.post(
            "edges", {"kind": "workarea", "label": "continues", "from": "universe.b", "to": ref}, key=key
        ),
    ),
}
OF_AN_ARTIFACT: dict[str, tuple[str, Ask]] = {
    "read": ("reader", lambda api, key, ref: api.get(f"memories/{ref}", key=key)),
    "derives_from": (
        "writer",
        lambda api, key, ref: api.post(
            "memories", {**SUBMISSION, "workarea": "universe.b", "derives_from": [ref]}, key=key
        ),
    ),
    "graph_root": (
        "reader",
        lambda api, key, ref: api.post("graph", {"scope": "universe.b", "roots": [ref]}, key=key),
    ),
    "version": ("writer", lambda api, key, ref: api.post(f"memories/{ref}/versions", {"text": "New."}, key=key)),
    "withdraw": ("writer", lambda api, key, ref: api.post(f"memories/{ref}/withdraw", {}, key=key)),
    "serve": ("reviewer", lambda api, key, ref: api.post("review/serves", {"artifact_id": ref}, key=key)),
    "demote": ("admin", lambda api, key, ref: api.post(f"memories/{ref}/demote", {"reason": "r"}, key=key)),
    "erase": ("admin", lambda api, key, ref: api.post(f"memories/{ref}/erase", {"reason": "r"}, key=key)),
    "edge": (
        "proposer",
        lambda api, key, ref: api.post(
            "edges", {"kind": "claim", "label": "supports", "from": ref, "to": "art_other"}, key=key
        ),
    ),
}


@pytest.fixture
def other(db: None) -> World:
    return World.build("other", paths=("a", "b"))


@pytest.fixture
def caller(world: World) -> Callable[[str], str]:
    """The secret of a key of a kind that is granted on universe.b alone."""
    made: dict[str, Actor] = {}

    def secret(kind: str) -> str:
        if kind not in made:
            made[kind] = world.key(kind, on="b")
        return world.secret[made[kind]]

    return secret


def a_node(world: World) -> None:
    Workarea.objects.filter(pk=NODE).delete()
    above = world.nodes["a"]
    Workarea.objects.create(id=NODE, tenant_id=above.tenant_id, parent=above, leaf="z", path="universe.a.z")


def an_artifact(world: World, on: str, **fields: Any) -> None:
    Artifact.objects.filter(pk=ARTIFACT).delete()
    like = Artifact.objects.get(pk=world.submit(on=on))
    like.pk, like.claim_key = ARTIFACT, "the-artifact"
    for name, value in fields.items():
        setattr(like, name, value)
    like.save(force_insert=True)


@pytest.mark.parametrize("name", OF_A_NODE)
def test_node__unknown_unreadable_and_foreign__answer_the_same_bytes(
    world: World, other: World, api: Api, caller: Callable[[str], str], name: str
) -> None:
    kind, ask = OF_A_NODE[name]
    key = caller(kind)
    unknown = answer(ask(api, key, NODE))
    assert unknown[0] == 404 and b'"access.not_found"' in unknown[1]
    assert NODE.encode() in unknown[1] or name.startswith("edge")
    for place in (world, other):
        a_node(place)
        assert answer(ask(api, key, NODE)) == unknown


@pytest.mark.parametrize("name", OF_AN_ARTIFACT)
def test_artifact__unknown_held_ended_unreadable_and_foreign__answer_the_same_bytes(
    world: World, other: World, api: Api, caller: Callable[[str], str], name: str
) -> None:
    kind, ask = OF_AN_ARTIFACT[name]
    key = caller(kind)
    unknown = answer(ask(api, key, ARTIFACT))
    assert unknown[0] == 404 and b'"access.not_found"' in unknown[1]
    promoted = {"state": "promoted", "promoted_at": now()}
    invisible: list[tuple[World, str, dict[str, Any]]] = [
        (world, "a", {}),
        (world, "a", promoted),
        (other, "b", {}),
        (other, "b", promoted),
    ]
    if name not in {"serve", "demote", "erase"}:  # whose holders may know of what is held on their own node
        invisible += [
            (world, "b", {}),
            (world, "b", {"state": "rejected", "cause": "verdict"}),
            (world, "b", {"state": "erased", "text": None, "commitment_salt": None}),
        ]
    for place, on, fields in invisible:
        an_artifact(place, on, **fields)
        assert answer(ask(api, key, ARTIFACT)) == unknown, (on, fields)


def test_serve__unknown_another_s_and_foreign__answer_the_same_bytes(
    world: World, other: World, api: Api, caller: Callable[[str], str]
) -> None:
    body = {"serve_id": SERVE, "content_digest": "0" * 64, "verdict": "ratify"}
    key = caller("reviewer")
    unknown = answer(api.post("review/verdicts", body, key=key))
    assert unknown[0] == 404
    for place in (world, other):
        artifact = place.submit(on="b")
        place.scan()
        serve = place.serve(artifact)
        Serve.objects.filter(pk=serve.pk).delete()
        serve.pk = SERVE
        serve.save(force_insert=True)
        assert answer(api.post("review/verdicts", body, key=key)) == unknown
        Serve.objects.filter(pk=SERVE).delete()


@pytest.mark.parametrize("act", ["rotate", "revoke"])
def test_key__unknown_and_foreign__answer_the_same_bytes(world: World, other: World, api: Api, act: str) -> None:
    key = world.secret[world.admin]
    body = {"reason": "r"} if act == "revoke" else {}
    unknown = answer(api.post(f"keys/{KEY}/{act}", body, key=key))
    assert unknown[0] == 404
    like = Key.objects.get(pk=other.reader.key_id)
    like.pk, like.secret_digest = KEY, b"0" * 32
    like.save(force_insert=True)
    assert answer(api.post(f"keys/{KEY}/{act}", body, key=key)) == unknown


def test_explain__unknown_and_foreign_key__answer_the_same_bytes(world: World, other: World, api: Api) -> None:
    ask = lambda: answer(  # noqa: E731
        api.get("access/explain", key=world.secret[world.admin], verb="read", workarea="universe.a")
    )
    assert ask()[0] == 400  # the key is a field of this request
    asked = {"verb": "read", "workarea": "universe.a", "key": KEY}
    unknown = answer(api.client.get("/v1/access/explain", asked, headers=bearer(world)))
    assert unknown[0] == 404
    like = Key.objects.get(pk=other.reader.key_id)
    like.pk, like.secret_digest = KEY, b"0" * 32
    like.save(force_insert=True)
    assert answer(api.client.get("/v1/access/explain", asked, headers=bearer(world))) == unknown


def bearer(world: World) -> dict[str, str]:
    return {"Authorization": f"Bearer {world.secret[world.admin]}"}


@pytest.mark.parametrize("name", ["recall", "events", "my_work", "submit", "queue", "graph"])
def test_node__malformed_references__differ_from_an_unknown_id_in_nothing_but_what_was_sent(
    world: World, api: Api, caller: Callable[[str], str], name: str
) -> None:
    kind, ask = OF_A_NODE[name]
    key = caller(kind)
    unknown = ask(api, key, NODE).json()
    for reference in MALFORMED:
        response = ask(api, key, reference)
        assert response.status_code == 404, reference
        expected = {**unknown["error"], "message": unknown["error"]["message"].replace(NODE, reference)}
        assert response.json() == {"error": expected}

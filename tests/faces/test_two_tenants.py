"""Tenant A cannot tell whether tenant B exists: its answers are the same bytes before B, with B, and after B acts."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.support.world import World
from workareas.actions.bans import add_ban

pytestmark = pytest.mark.django_db


def transcript(client: Client, world: World, artifact: str) -> list[tuple[str, int, bytes]]:
    """What one tenant's keys read, everywhere, as bytes."""
    said = []

    def ask(actor: object, method: str, path: str, body: object = None) -> None:
        headers = {"Authorization": f"Bearer {world.secret[actor]}"}  # type: ignore[index]
        if method == "GET":
            answer = client.get(f"/v1/{path}", headers=headers)
        else:
            answer = client.post(f"/v1/{path}", json.dumps(body), content_type="application/json", headers=headers)
        said.append((path, answer.status_code, answer.content))

    for actor in (world.reader, world.writer, world.reviewer, world.admin):
        ask(actor, "POST", "recall", {"query": "aluminium quote", "scope": "universe", "k": 50, "explain": True})
        ask(actor, "POST", "graph", {"scope": "universe"})
        ask(actor, "POST", "graph", {"scope": "universe", "roots": [artifact], "depth": 3})
        ask(actor, "GET", "workareas/universe.a")
        ask(actor, "GET", f"memories/{artifact}")
        ask(actor, "GET", "events?scope=universe&after_seq=0&limit=500")
        ask(actor, "GET", "my-work")
        ask(actor, "GET", "workareas/universe.only-in-b")
    ask(world.reviewer, "GET", "review/queue")
    ask(world.reviewer, "GET", "review/edges")
    ask(world.admin, "GET", "bans")
    return said


def test_tenant_a__before_and_after_a_busy_tenant_b__answers_the_same_bytes(client: Client) -> None:
    mine = World.build("acme")
    source = mine.promoted(text="Accra Metals quoted 412 USD/t for aluminium.", claim_key="quote")
    learnt = mine.learn(sources=[source], text="Accra Metals is the aluminium price anchor.", claim_key="anchor")
    mine.scan()
    mine.ratify(learnt)
    mine.submit(text="An aluminium quote that waits.", claim_key="waits")
    mine.scan()
    alone = transcript(client, mine, learnt)

    other = World.build("other", paths=("a", "a.team", "b", "only-in-b"))
    theirs = other.promoted(text="Accra Metals quoted 999 USD/t for aluminium.", claim_key="quote")
    other.submit(text="An aluminium quote of the other tenant.", claim_key="waits", on="only-in-b")
    other.scan()
    add_ban(other.admin, kind="artifact", value=theirs, reason="theirs")
    together = transcript(client, mine, learnt)

    assert [entry[:2] for entry in together] == [entry[:2] for entry in alone]
    for before, after in zip(alone, together, strict=True):
        assert after == before, before[0]


def test_tenant_b__with_every_id_of_tenant_a__is_told_what_unknown_ids_are_told(client: Client) -> None:
    mine, other = World.build("acme"), World.build("other")
    artifact = mine.promoted(text="Accra Metals quoted 412 USD/t.")
    headers = {"Authorization": f"Bearer {other.secret[other.admin]}"}
    for kind, real in (("memories", artifact), ("workareas", mine.nodes["a"].pk)):
        unknown = real[:-1] + ("0" if real[-1] != "0" else "1")
        told = [client.get(f"/v1/{kind}/{name}", headers=headers) for name in (real, unknown)]
        assert [answer.status_code for answer in told] == [404, 404]
        assert told[0].content.replace(real.encode(), b"") == told[1].content.replace(unknown.encode(), b"")

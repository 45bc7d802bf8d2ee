"""Held, rejected and erased text is in no answer of any read route to anybody; a served reviewer reads it (R3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from oml.core.actor import Actor
from tests.support.api import Api
from tests.support.world import World

pytestmark = pytest.mark.django_db

CANARY = "Zanzibar quoted 412 ducats for the copper."
WORDS = ("Zanzibar", "ducats")


def everything_readable(api: Api, key: str, artifact: str) -> Iterator[tuple[str, Any]]:
    """Every read of /v1, asked in the way that is most likely to find the text."""
    yield "recall", api.post("recall", {"query": CANARY, "scope": "universe", "k": 50, "explain": True}, key=key)
    yield "recall here", api.post("recall", {"query": CANARY, "scope": "universe.a"}, key=key)
    yield "artifact", api.get(f"memories/{artifact}", key=key)
    yield "my_work", api.get("my-work", key=key)
    yield "queue", api.get("review/queue", key=key)
    yield "queue by key", api.get("review/queue", key=key, claim_key="secret-claim")
    yield "tail", api.get("events", key=key, scope="universe", after_seq=0, limit=500)
    yield "graph", api.post("graph", {"scope": "universe"}, key=key)
    yield "graph root", api.post("graph", {"scope": "universe", "roots": [artifact]}, key=key)
    yield "workarea", api.get("workareas/universe.a", key=key)
    yield "keys", api.get("keys", key=key)
    yield "bans", api.get("bans", key=key)
    yield "withdraw", api.post(f"memories/{artifact}/demote", {"reason": "try"}, key=key)


def nowhere(world: World, api: Api, artifact: str, *actors: Actor) -> None:
    for actor in actors:
        for name, response in everything_readable(api, world.secret[actor], artifact):
            assert response.status_code < 500
            body = response.content.decode()
            assert not any(word in body for word in WORDS), (name, actor.role)


def everybody(world: World) -> list[Actor]:
    return [world.reader, world.writer, world.writer2, world.reviewer, world.admin, world.operator]


@pytest.mark.parametrize("scanned", [False, True])
def test_held__is_in_no_answer_to_anybody(world: World, api: Api, scanned: bool) -> None:
    artifact = world.submit(text=CANARY, claim_key="secret-claim")
    if scanned:
        world.scan()
    nowhere(world, api, artifact, *everybody(world))


def test_held__its_very_id_and_key__are_known_to_author_and_reviewers_alone(world: World, api: Api) -> None:
    artifact = world.submit(text=CANARY, claim_key="secret-claim")
    world.scan()
    for actor in (world.reader, world.writer2, world.key("proposer"), world.admin):
        for name, response in everything_readable(api, world.secret[actor], artifact):
            if name not in {"artifact", "graph root", "withdraw"}:  # which echo the id that was sent
                assert artifact not in response.content.decode(), name
            assert "secret-claim" not in response.content.decode(), name


def test_held__served__is_read_by_that_reviewer_in_the_serve_and_nowhere_else(world: World, api: Api) -> None:
    artifact = world.submit(text=CANARY, claim_key="secret-claim")
    world.scan()
    served = api.post("review/serves", {"artifact_id": artifact}, key=world.secret[world.reviewer])
    assert served.json()["text"] == CANARY
    nowhere(world, api, artifact, *everybody(world), world.reviewer2)


def test_serve_refused__says_nothing_of_the_text(world: World, api: Api) -> None:
    artifact = world.submit(text=CANARY, claim_key="secret-claim")
    author = world.key("reviewer", principal=world.writer.principal_id)
    for actor in (author, world.reviewer, world.key("reviewer", on="b")):
        response = api.post("review/serves", {"artifact_id": artifact}, key=world.secret[actor])
        assert response.status_code >= 400
        assert not any(word in response.content.decode() for word in WORDS)


def test_rejected__stays_invisible_to_everybody(world: World, api: Api) -> None:
    artifact = world.submit(text=CANARY, claim_key="secret-claim")
    world.scan()
    world.reject(artifact)
    nowhere(world, api, artifact, *everybody(world))


def test_promoted_then_demoted__leaves_every_answer(world: World, api: Api) -> None:
    artifact = world.promoted(text=CANARY, claim_key="secret-claim")
    found = api.post("recall", {"query": CANARY, "scope": "universe"}, key=world.secret[world.reader])
    assert [hit["artifact_id"] for hit in found.json()["hits"]] == [artifact]
    demote_memory(world.admin, artifact=artifact, reason="wrong")
    nowhere(world, api, artifact, *everybody(world))


def test_new_version_held__the_promoted_one_keeps_serving_and_the_new_text_is_nowhere(world: World, api: Api) -> None:
    old = world.promoted(text="Zanzibar quoted 400 for the copper.", claim_key="quote")
    answer = api.post(f"memories/{old}/versions", {"text": "Withdrawn: 999 guilders."}, key=world.secret[world.writer])
    assert answer.status_code == 201
    world.scan()
    for actor in everybody(world):
        for name, response in everything_readable(api, world.secret[actor], answer.json()["artifact_id"]):
            assert "guilders" not in response.content.decode(), name
    read = api.get(f"memories/{old}", key=world.secret[world.reader])
    assert read.json()["text"] == "Zanzibar quoted 400 for the copper."


def test_erased__is_in_no_column_of_the_database(world: World, api: Api) -> None:
    artifact = world.promoted(text=CANARY, claim_key="secret-claim", idempotency_key="run-1")
    api.post("recall", {"query": CANARY, "scope": "universe"}, key=world.secret[world.reader])
    erase_memory(world.admin, artifact=artifact, reason="the ducats must go")
    nowhere(world, api, artifact, *everybody(world))
    assert columns_holding("Zanzibar") == [] and columns_holding("ducats") == []


def columns_holding(word: str) -> list[str]:
    """Every text-like column of every table in which a word stands."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' "
            "AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')"
        )
        for table, column in cursor.fetchall():
            cursor.execute(f'SELECT count(*) FROM "{table}" WHERE "{column}"::text ILIKE %s', [f"%{word}%"])
            (count,) = cursor.fetchone()
            if count:
                found.append(f"{table}.{column}")
    return found


def test_columns_holding__before_the_erasure__does_find_the_text(world: World) -> None:
    """The search itself can fail; this is what shows that it does not."""
    world.promoted(text=CANARY)
    assert "memory_artifact.text" in columns_holding("Zanzibar")

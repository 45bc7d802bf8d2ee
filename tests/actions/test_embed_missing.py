"""Vectors that come late, while somebody ends the text they are made of."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db import connection

from memory.claims.actions.lifecycle import erase_memory
from memory.claims.states import State
from memory.recall import index
from memory.recall.embedders import EmbedderUnavailable, embedder, substitute
from memory.recall.models import Passage, ServingRow
from oml.core.actor import Actor
from tests.support.world import World


class Away:
    """An embedder that is down."""

    model_id = "away"

    def embed(self, texts: Sequence[str]) -> Any:
        raise EmbedderUnavailable

    def windows(self, text: str) -> list[str]:
        return [text]

    def knows(self, text: str) -> float:
        return 1.0


class Interrupted:
    """The real embedder, in whose first call an admin erases an artifact."""

    def __init__(self, real: Any, admin: Actor, artifact: str) -> None:
        self.real, self.admin, self.artifact = real, admin, artifact
        self.model_id = real.model_id
        self.other: threading.Thread | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        if self.other is None:
            self.other = threading.Thread(target=self._erase)
            self.other.start()
            self.other.join(1)  # as far as it gets: it must wait for us, and must not if we held nothing
        return self.real.embed(texts)

    def windows(self, text: str) -> list[str]:
        return list(self.real.windows(text))

    def knows(self, text: str) -> float:
        return float(self.real.knows(text))

    def _erase(self) -> None:
        try:
            erase_memory(self.admin, artifact=self.artifact, reason="asked for")
        finally:
            connection.close()


@pytest.fixture
def real() -> Iterator[Any]:
    made = embedder("minilm")
    yield made
    substitute("minilm", made)


@pytest.mark.django_db(transaction=True)
def test_embed_missing__text_erased_while_it_is_embedded__no_vector_of_it_stays(real: Any) -> None:
    world = World.build("acme")
    substitute("minilm", Away())
    artifact = world.promoted(text="Accra undercut every other supplier. It was cheap.")
    assert ServingRow.objects.get().embedding is None

    interrupted = Interrupted(real, world.admin, artifact)
    substitute("minilm", interrupted)
    index.embed_missing()
    assert interrupted.other is not None
    interrupted.other.join(30)
    assert world.row(artifact).state == State.ERASED
    assert (ServingRow.objects.count(), Passage.objects.count()) == (0, 0)


@pytest.mark.django_db
def test_embed_missing__more_than_one_batch__all_up_to_the_limit(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_AT_ONCE", 2)
    world = World.build("acme")
    substitute("minilm", Away())
    for number in range(5):
        world.submit(text=f"Fact number {number}.")
    world.scan()
    substitute("minilm", real)
    assert index.embed_missing(limit=3) == 3
    assert index.embed_missing() == 2
    assert not ServingRow.objects.filter(embedding=None).exists()


@pytest.mark.django_db
def test_embed_missing__embedder_still_away__ends_and_leaves_them_for_later(real: Any) -> None:
    world = World.build("acme")
    substitute("minilm", Away())
    world.submit()
    world.scan()
    assert index.embed_missing(limit=4) <= 4
    assert ServingRow.objects.filter(embedding=None).count() == 1

"""Random days of several identities' runs against a small model: who sees what, after each act (R3, quality).

The model is written from the page and shares no code with the product: private rows by (identity, space), shared rows
by space with what was ratified last, held writes waiting.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest
from django.db import transaction

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.runs.rules import Scope
from tests.support.runs import AgentRun, begin, register
from tests.support.world import World

pytestmark = pytest.mark.django_db

ACTS = 60
SPACES = ("a", "b")
KEYS = ("goals", "persona", "checkpoint")
Place = tuple[str, str]


class Model:
    """What the page says is kept."""

    def __init__(self) -> None:
        self.slots: dict[Place, dict[str, Any]] = defaultdict(dict)
        self.notes: dict[Place, list[str]] = defaultdict(list)
        self.shared_slots: dict[str, dict[str, tuple[str, Any]]] = defaultdict(dict)
        self.shared_notes: dict[str, dict[str, str]] = defaultdict(dict)
        self.held: dict[str, tuple[str, str | None, Any, str]] = {}

    def sees(self, who: str, space: str) -> dict[str, Any]:
        everybodys = {key: value for key, (_, value) in self.shared_slots[space].items()}
        view = everybodys | self.slots[who, space]
        view.pop("checkpoint", None)
        return view

    def recalls(self, who: str, space: str) -> list[str]:
        return sorted([*self.notes[who, space], *self.shared_notes[space].values()])


class Day:
    """One tenant, three identities, two spaces, one agent."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.world = World.build(f"state-{seed}", paths=SPACES)
        register(self.world)
        self.people = {"one": self.world.writer, "two": self.world.writer2, "three": self.world.key("writer")}
        self.model, self.texts = Model(), 0

    def act(self) -> None:
        acts = [self.pin, self.note, self.pin, self.note, self.share, self.share, self.ratify, self.ratify, self.end]
        self.chance.choice(acts)()

    def run(self) -> tuple[str, str, AgentRun]:
        who, space = self.chance.choice(sorted(self.people)), self.chance.choice(SPACES)
        return who, space, begin(self.world, self.people[who], on=space)

    def text(self) -> str:
        self.texts += 1
        return f"text {self.texts} {self.chance.choice(['100%', 'a_b', chr(39), 'é'])}"

    def pin(self) -> None:
        who, space, run = self.run()
        key, value = self.chance.choice(KEYS), self.chance.choice([self.text(), [1], None])
        run.pin(key, value)
        self.model.slots[who, space][key] = value

    def note(self) -> None:
        who, space, run = self.run()
        text = self.text()
        run.note(text)
        self.model.notes[who, space].append(text)

    def share(self) -> None:
        who, space, run = self.run()
        text = self.text()
        if self.chance.random() < 0.5:
            key = self.chance.choice(KEYS)
            artifact = run.pin(key, text, scope=Scope.SHARED)["artifact_id"]
            replaced = [one for one, (at, its, _, by) in self.model.held.items() if (at, its, by) == (space, key, who)]
            for one in replaced:
                del self.model.held[one]
        else:
            key = None
            artifact = run.note(text, scope=Scope.SHARED)["artifact_id"]
        self.model.held[artifact] = (space, key, text, who)

    def ratify(self) -> None:
        if not self.model.held:
            return
        self.world.scan()
        artifact = self.chance.choice(sorted(self.model.held))
        space, key, text, _ = self.model.held.pop(artifact)
        if self.chance.random() < 0.3:
            self.world.reject(artifact)
        else:
            self.world.ratify(artifact)
            if key is None:
                self.model.shared_notes[space][artifact] = text
            else:
                self.model.shared_slots[space][key] = (artifact, text)

    def end(self) -> None:
        served = [(artifact, space, None) for space in SPACES for artifact in self.model.shared_notes[space]]
        served += [(one, space, key) for space in SPACES for key, (one, _) in self.model.shared_slots[space].items()]
        if not served:
            return
        artifact, space, key = self.chance.choice(sorted(served, key=str))
        self.chance.choice([demote_memory, erase_memory])(self.world.admin, artifact=artifact, reason="over")
        if key is None:
            del self.model.shared_notes[space][artifact]
        else:
            del self.model.shared_slots[space][key]

    def compare(self) -> int:
        compared = 0
        for who in self.people:
            for space in SPACES:
                run = begin(self.world, self.people[who], on=space)
                assert run.sees() == self.model.sees(who, space), (who, space)
                assert sorted(run.recalls(limit=50)) == self.model.recalls(who, space)[:50], (who, space)
                compared += 2
        return compared


@pytest.mark.parametrize("seed", range(2))
def test_agent_state__random_days_of_runs_and_verdicts__shows_each_identity_what_the_page_says(seed: int) -> None:
    with transaction.atomic():
        day = Day(seed)
        compared = 0
        for number in range(ACTS):
            day.act()
            try:
                compared += day.compare()
            except AssertionError as difference:
                raise AssertionError(f"seed {seed}, act {number}: {difference}") from difference
        assert compared == ACTS * len(day.people) * len(SPACES) * 2
        assert day.texts > ACTS // 2
        transaction.set_rollback(True)

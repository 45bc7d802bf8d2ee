"""Access replayed from records alone, without a database: the tree, grants, revocations, humans and their groups."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from oml.core.actor import Role
from workareas.replay import Replay, replayed
from workareas.verbs import Capability

READER, WRITER, REVIEW, ADMIN = Capability.READER, Capability.WRITER, Capability.REVIEW, Capability.ADMIN


class Journal:
    """Records as ``append`` writes them, as far as access is concerned."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.epoch = 0
        self._numbers = itertools.count(1)

    def add(
        self,
        event_type: str,
        subject: dict[str, Any],
        *,
        workarea: str | None = None,
        raises: bool = True,
        **payload: Any,
    ) -> None:
        self.epoch += raises
        self.records.append(
            {
                "seq": len(self.records) + 1,
                "event_type": event_type,
                "permission_epoch": self.epoch,
                "workarea": workarea,
                "subject": subject,
                "payload": payload,
            }
        )

    def node(self, node: str, parent: str | None) -> None:
        self.add("workarea.created", {"workarea": node}, workarea=node, raises=False, parent=parent, leaf=node)

    def key(self, key: str, role: Role, *, interactive: bool = False) -> None:
        self.add(
            "key.issued",
            {"key_id": key},
            principal_id=f"pri_{key}",
            role=str(role),
            interactive=interactive,
            expires_at=None,
        )

    def grant(self, key: str, node: str, capability: Capability, effect: str = "allow") -> str:
        grant = f"gr_{next(self._numbers)}"
        fields = {"key_id": key, "capability": str(capability), "effect": effect}
        self.add("grant.added", {"grant_id": grant}, workarea=node, **fields)
        return grant

    def human(self, holder: str, node: str, permission: str, *, held: bool = True) -> None:
        kind = "human_access.set" if held else "human_access.unset"
        self.add(kind, {"holder": holder}, workarea=node, permission=permission)

    def told(self, epoch: int | None = None) -> Replay:
        return replayed(self.records, epoch=epoch)


@pytest.fixture
def journal() -> Journal:
    """universe › a › team and universe › ab, with a writer and a human reviewer."""
    told = Journal()
    told.node("universe", None)
    for node, parent in (("a", "universe"), ("team", "a"), ("ab", "universe")):
        told.node(node, parent)
    told.key("writer", Role.WRITER)
    told.key("rosa", Role.DREAMER, interactive=True)
    return told


def test_effective__granted_above__holds_below_and_not_beside(journal: Journal) -> None:
    journal.grant("writer", "a", READER)
    told = journal.told()
    assert [told.effective("writer", node) for node in ("universe", "a", "team", "ab")] == [
        frozenset(),
        {READER},
        {READER},
        frozenset(),
    ]


def test_effective__denied_anywhere_above__beats_every_allow_until_it_is_taken_back(journal: Journal) -> None:
    journal.grant("writer", "team", WRITER)
    deny = journal.grant("writer", "universe", WRITER, "deny")
    assert journal.told().effective("writer", "team") == frozenset()
    journal.add("grant.removed", {"grant_id": deny}, workarea="universe")
    assert journal.told().effective("writer", "team") == {WRITER}


def test_effective__above_the_roles_ceiling__is_nothing(journal: Journal) -> None:
    journal.grant("writer", "a", ADMIN)
    assert journal.told().effective("writer", "a") == frozenset()


def test_effective__at_every_epoch__is_what_held_then(journal: Journal) -> None:
    start = journal.epoch
    journal.grant("writer", "a", READER)
    journal.grant("writer", "a", WRITER)
    journal.grant("writer", "team", WRITER, "deny")
    journal.add("workarea.reassigned", {"workarea": "team"}, workarea="team", old_parent="a", new_parent="ab")
    journal.add("key.revoked", {"key_id": "writer"})
    told = [journal.told(epoch).effective("writer", "team") for epoch in range(start, journal.epoch + 1)]
    assert told == [frozenset(), {READER}, {READER, WRITER}, {READER}, frozenset(), frozenset()]
    assert [journal.told(start + 3).path_of("team"), journal.told(start + 4).path_of("team")] == [
        "universe.a.team",
        "universe.ab.team",
    ]


def test_replayed__acts_that_raise_no_epoch__belong_to_the_epoch_they_happened_in(journal: Journal) -> None:
    journal.grant("writer", "a", READER)
    epoch = journal.epoch
    journal.node("later", "a")
    journal.add("submission.remember", {"artifact_id": "art_1"}, workarea="a", raises=False)
    journal.grant("writer", "a", READER, "deny")
    told = journal.told(epoch)
    assert (told.effective("writer", "later"), told.epoch, told.seq) == ({READER}, epoch, len(journal.records) - 1)


def test_effective__human_permission__binds_the_interactive_key_alone(journal: Journal) -> None:
    journal.add(
        "key.issued",
        {"key_id": "agent-of-rosa"},
        principal_id="pri_rosa",
        role="dreamer",
        interactive=False,
        expires_at=None,
    )
    journal.human("pri_rosa", "a", "review")
    journal.human("pri_rosa", "a", "persistence_read")
    told = journal.told()
    assert told.effective("rosa", "team") == {REVIEW}
    assert told.effective("agent-of-rosa", "team") == frozenset()
    journal.human("pri_rosa", "team", "deny_review")
    assert journal.told().effective("rosa", "team") == frozenset()
    assert journal.told().effective("rosa", "a") == {REVIEW}
    journal.human("pri_rosa", "team", "deny_review", held=False)
    journal.human("pri_rosa", "a", "review", held=False)
    assert journal.told().effective("rosa", "a") == frozenset()


def test_effective__permission_of_a_group__binds_while_somebody_is_in_it(journal: Journal) -> None:
    journal.human("group:7", "a", "read")
    assert journal.told().effective("rosa", "a") == frozenset()
    journal.human("pri_rosa", "universe", "group:7")
    assert journal.told().effective("rosa", "team") == {READER}
    assert [rule.source for rule in journal.told().rules_of("rosa")] == ["permission of a group: read"]
    journal.human("pri_rosa", "universe", "group:7", held=False)
    assert journal.told().effective("rosa", "team") == frozenset()


def test_replay__what_there_was_not__is_nothing(journal: Journal) -> None:
    told = journal.told(0)
    assert (told.role_of("writer"), told.path_of("nowhere"), told.find("universe.x")) == (None, None, None)
    assert told.effective("writer", "a") == frozenset()
    assert told.rules_of("writer") == []
    assert journal.told().find("universe.a.team") == "team"

"""A signed-in human who inspects an agent's state over the seed's four routes, and the state there is to inspect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memory.runs.models import AgentMemory
from memory.runs.rules import Scope
from oml.core.actor import Actor, Channel, Role
from tests.support.people import Human, human
from tests.support.runs import begin
from tests.support.world import World
from workareas.actions.keys import GrantSpec, issue_key
from workareas.actions.space_roles import set_space_role
from workareas.authentication import actor_of_key
from workareas.space_roles import SpaceRole
from workareas.verbs import Capability

STATE = "/api/agents/@acme/support-triage/persistence"


@dataclass
class Inspector:
    """A human with a preset role in space ``a``; calls carry cookie and both headers."""

    world: World
    human: Human
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.headers = {"X-Org-Id": self.world.admin.tenant_id, "X-Space-Id": self.world.nodes["a"].pk}

    @property
    def principal(self) -> str:
        return self.human.actor.principal_id

    def call(self, method: str, path: str = STATE, *, headers: dict[str, str] | None = None, **query: Any) -> Any:
        sent = self.headers if headers is None else headers
        return self.human.client.generic(method, path, headers=sent, query_params=query)

    def lists(self, **query: Any) -> dict[str, Any]:
        answer = self.call("GET", **query)
        assert answer.status_code == 200, answer.content
        body: dict[str, Any] = answer.json()
        return body

    def sees(self, **query: Any) -> set[tuple[str, Any]]:
        """(key or ``note``, content) of every row listed."""
        body = self.lists(**query)
        return {(row.get("key", "note"), row["content"]) for rows in body.values() for row in rows}


def inspector(world: World, role: SpaceRole | None, *, name: str = "vera", reads: bool = True) -> Inspector:
    """Enrol and sign in a human with a role in space ``a``, and with reader access there unless told otherwise."""
    made = human(world, "reader", name=name, on="a" if reads else None)
    if role is not None:
        set_space_role(world.admin, principal=made.actor.principal_id, workarea=world.nodes["a"].pk, role=role)
    return Inspector(world, made)


def fill(world: World, own: Inspector) -> None:
    """State of the inspector, of another actor, and shared; one shared write awaits a verdict."""
    for actor, whose in ((own.human.actor, "mine"), (world.writer, "theirs")):
        run = begin(world, actor)
        run.pin("persona", whose)
        run.pin("checkpoint", whose)
        run.note(f"note {whose}")
        run.finish()
    share(world, "quirks", "shared")
    share(world, None, "note shared")
    begin(world, world.writer2).pin("quirks", "held", scope=Scope.SHARED)


def share(world: World, key: str | None, content: Any) -> int:
    """A shared slot or note, ratified; returns the row's id."""
    run = begin(world)
    made = run.pin(key, content, scope=Scope.SHARED) if key else run.note(content, scope=Scope.SHARED)
    world.scan()
    world.ratify(made["artifact_id"])
    return AgentMemory.objects.get(writes__artifact=made["artifact_id"]).pk


def row_of(key: str | None, actor_id: str | None) -> int:
    """The id of a private row, or of a shared one where nobody is named."""
    scope = Scope.SHARED if actor_id is None else Scope.ACTOR
    return AgentMemory.objects.get(key=key, actor_id=actor_id, scope=scope).pk


def writing_as(world: World, own: Inspector) -> Actor:
    """A key of the inspector's own principal that may write in space ``a``."""
    grants = [GrantSpec("universe.a", capability) for capability in (Capability.READER, Capability.WRITER)]
    issued = issue_key(world.admin, principal=own.principal, role=Role.WRITER, grants=grants)
    return actor_of_key(issued.key.pk, channel=Channel.HTTP)

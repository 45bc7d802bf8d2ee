"""An agent of a world, and its runs, with verbs that read as sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memory.runs.actions.agents import register_agent
from memory.runs.actions.runs import finish_run, start_run
from memory.runs.actions.write import note, pin
from memory.runs.commands import HistoryQuery, NoteCommand, PinCommand, RecallQuery
from memory.runs.rules import Scope
from memory.runs.selectors.notes import recall_memory
from memory.runs.selectors.runs import run_context, run_history
from memory.runs.tokens import RunActor, authenticate_run
from oml.core.actor import Actor, Channel
from tests.support.world import World

AGENT = "@acme/support-triage"


@dataclass
class AgentRun:
    """One running run; ``token`` opens ``/mcp/run``."""

    world: World
    by: Actor
    token: str
    id: str
    context: str
    actor: RunActor = field(init=False)

    def __post_init__(self) -> None:
        self.actor = authenticate_run(f"Bearer {self.token}", channel=Channel.MCP)

    def pin(self, key: str, content: Any, *, scope: Scope = Scope.ACTOR, **more: Any) -> dict[str, Any]:
        return pin(self.actor, command=PinCommand(key, content, scope, **more))

    def note(self, content: str, *, scope: Scope = Scope.ACTOR, **more: Any) -> dict[str, Any]:
        return note(self.actor, command=NoteCommand(content, scope, **more))

    def recalls(self, query: str = "", **more: Any) -> list[Any]:
        found = recall_memory(self.actor, query=RecallQuery(query, **more))
        return [memory["content"] for memory in found["memories"]]

    def history(self, **more: Any) -> dict[str, Any]:
        return run_history(self.actor, query=HistoryQuery(**more))

    def sees(self) -> dict[str, Any]:
        """The flat view of what is pinned, by key."""
        return {slot["key"]: slot["content"] for slot in run_context(self.by, run=self.id)["slots"]}

    def prompt(self) -> str:
        return str(run_context(self.by, run=self.id)["context"])

    def finish(self, **more: Any) -> dict[str, Any]:
        return finish_run(self.by, run=self.id, **more)


def register(world: World, *, tools: tuple[str, ...] = ("output", "note", "pin"), agent: str = AGENT) -> None:
    scope, _, name = agent.partition("/")
    register_agent(world.admin, scope=scope, name=name, manifest={"runtime_tools": list(tools)})


def begin(world: World, by: Actor | None = None, *, on: str = "a", agent: str = AGENT) -> AgentRun:
    """Start a run as a key's identity, the writer's by default."""
    by = by or world.writer
    started = start_run(by, agent=agent, space=world.nodes[on].pk)
    return AgentRun(world, by, started["run_token"], started["run_id"], started["context"])

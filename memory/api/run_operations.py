"""Operations of agents, runs and a run's tools. What the tools write has no route: no endpoint writes memory."""

from __future__ import annotations

from typing import Any

from memory.api import run_answers as answers
from memory.api import run_shapes as shapes
from memory.runs.actions.agents import register_agent
from memory.runs.actions.runs import finish_run, start_run
from memory.runs.actions.write import note, pin
from memory.runs.commands import HistoryQuery, NoteCommand, PinCommand, RecallQuery
from memory.runs.rules import Scope, agent_reference
from memory.runs.selectors import agents, runs
from memory.runs.selectors.notes import recall_memory
from memory.runs.tokens import RunActor
from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.http.operations import Operation

Values = dict[str, Any]


def _register(actor: Actor, values: Values) -> Values:
    if not isinstance(values["manifest"], dict):
        raise Validation("manifest is an object", param="manifest")
    body, created = register_agent(actor, **values)
    return {**body, "created": created}


def _agent(actor: Actor, values: Values) -> Values:
    reference = agent_reference(values["scope"].removeprefix("@"), values["name"])
    return agents.agent_info(actor, reference=reference)


def _agents(actor: Actor, values: Values) -> Values:
    return agents.list_agents(actor, **values)


def _start(actor: Actor, values: Values) -> Values:
    return start_run(actor, **values)


def _finish(actor: Actor, values: Values) -> Values:
    return finish_run(actor, **values)


def _run(actor: Actor, values: Values) -> Values:
    return runs.run_info(actor, run=values["run"])


def _runs(actor: Actor, values: Values) -> Values:
    return runs.own_runs(actor, **values)


def _context(actor: Actor, values: Values) -> Values:
    return runs.run_context(actor, run=values["run"])


def _as_run(actor: Actor) -> RunActor:
    """Whoever ``/mcp/run`` authenticated; these operations have no other face."""
    assert isinstance(actor, RunActor)
    return actor


def _pin(actor: Actor, values: Values) -> Values:
    scope = Scope(values.pop("scope", Scope.ACTOR))
    return pin(_as_run(actor), command=PinCommand(scope=scope, **values))


def _note(actor: Actor, values: Values) -> Values:
    scope = Scope(values.pop("scope", Scope.ACTOR))
    return note(_as_run(actor), command=NoteCommand(scope=scope, **values))


def _recall(actor: Actor, values: Values) -> Values:
    return recall_memory(_as_run(actor), query=RecallQuery(**values))


def _history(actor: Actor, values: Values) -> Values:
    fields = tuple(values.pop("fields", ("checkpoint",)))
    return runs.run_history(_as_run(actor), query=HistoryQuery(fields=fields, **values))


register = Operation(
    "agent_register",
    shapes.AgentShape,
    _register,
    answers.AGENT,
    creates=True,
    summary="Register an agent, or replace its manifest",
)
agent_info = Operation("agent", shapes.AgentReferenceShape, _agent, answers.AGENT, summary="One agent")
list_agents = Operation("agents", shapes.AgentListShape, _agents, answers.AGENTS, summary="The tenant's agents")
start = Operation(
    "run_start",
    shapes.StartShape,
    _start,
    answers.STARTED,
    creates=True,
    summary="Start a run: its token, this once, and what its prompt is given of earlier runs",
)
finish = Operation("run_finish", shapes.FinishShape, _finish, answers.RUN, summary="Finish a run")
run_info = Operation("run", shapes.RunShape, _run, answers.RUN, summary="One run of this identity")
list_runs = Operation("runs", shapes.RunListShape, _runs, answers.RUNS, summary="Runs of this identity, newest first")
context = Operation(
    "run_context", shapes.RunShape, _context, answers.CONTEXT, summary="What the run's prompt is given, as it is now"
)
pin_slot = Operation("pin", shapes.PinShape, _pin, answers.PINNED, summary="Upsert a pinned slot")
append_note = Operation("note", shapes.NoteShape, _note, answers.NOTED, summary="Append an archive note")
recall = Operation(
    "recall_memory", shapes.RecallMemoryShape, _recall, answers.RECALLED, summary="Search the archive notes"
)
history = Operation("run_history", shapes.HistoryShape, _history, answers.HISTORY, summary="Earlier successful runs")

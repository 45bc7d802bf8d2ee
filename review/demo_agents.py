"""The demo tenant's agent: one that has run before, so that its memory shows something at first sight."""

from __future__ import annotations

from typing import Any

from memory.runs.actions.agents import register_agent
from memory.runs.actions.runs import finish_run, start_run
from memory.runs.actions.write import note, pin
from memory.runs.commands import NoteCommand, PinCommand
from memory.runs.rules import Scope
from memory.runs.tokens import authenticate_run
from oml.core.actor import Actor, Channel

AGENT = "@demo/assistant"
PLAYGROUND = "universe.playground"
METALS = "universe.procurement.metals-crew"


def do_agent_work(admin: Actor, writer: Actor) -> dict[str, str]:
    """Register ``@demo/assistant`` and let it run twice; returns its id by its name, as ``demo.json`` says it."""
    agent, _ = register_agent(admin, scope="@demo", name="assistant", manifest={"runtime_tools": ["note", "pin"]})
    _run(
        writer,
        PLAYGROUND,
        [
            PinCommand("persona", "Answers in short sentences and says where a figure comes from."),
            PinCommand("checkpoint", {"mailbox": "quotes@example.com", "last_seen": "AM-7741", "processed": 12}),
            PinCommand("inbox_layout", "Quotes arrive as PDF, freight notes as plain text.", Scope.SHARED),
            NoteCommand("Norbal sends its quotes twice; the second mail is the binding one."),
            NoteCommand("The quote parser reads 1.250 as a thousand two hundred and fifty.", Scope.SHARED),
        ],
    )
    # Metals crew is committed, so what is shared there waits in the review queue.
    _run(writer, METALS, [NoteCommand("Accra Metals is closed in the first week of January.", Scope.SHARED)])
    return {AGENT: str(agent["agent_id"])}


def _run(writer: Actor, space: str, writes: list[PinCommand | NoteCommand]) -> None:
    started: dict[str, Any] = start_run(writer, agent=AGENT, space=space)
    actor = authenticate_run(f"Bearer {started['run_token']}", channel=Channel.CLI)
    for command in writes:
        if isinstance(command, PinCommand):
            pin(actor, command=command)
        else:
            note(actor, command=command)
    finish_run(actor, run=started["run_id"])

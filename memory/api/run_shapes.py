"""Request shapes of agents and runs, for ``/v1`` and for ``/mcp/run`` (seed: agent-memory; design: shapes)."""

from __future__ import annotations

from memory.claims.rules import IDEMPOTENCY_KEY
from memory.runs import rules
from oml.http.fields import Json, Listing, Matching, OneOf, Reference, StrictSerializer, Text, Whole


class AgentShape(StrictSerializer):
    scope = Text(max_length=64, help_text="Namespace of the agent, with or without its @.")
    name = Text(max_length=63, help_text="Its name there.")
    manifest = Json(help_text="A JSON object; runtime_tools names which of note and pin its runs get.")


class AgentReferenceShape(StrictSerializer):
    scope = Reference(help_text="Namespace of the agent, with or without its @.")
    name = Reference(help_text="Its name there.")


class AgentListShape(StrictSerializer):
    limit = Whole(required=False, help_text="Agents per page, 1 to 100; 20 when left out.")
    cursor = Text(max_length=4096, required=False, help_text="next_cursor of the page before.")


class StartShape(StrictSerializer):
    agent = Reference(help_text="@scope/name of a registered agent.")
    space = Reference(help_text="Workarea that the run works in: its id, or its path.")


class RunShape(StrictSerializer):
    run = Reference(help_text="A run of this identity.")


class RunListShape(StrictSerializer):
    agent = Reference(required=False, help_text="Only runs of this agent.")
    space = Reference(required=False, help_text="Only runs in this workarea.")
    limit = Whole(required=False, help_text="Runs per page, 1 to 100; 20 when left out.")
    cursor = Text(max_length=4096, required=False, help_text="next_cursor of the page before.")


class FinishShape(StrictSerializer):
    run = Reference(help_text="A run of this identity.")
    status = OneOf(words=rules.ENDED, required=False, help_text="success when left out.")
    result = Json(required=False, help_text="Any JSON value to keep with the run.")


_SCOPE = "actor (default): this identity alone. shared: every actor of this agent in this space."


def _attempt() -> Matching:
    return Matching(
        pattern=IDEMPOTENCY_KEY,
        explain="is 1 to 128 printable ASCII characters without spaces",
        max_length=10_000,
        required=False,
        help_text="A stable name of this call within the run; a retry with it never writes twice.",
    )


class PinShape(StrictSerializer):
    key = Matching(
        pattern=rules.SLOT_KEY,
        explain="is 1 to 64 of a-z 0-9 _",
        max_length=10_000,
        help_text="Name of the slot; checkpoint is the carry-over slot.",
    )
    content = Json(help_text="Any JSON value.")
    scope = OneOf(words=rules.Scope, required=False, help_text=_SCOPE)
    idempotency_key = _attempt()


class NoteShape(StrictSerializer):
    content = Text(max_length=10_000_000, help_text="The note, at most 2000 characters.")
    scope = OneOf(words=rules.Scope, required=False, help_text=_SCOPE)
    idempotency_key = _attempt()


class RecallMemoryShape(StrictSerializer):
    query = Text(
        max_length=rules.MAX_QUERY,
        min_length=0,
        oversize_is_limit=True,
        required=False,
        help_text="A piece of text; the newest without one.",
    )
    limit = Whole(required=False, help_text="How many at most, 1 to 50; 10 when left out.")


class HistoryShape(StrictSerializer):
    limit = Whole(required=False, help_text="How many at most, 1 to 50; 10 when left out.")
    fields = Listing(  # type: ignore[assignment]  # DRF takes declared fields out of the class
        child=OneOf(words=("checkpoint", "result")),
        required=False,
        max_length=2,
        help_text="What to show of each: checkpoint (default), result.",
    )

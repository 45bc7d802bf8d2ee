"""The four operations on agent state that signed-in humans have (seed: agent-memory), and their shapes.

Apart from the run tools: an agent writes its state and never inspects another's, a human inspects and never writes.
"""

from __future__ import annotations

import re
from typing import Any

from memory.api.answers import FLAG, NUMBER, STRING, TIME, a_list, an_object, nullable
from memory.runs.actions.persistence import delete_row, delete_state
from memory.runs.inspecting import Asked, Kind, Place
from memory.runs.selectors.persistence import persistence
from oml.core.actor import Actor
from oml.http.fields import Matching, OneOf, Reference, StrictSerializer, Text
from oml.http.operations import Operation

ORG, SPACE = "X-Org-Id", "X-Space-Id"


def _header(what: str) -> Matching:
    return Matching(
        pattern=re.compile(r"[A-Za-z0-9._-]{1,200}\Z"),
        explain="is 1 to 200 of A-Z a-z 0-9 . _ -",
        max_length=10_000,
        help_text=what,
    )


# Two of the fields have the names of headers, which no class body can say.
_PlaceShape: type[StrictSerializer] = type(
    "PlaceShape",
    (StrictSerializer,),
    {
        "scope": Reference(help_text="With or without its @."),
        "name": Reference(),
        ORG: _header("Your tenant: its id or its short name."),
        SPACE: _header("The space: a workarea's id."),
    },
)


class ChosenShape(_PlaceShape):  # type: ignore[misc, valid-type]
    kind = OneOf(words=Kind, required=False, help_text="Slots or memories; both when left out.")
    actor_type = Text(max_length=64, required=False, help_text="shared, or agent, human, service with an actor_id.")
    actor_id = Text(max_length=200, required=False, help_text="A principal's id.")


class PersistenceShape(ChosenShape):
    runId = Text(max_length=200, required=False, help_text="Only what this run wrote.")


class PersistenceRowShape(_PlaceShape):  # type: ignore[misc, valid-type]
    id = Text(max_length=200, help_text="The row's number.")


def _place(values: dict[str, Any]) -> Place:
    return Place(org=values[ORG], space=values[SPACE], agent=f"{values['scope']}/{values['name']}")


def _asked(values: dict[str, Any]) -> Asked:
    kind = Kind(values["kind"]) if "kind" in values else None
    return Asked(kind, values.get("actor_type"), values.get("actor_id"), values.get("runId"))


def _list(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return persistence(actor, place=_place(values), asked=_asked(values))


def _delete_many(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return delete_state(actor, place=_place(values), asked=_asked(values))


def _delete_memory(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    delete_row(actor, place=_place(values), kind=Kind.MEMORY, row=values["id"])
    return {}


def _delete_slot(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    delete_row(actor, place=_place(values), kind=Kind.PINNED, row=values["id"])
    return {}


_ROW = {
    "id": NUMBER,
    "content": {},
    "scope": STRING,
    "state": STRING,
    "runId": nullable(STRING),
    "actor_type": STRING,
    "actor_id": nullable(STRING),
    "createdAt": TIME,
}
_SLOT = an_object({**_ROW, "key": STRING, "updatedAt": TIME}, {"self_signed": FLAG})
_MEMORY = an_object({**_ROW, "pinned": FLAG}, {"self_signed": FLAG})
_LISTED = an_object({}, {"pinned": a_list(_SLOT), "memories": a_list(_MEMORY)})

list_state = Operation(
    "persistence_list",
    PersistenceShape,
    _list,
    _LISTED,
    summary="An agent's slots and memories in a space, for a human who may inspect them",
)
delete_many = Operation(
    "persistence_delete",
    ChosenShape,
    _delete_many,
    an_object({"memories_deleted": NUMBER, "checkpoint_deleted": FLAG}),
    summary="Delete memories, and the checkpoint when one scope is selected",
)
delete_memory = Operation(
    "persistence_memory_delete", PersistenceRowShape, _delete_memory, {}, summary="Delete one memory"
)
delete_slot = Operation(
    "persistence_slot_delete", PersistenceRowShape, _delete_slot, {}, summary="Delete one pinned slot"
)

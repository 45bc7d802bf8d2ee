"""Events: frozen dataclasses with a wire name and a version, declared in each room's ``events.py``.

``docs/reference/events.md`` is generated from this registry. An event's fields are ids, digests, numbers and
closed words; text, notes, reasons and names of people never enter the journal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

E = TypeVar("E", bound="type[Event]")

REGISTRY: dict[str, type[Event]] = {}


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of every event.

    Attributes:
        workarea_id: the one node the event belongs to; the tail filters by it.
        far_workarea_id: the other endpoint's node, for edges.
        simulation_id: fence of the subject (D10).
    """

    type: ClassVar[str] = ""
    event_version: ClassVar[int] = 1
    tail: ClassVar[bool] = False
    owned: ClassVar[bool] = False
    subject_fields: ClassVar[tuple[str, ...]] = ()
    wire_names: ClassVar[dict[str, str]] = {}
    """Payload names that no Python field can have, such as ``from``, by the field that carries them."""

    workarea_id: str | None = None
    far_workarea_id: str | None = None
    simulation_id: str | None = None

    @classmethod
    def in_tail(cls, _payload: dict[str, Any]) -> bool:
        """Whether a reader's tail may carry an occurrence with this payload at all; scope and access still apply."""
        return cls.tail

    @classmethod
    def owner(cls, principal_id: str, _payload: dict[str, Any]) -> str | None:
        """The one principal whose tail carries it, None for most events.

        Args:
            principal_id: who acted.
        """
        return principal_id if cls.owned else None

    def subject(self) -> dict[str, Any]:
        """What the event is about; the first field is the id it is indexed by."""
        return {name: getattr(self, name) for name in self.subject_fields}

    def payload(self) -> dict[str, Any]:
        """The remaining fields, JSON-ready."""
        skip = {"workarea_id", "far_workarea_id", "simulation_id", *self.subject_fields}
        return {
            self.wire_names.get(field.name, field.name): _jsonable(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.name not in skip
        }


def event(
    wire_name: str, *, subject: tuple[str, ...], version: int = 1, tail: bool = False, owned: bool = False
) -> Callable[[E], E]:
    """Register a dataclass as the event ``wire_name``.

    Args:
        wire_name: the catalog's name, such as ``lifecycle.promote``.
        subject: names of the fields that make the subject; the first is the id.
        version: of the payload's shape.
        tail: whether readers may see it in ``oml_events_tail``.
        owned: whether its own principal may, and nobody else.
    """

    def register(cls: E) -> E:
        if wire_name in REGISTRY:
            raise TypeError(f"event {wire_name} is declared twice")
        cls.type, cls.event_version, cls.tail, cls.subject_fields = wire_name, version, tail, subject
        cls.owned = owned
        REGISTRY[wire_name] = cls
        return cls

    return register


def _jsonable(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_jsonable(item) for item in value]
    return value

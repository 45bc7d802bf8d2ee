"""A closed state machine as data: the one shape for claims, edges, uploads and the status ladder."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)


class IllegalTransition(Exception):
    """The table has no such arrow. Callers turn it into the typed refusal of their room."""

    def __init__(self, state: str, event: str) -> None:
        super().__init__(f"no transition from {state} on {event}")
        self.state = state
        self.event = event


class Machine(Generic[S, E]):
    """``Machine({(state, event): next_state})``; whatever is not in the table is refused."""

    def __init__(self, table: Mapping[tuple[S, E], S]) -> None:
        self.table = dict(table)

    def next(self, state: S, event: E) -> S:
        """The state after ``event``.

        Raises:
            IllegalTransition: the table has no such arrow.
        """
        try:
            return self.table[(state, event)]
        except KeyError:
            raise IllegalTransition(state, event) from None

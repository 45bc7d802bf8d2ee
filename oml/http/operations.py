"""An operation: one request shape, one application function, the same for MCP and ``/v1`` (D13).

A face turns what it received into one JSON object, calls the operation with the actor and prints the answer. That
is why a tool and its route cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from oml.core.actor import Actor
from oml.http.fields import StrictSerializer


@dataclass(frozen=True, slots=True)
class Answer:
    """A body and its HTTP status; MCP prints the body alone."""

    body: dict[str, Any]
    status: int = 200


@dataclass(frozen=True, slots=True)
class Operation:
    """One use of the system.

    Attributes:
        name: stable name, for documentation and tests.
        shape: the request's fields.
        run: the application function, given the actor and the clean values; its answer, and beside it whether that was
            created, where a repeated request finds what is there and the body does not say so.
        answer: JSON schema of the success body; empty where success has none (204).
        creates: whether a first success is 201; a replay, and what was there already, is 200.
        summary: one line for people reading the API reference.
    """

    name: str
    shape: type[StrictSerializer]
    run: Callable[[Actor, dict[str, Any]], dict[str, Any] | tuple[dict[str, Any], bool]]
    answer: Mapping[str, Any]
    creates: bool = False
    summary: str = ""

    def __call__(self, actor: Actor, data: Any) -> Answer:
        """Validate ``data`` and run.

        Raises:
            OmlError: every refusal, typed.
        """
        done = self.run(actor, self.shape.parse(data))
        if not self.answer:
            return Answer({}, 204)
        body, created = done if isinstance(done, tuple) else (done, _says_created(done))
        return Answer(body, 201 if self.creates and created else 200)


def _says_created(body: dict[str, Any]) -> bool:
    return bool(body.get("created", not body.get("idempotent_replay", False)))

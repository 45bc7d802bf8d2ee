"""The status ladder (D8): development → committed → validated, one way. Pure."""

from __future__ import annotations

from enum import StrEnum

from oml.core.machine import Machine


class Status(StrEnum):
    DEVELOPMENT = "development"
    COMMITTED = "committed"
    VALIDATED = "validated"


class Step(StrEnum):
    COMMIT = "committed"
    VALIDATE = "validated"


LADDER: Machine[Status, Step] = Machine(
    {
        (Status.DEVELOPMENT, Step.COMMIT): Status.COMMITTED,
        (Status.COMMITTED, Step.VALIDATE): Status.VALIDATED,
    }
)


def is_frozen(status: Status) -> bool:
    """A validated workarea refuses new writes (D8)."""
    return status is Status.VALIDATED

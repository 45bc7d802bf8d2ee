"""Refusals of edges."""

from __future__ import annotations

from oml.core.errors import Forbidden, OmlError
from workareas.errors import AccessNotFound

AUTHORITY = "edge proposal requires dreamer(propose) on ≥1 endpoint and reader on both (D7)"


class EndpointNotFound(AccessNotFound):
    rule = AUTHORITY

    def __init__(self, end: str, noun: str) -> None:
        super().__init__(f"endpoint '{end}' names no {noun} readable by this key", param=end)


class ProposeForbidden(Forbidden):
    rule = AUTHORITY

    def __init__(self, where: str) -> None:
        super().__init__(f"this key holds no propose access {where}")


class UnknownLabel(OmlError):
    code = "relate.label"
    status = 422
    rule = "edge labels are a closed set"

    def __init__(self, label: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{label[:100]} is not a label; use one of {', '.join(allowed)}", param="label")


class DuplicateEdge(OmlError):
    code = "relate.duplicate"
    status = 409
    rule = "one edge per label and direction between two endpoints"

    def __init__(self) -> None:
        super().__init__("another proposer has proposed this edge already")

"""JSON Schema of tool arguments, spelled once.

Schemas stay flat: some model providers refuse a whole request over one top-level ``oneOf``. They guide a
model; the operation behind the tool validates. What must never happen here: ``additionalProperties: false``
(a tenant that is sent must be ignored, D6) or a field that its operation does not accept (drift-tested).
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def arguments(properties: dict[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    """The flat root object of a tool's arguments."""
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def text(description: str, **constraints: Any) -> Schema:
    return {"type": "string", "description": description, **constraints}


def whole(description: str, *, least: int, most: int | None = None, default: int | None = None) -> Schema:
    schema: Schema = {"type": "integer", "description": description, "minimum": least}
    if most is not None:
        schema["maximum"] = most
    if default is not None:
        schema["default"] = default
    return schema


def yes_or_no(description: str) -> Schema:
    return {"type": "boolean", "description": description, "default": False}


def ids(description: str, **constraints: Any) -> Schema:
    return {"type": "array", "description": description, "items": {"type": "string"}, **constraints}


def moment(description: str) -> Schema:
    return text(f"{description} RFC 3339, for example 2026-10-27T14:11:08Z.", format="date-time")

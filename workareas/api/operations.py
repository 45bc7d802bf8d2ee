"""Operations of who and where on ``/v1``."""

from __future__ import annotations

from typing import Any

from oml.core.actor import Actor
from oml.crypto.signing import public_keys
from oml.http.fields import StrictSerializer
from oml.http.operations import Operation
from workareas import access
from workareas.verbs import Verb


class NothingShape(StrictSerializer):
    """A request without fields."""


def _deployment_keys(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    access.require_role(actor, Verb.READ)
    return {"items": public_keys(), "next_cursor": None}


_KEYS: dict[str, Any] = {
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["keyid", "algorithm", "public_key"],
                "properties": {name: {"type": "string"} for name in ("keyid", "algorithm", "public_key")},
            },
        },
        "next_cursor": {"type": "null"},
    },
}

deployment_keys = Operation("deployment_keys", NothingShape, _deployment_keys, _KEYS)

"""URLs of the laboratory server: the official conformance suite and real clients talk to it.

It serves the real endpoint, at the real path, over the laboratory tools and those fixture tools that the
suite calls by name. Only tests import this module.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.urls import re_path

from oml.core.errors import Validation
from oml.mcp.discovery import no_oauth
from oml.mcp.endpoint import view_of
from tests.support.mcp_lab import Body, lab_mount, lab_tool

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _simple_text(_actor: Any, _data: dict[str, Any]) -> Body:
    return Body({"text": "This is a simple text response for testing."})


def _error(_actor: Any, _data: dict[str, Any]) -> Body:
    raise Validation("This tool intentionally returns an error for testing")


FIXTURES = (
    lab_tool("test_simple_text", _simple_text, {"type": "object"}),
    lab_tool("test_error_handling", _error, {"type": "object"}),
    lab_tool("json_schema_2020_12_tool", _simple_text, SCHEMA_2020_12),
)
LAB = lab_mount()
MOUNT = replace(LAB, tools=lambda actor: (*LAB.tools(actor), *FIXTURES))

urlpatterns = [
    re_path(r"^mcp/?$", view_of(MOUNT)),
    re_path(r"^\.well-known/.*$", no_oauth),
    re_path(r"^register/?$", no_oauth),
]

"""The generated reference pages: ``python -m oml.reference`` writes them, a drift test compares them.

Errors come from the error classes, events from the event registry, permissions from the verbs table, tools from
the MCP catalog, the HTTP API from the operations. Nobody edits these pages by hand.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
_MADE = "Written by `make reference` from the code; do not edit."


def errors_page() -> str:
    """Every typed refusal: code, HTTP status, whether a retry can help, the rule."""
    from oml.core.errors import OmlError

    rows = [
        f"| `{code}` | {cls.status} | {'yes' if cls.retryable else 'no'} | {cls.rule} |"
        for code, cls in sorted(OmlError.registry.items())
    ]
    return _page(
        "Errors",
        'One shape on every surface: `{"error": {"code", "rule", "message", "retryable"}}`, with '
        "`retry_after_seconds` where retryable and `param` where one field is at fault. On HTTP it is the body, on "
        "MCP the structured content of a result with `isError: true`. A retryable refusal carries `Retry-After`.",
        ["| code | HTTP | retryable | rule |", "|---|---|---|---|", *rows],
    )


def events_page() -> str:
    """Every event of the journal: version, subject, payload, whether a reader's tail may carry it."""
    from oml.journal.registry import REGISTRY, Event

    base = {field.name for field in dataclasses.fields(Event)}
    rows = []
    for name, cls in sorted(REGISTRY.items()):
        fields = [field.name for field in dataclasses.fields(cls) if field.name not in base]
        payload = ", ".join(cls.wire_names.get(field, field) for field in fields if field not in cls.subject_fields)
        subject = ", ".join(cls.subject_fields)
        rows.append(f"| `{name}` | {cls.event_version} | {subject} | {payload} | {_tail_of(cls)} |")
    return _page(
        "Events",
        "One append-only journal per tenant; its sequence is the order of everything (D1). Payloads carry ids, "
        "closed words, numbers and commitments, never text. *Tail*: a reader's `oml_events_tail` may carry it, "
        "where the key may read its subject; `lifecycle.erase` only if the claim was ever promoted (R3); *owner*: the "
        "tail of that principal alone whose record, run or state it is.",
        ["| event | version | subject | payload | tail |", "|---|---|---|---|---|", *rows],
    )


def _tail_of(cls: type[Any]) -> str:
    return "owner" if cls.owned else "yes" if cls.tail else "no"


def permissions_page() -> str:
    """Roles, capabilities and verbs; and a human's preset roles in a space."""
    from workareas.space_roles import PERMISSIONS_OF
    from workareas.verbs import CEILING, VERBS_OF, Capability, OperatorVerb

    lines = ["| capability | verbs |", "|---|---|"]
    lines += [f"| {capability} | {' '.join(verbs)} |" for capability, verbs in VERBS_OF.items()]
    lines += ["", "| role | may be granted |", "|---|---|"]
    for role, ceiling in CEILING.items():
        held = ", ".join(capability for capability in Capability if capability in ceiling)
        lines.append(f"| {role} | {held or 'nothing: ' + ' '.join(OperatorVerb)} |")
    lines += [
        "",
        "Agent state is inspected by signed-in humans alone. These two permissions are no capabilities: no grant gives "
        "them, so no API key can carry them. A preset role in a space gives them from that workarea down; a denied "
        "twin wins here too.",
        "",
        "| role in a space | permissions |",
        "|---|---|",
    ]
    lines += [
        f"| {role} | {' '.join(sorted(permission.spoken for permission in given))} |"
        for role, given in PERMISSIONS_OF.items()
    ]
    return _page(
        "Permissions",
        "Roles are ceilings, grants carry capabilities, capabilities carry verbs. A key's effective access at a "
        "workarea is the union of its grants there and above, minus the denies there and above; deny wins (D7). "
        "Promote is in no cell: it is an effect of ratification (R1).",
        lines,
    )


def openapi_page() -> str:
    """The OpenAPI document of ``/v1``."""
    from drf_spectacular.generators import SchemaGenerator

    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _tools_page() -> str:
    from oml.mcp.reference import tools_page

    return tools_page()


def _record_tools_page() -> str:
    from oml.mcp.reference import record_tools_page

    return record_tools_page()


def _run_tools_page() -> str:
    from oml.mcp.reference import run_tools_page

    return run_tools_page()


PAGES: dict[str, Callable[[], str]] = {
    "errors.md": errors_page,
    "events.md": events_page,
    "permissions.md": permissions_page,
    "tools.md": _tools_page,
    "record-tools.md": _record_tools_page,
    "run-tools.md": _run_tools_page,
    "openapi.json": openapi_page,
}


def _page(title: str, what: str, lines: list[str]) -> str:
    return "\n".join([f"# {title}", "", _MADE, "", what, "", *lines]) + "\n"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")
    import django

    django.setup()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"docs/reference/{name}")  # noqa: T201  (a command's output)

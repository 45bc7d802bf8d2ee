"""``docs/reference/tools.md``, made from the catalog; ``oml.reference`` writes it and a test compares it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from oml.mcp.tools import Tool


def tools_page() -> str:
    """The page of ``/mcp`` as Markdown."""
    # Django must be set up first, and this module must be importable before that.
    from oml.mcp.catalog import CATALOG, INSTRUCTIONS

    return _page("MCP tools", CATALOG, INSTRUCTIONS, "submits, held on arrival")


def record_tools_page() -> str:
    """The page of ``/mcp/records`` as Markdown."""
    from oml.mcp.record_catalog import CATALOG, INSTRUCTIONS

    return _page("MCP tools of source records", CATALOG, INSTRUCTIONS, "writes at once, for your principal alone")


def run_tools_page() -> str:
    """The page of ``/mcp/run`` as Markdown."""
    from oml.mcp.run_catalog import CATALOG, INSTRUCTIONS

    return _page(
        "MCP tools of a run",
        CATALOG,
        INSTRUCTIONS,
        "writes: at once for this identity alone; what is shared goes through review",
        "The bearer is a run token. `note` and `pin` are listed where the agent's manifest names them in "
        "`runtime_tools`, the two readers always. None has a `/v1` twin: memory changes when a run calls a tool, "
        "and no endpoint writes it.",
    )


_TWINS = (
    "The same list, in this order, for every key. Every tool calls the function behind its `/v1` twin: "
    "the structured content of a success equals the HTTP body, and a refusal is the same typed error."
)


def _page(title: str, catalog: Sequence[Tool], instructions: str, writes: str, how: str = _TWINS) -> str:
    lines = [
        f"# {title}",
        "",
        "Written by `make reference` from the code; do not edit.",
        "",
        how,
        "",
        "What a model is told about the server:",
        "",
        f"> {instructions}",
    ]
    for tool in catalog:
        changes = "reads" if tool.read_only else writes
        lines += ["", f"## {tool.name}", "", f"{tool.title} · {changes}", ""]
        lines += [f"> {paragraph}\n>" for paragraph in tool.description.split("\n")]
        lines[-1] = lines[-1].removesuffix("\n>")
        lines += ["", "| argument | type | required | what it is |", "|---|---|---|---|"]
        lines += _rows(tool.input_schema)
        lines += [
            "",
            "Success, as JSON Schema:",
            "",
            "```json",
            json.dumps(cast(Any, tool.operation).answer, indent=2),
            "```",
        ]
    return "\n".join(lines) + "\n"


def _rows(schema: Any, prefix: str = "") -> list[str]:
    rows = []
    for name, inner in schema["properties"].items():
        needed = "yes" if name in schema.get("required", ()) else ""
        rows.append(f"| `{prefix}{name}` | {_type(inner)} | {needed} | {inner['description']} |")
        if inner.get("type") == "object":
            rows += _rows(inner, f"{prefix}{name}.")
    return rows


def _type(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "any JSON value")
    words = [f"list of {schema['items']['type']}s" if kind == "array" else kind]
    if "enum" in schema:
        words.append(" or ".join(f"`{word}`" for word in schema["enum"]))
    if "minimum" in schema or "maximum" in schema:
        words.append(
            f"{schema.get('minimum', '')} to {schema['maximum']}" if "maximum" in schema else f"≥ {schema['minimum']}"
        )
    if "maxLength" in schema:
        words.append(f"≤ {schema['maxLength']} characters")
    if "maxItems" in schema:
        words.append(f"≤ {schema['maxItems']} entries")
    if "default" in schema:
        words.append(f"default `{json.dumps(schema['default']).strip(chr(34))}`")
    return ", ".join(words)

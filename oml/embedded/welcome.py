"""What a person sees when everything is up, and the same as a file for scripts.

The file holds secrets: mode 0600 from its first byte, and never in a log.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from oml.embedded.places import Places


def write_demo(places: Places, *, port: int) -> dict[str, Any]:
    """Joins what bootstrap wrote with where it is served, and writes ``demo.json``.

    Returns: the document: base_url, mcp_url, tenant, workareas, keys, key_ids, humans, agents.
    """
    base_url = f"http://127.0.0.1:{port}"
    document = {"base_url": base_url, "mcp_url": f"{base_url}/mcp", **json.loads(places.seed.read_text())}
    write_private(places.demo, json.dumps(document, indent=2) + "\n")
    return document


def write_private(path: Path, text: str) -> None:
    """Replaces a file whole; nobody but its owner can read it at any moment."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    scratch.rename(path)


def text(document: dict[str, Any], places: Places) -> str:
    """The welcome: where to click, who to be, what to paste."""
    configuration = {
        "mcpServers": {
            "oml": {
                "type": "http",
                "url": document["mcp_url"],
                "headers": {"Authorization": f"Bearer {document['keys']['writer']}"},
            }
        }
    }
    base = document["base_url"]
    humans = [f"  {name:<10} {who['username']} / {who['password']}" for name, who in document["humans"].items()]
    keys = [f"  {name:<10} {secret}" for name, secret in document["keys"].items()]
    return "\n".join(
        [
            "",
            f"OML is ready: {base}",
            f"  review     {base}/review/",
            f"  admin      {base}/admin/",
            f"  HTTP API   {base}/v1/docs",
            f"  MCP        {document['mcp_url']}",
            "",
            "Sign in as",
            *humans,
            "",
            "Keys (Authorization: Bearer …)",
            *keys,
            "",
            "Paste into your agent's MCP configuration:",
            json.dumps(configuration, indent=2),
            "",
            f"The same is in {places.demo}. `make demo` plays the main job; Ctrl-C or `make stop` ends OML.",
        ]
    )

"""Real MCP clients against the real server: what an agent built on each of them would see.

Three of them run with every `make test`; `make clients` runs all.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environments import NODE_22, node_with, python_with
from tests.embedded.running import Run

DRIVERS = Path(__file__).resolve().parent / "drivers"
WORKAREA = "universe.procurement.metals-crew"
TOOLS = [
    "oml_remember",
    "oml_recall",
    "oml_learn",
    "oml_relate_propose",
    "oml_my_work",
    "oml_workarea_info",
    "oml_graph",
    "oml_events_tail",
]
SENTENCE = (
    "Unknown tool: oml_promote. This surface carries no promote, sign, demote, delete or admin verb (R1); "
    "see tools/list for the complete catalog."
)


@dataclass(frozen=True)
class Start:
    """How a driver is started: the beginning of its command line, where, and with what environment."""

    command: list[str]
    folder: Path = DRIVERS
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(frozen=True)
class RealClient:
    """One client.

    Attributes:
        name: how the test is called.
        make: makes its environment.
        driver: file in ``drivers``.
        mode: what the driver is told about the protocol era.
        everywhere: whether it runs with every `make test`.
        says_the_key_is_wrong: text that the client shows for a wrong key.
    """

    name: str
    make: Callable[[], Start]
    driver: str
    mode: str = "default"
    everywhere: bool = False
    says_the_key_is_wrong: str = "auth.invalid_key: missing or invalid API key"


def own_python() -> Start:
    return Start([sys.executable])


def python(name: str, *requirements: str) -> Callable[[], Start]:
    return lambda: Start([str(python_with(name, *requirements))])


def node(name: str, *packages: str) -> Callable[[], Start]:
    def make() -> Start:
        folder, environment = node_with(name, *packages)
        return Start(["node"], folder, environment)

    return make


MCP_1 = python("mcp-1.30", "mcp==1.30.0")
TYPESCRIPT_1 = node("typescript-sdk-1.32", "@modelcontextprotocol/sdk@1.32.2")
TYPESCRIPT_2 = node("typescript-client-2.4", "@modelcontextprotocol/client@2.4.0")
INSPECTOR = node("inspector-2.12", NODE_22, "@modelcontextprotocol/inspector@2.12.0")

CLIENTS = [
    RealClient("mcp-2.3-auto", own_python, "python_mcp2.py", "auto", everywhere=True),
    RealClient("mcp-2.3-legacy", own_python, "python_mcp2.py", "legacy", everywhere=True),
    RealClient("mcp-2.3-pinned", own_python, "python_mcp2.py", "2026-07-28"),
    RealClient("mcp-1.30", MCP_1, "python_mcp1.py", everywhere=True, says_the_key_is_wrong="401 Unauthorized"),
    RealClient("typescript-sdk-1.32", TYPESCRIPT_1, "typescript_sdk.mjs", everywhere=True),
    RealClient("typescript-client-2.4", TYPESCRIPT_2, "typescript_client.mjs"),
    RealClient(
        "typescript-client-2.4-auto",
        TYPESCRIPT_2,
        "typescript_client.mjs",
        "auto",
        says_the_key_is_wrong="the server requires authorization (HTTP 401)",
    ),
    RealClient("fastmcp", python("fastmcp", "fastmcp==4.2.3"), "fastmcp_client.py"),
    RealClient(
        "langchain",
        python("langchain", "langchain-mcp-adapters==0.3.2"),
        "langchain_adapters.py",
        says_the_key_is_wrong="401 Unauthorized",
    ),
    RealClient("openai-agents", python("openai-agents", "openai-agents==0.24.0"), "openai_agents.py"),
    RealClient("pydantic-ai", python("pydantic-ai", "pydantic-ai-slim[mcp]==2.68.0"), "pydantic_ai_client.py"),
    RealClient("inspector", INSPECTOR, "inspector_cli.mjs", says_the_key_is_wrong="auth_required"),
]
CHOSEN = [client for client in CLIENTS if client.everywhere or os.environ.get("OML_CLIENTS") == "all"]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("client", CHOSEN, ids=[client.name for client in CHOSEN])
def test_real_client__the_agent_s_day__sees_what_the_seed_promises(client: RealClient, running: Run):
    claim_key = f"client/{client.name}/{secrets.token_hex(4)}"
    submission = {
        "workarea": WORKAREA,
        "claim_key": claim_key,
        "text": "Seen by a real client.",
        "tenant": "x",
    }
    calls = [
        ("oml_workarea_info", {"workarea": WORKAREA}),
        ("oml_remember", {**submission, "idempotency_key": claim_key}),
        ("oml_my_work", {"workarea": WORKAREA, "limit": 100}),
        ("oml_recall", {"query": "a real client", "scope": WORKAREA, "k": 50}),
        ("oml_remember", {**submission, "kind": "wish"}),
        ("oml_recall", {"query": "anything", "scope": "wa_unknown"}),
        ("oml_promote", {"artifact_id": "art_x"}),
    ]
    seen = drive(client, running, key=running.demo()["keys"]["writer"], calls=calls)
    assert seen["tools"] == TOOLS
    info, held, work, recalled, invalid, hidden, unknown = seen["answers"]
    assert succeeded(info)["path"] == WORKAREA
    assert succeeded(held)["state"] == "held"
    mine = next(item for item in succeeded(work)["items"] if item["claim_key"] == claim_key)
    assert mine["state"] == "held"
    assert succeeded(recalled)["steering"]
    assert held["structured"]["artifact_id"] not in {hit["artifact_id"] for hit in recalled["structured"]["hits"]}
    assert refused(invalid)["code"] == "request.validation"
    assert refused(invalid)["param"] == "kind"
    assert refused(hidden)["code"] == "access.not_found"
    assert "unlisted" in unknown or SENTENCE in (unknown.get("error") or unknown["text"])


@pytest.mark.parametrize("client", CHOSEN, ids=[client.name for client in CHOSEN])
def test_real_client__with_a_wrong_key__says_so_and_ends(client: RealClient, running: Run):
    seen = drive(client, running, key="oml_k_" + "0" * 26, calls=[])
    assert client.says_the_key_is_wrong in seen["refused"]


def drive(client: RealClient, running: Run, *, key: str, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Start the client's driver and return what it saw."""
    start = client.make()
    script = {
        "url": running.demo()["mcp_url"],
        "key": key,
        "mode": client.mode,
        "calls": [{"name": name, "arguments": arguments} for name, arguments in calls],
    }
    done = subprocess.run(
        [*start.command, str(DRIVERS / client.driver)],
        input=json.dumps(script),
        cwd=start.folder,
        env=start.environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def succeeded(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer.get("is_error") is False, answer
    assert json.loads(answer["text"]) == answer["structured"]
    return answer["structured"]


def refused(answer: dict[str, Any]) -> dict[str, Any]:
    """The typed error, which every client shows as text and most as an object too."""
    assert answer.get("is_error") is True, answer
    typed = json.loads(answer["text"])
    assert answer["structured"] in (typed, None)
    return typed["error"]

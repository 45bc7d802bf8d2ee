"""The official MCP conformance suite against the laboratory server: the real endpoint over fixture tools.

Every check that fails is in the baseline of its revision under the feature that OML does not offer; a check
that is listed there and passes fails the run as well."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.clients.environments import NODE_22, ROOT, node_with

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
ENTRY = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
BASELINES = Path(__file__).resolve().parent / "conformance"
# Checks that passed when the baseline was written; fewer would mean that scenarios have stopped running.
PASSED_AT_LEAST = {"2025-11-25": 44, "2026-07-28": 105}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def laboratory() -> Iterator[str]:
    """URL of the laboratory server, on gunicorn as in production."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"]
    command += ["--threads", "8", "--no-control-socket", "--log-level", "warning"]
    process = subprocess.Popen([*command, "tests.support.conformance_app:application"], cwd=ROOT)
    try:
        _wait(port, process)
        yield f"http://localhost:{port}/mcp"
    finally:
        process.terminate()
        process.wait(30)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("the laboratory server did not start")


@pytest.mark.parametrize("revision", PASSED_AT_LEAST)
def test_conformance__of_a_revision__fails_only_where_a_feature_is_not_offered(revision: str, laboratory: str):
    folder, environment = node_with("conformance-0.2.0-alpha.12", NODE_22, SUITE)
    baseline = BASELINES / f"baseline-{revision}.yml"
    command = ["node", ENTRY, "server", "--url", laboratory, "--requirements", revision]
    done = subprocess.run(
        [*command, "--expected-failures", str(baseline)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    total = re.search(r"Total: (\d+) passed", done.stdout)
    assert total is not None, done.stdout[-2000:]
    assert int(total.group(1)) >= PASSED_AT_LEAST[revision]


def test_laboratory__asked_where_an_oauth_server_is__says_in_json_that_there_is_none(laboratory: str):
    url = laboratory.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    answer = httpx2.get(url, timeout=10)
    assert answer.status_code == 404
    assert isinstance(answer.json()["error"], str)


def test_baseline__every_entry__stands_under_the_feature_it_is_excused_by():
    for revision in PASSED_AT_LEAST:
        lines = (BASELINES / f"baseline-{revision}.yml").read_text().splitlines()
        entries = [line for line in lines if line.startswith("  - ")]
        assert len(entries) == len(set(entries))
        assert lines[lines.index("server:") + 1].startswith("  # ")

"""What we rely on in the ``mcp`` package, so that a new version of it is a change to review and not an update
to take."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
)
from mcp_types.methods import CLIENT_REQUESTS, validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from oml import __version__
from tests.support.mcp_lab import MODERN, enveloped, rpc

ROOT = Path(__file__).resolve().parents[2]
PIN = (ROOT / "docs" / "reference" / "mcp-pin.md").read_text()
HEADERS = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "x"}


def test_pin__of_the_package__is_the_minor_version_that_was_verified():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pinned,) = [line for line in project["dependencies"] if line.startswith("mcp==")]
    assert pinned == f"mcp=={version('mcp')}"
    assert version("mcp").startswith("2.3.")
    assert f"`mcp` {version('mcp')}" in PIN


def test_pin__of_the_revisions__is_what_the_package_knows():
    assert HANDSHAKE_PROTOCOL_VERSIONS == ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
    assert MODERN_PROTOCOL_VERSIONS == ("2026-07-28",)
    assert all(revision in PIN for revision in KNOWN_PROTOCOL_VERSIONS)


def test_pin__of_the_status_table__is_what_the_endpoint_answers_with():
    assert dict(ERROR_CODE_HTTP_STATUS) == {
        -32700: 400,
        -32600: 400,
        -32602: 400,
        -32020: 400,
        -32021: 400,
        -32022: 400,
        -32601: 404,
    }


def test_pin__of_the_ladder__refuses_in_the_order_we_document():
    call = rpc("tools/call", enveloped({"name": "x"}))
    assert isinstance(classify_inbound_request(call, headers=HEADERS), InboundModernRoute)
    bare = classify_inbound_request(rpc("tools/call", {}), headers={})
    assert isinstance(bare, InboundLadderRejection)
    assert bare.code == -32602
    unknown = rpc("tools/call", enveloped({"name": "x"}, version="2027-01-01"))
    mismatched = classify_inbound_request(unknown, headers=HEADERS)
    assert isinstance(mismatched, InboundLadderRejection)
    assert mismatched.code == -32020
    unsupported = classify_inbound_request(unknown, headers={**HEADERS, "mcp-protocol-version": "2027-01-01"})
    assert isinstance(unsupported, InboundLadderRejection)
    assert unsupported.code == -32022
    assert unsupported.data["requested"] == "2027-01-01"


def test_pin__of_the_method_tables__tells_unknown_from_malformed():
    for revision in HANDSHAKE_PROTOCOL_VERSIONS:
        assert {("initialize", revision), ("ping", revision), ("tools/list", revision)} <= set(CLIENT_REQUESTS)
    assert ("server/discover", MODERN) in CLIENT_REQUESTS
    with pytest.raises(KeyError):
        validate_client_request("ping", MODERN, enveloped({}))
    with pytest.raises(ValidationError):
        validate_client_request("tools/call", "2025-11-25", {"name": 5})


def test_version__announced_to_clients__is_the_project_s():
    assert __version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

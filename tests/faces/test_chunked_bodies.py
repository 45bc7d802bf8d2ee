"""A body without a stated length is read to its end and never taken for none."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test import Client

from oml.http.chunked import UNKNOWN_LENGTH, read_to_the_end, said_length
from oml.http.parsers import MAX_BODY_BYTES
from tests.support.api import refused
from tests.support.mcp_lab import rpc
from tests.support.world import World

pytestmark = pytest.mark.django_db


def chunked(method: str, path: str, raw: bytes, key: str) -> Any:
    """As the server hands over a request in chunks: decoded, ended, and without a length."""
    seen: list[str] = []
    read_to_the_end(lambda environ, _: seen.append(environ["CONTENT_LENGTH"]) or [])(
        {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}, lambda *_: None
    )
    environ: dict[str, Any] = {"wsgi.input": io.BytesIO(raw), "CONTENT_LENGTH": seen[0]}
    headers = {"Authorization": f"Bearer {key}", "Transfer-Encoding": "chunked"}
    return Client().generic(method, path, raw, content_type="application/json", headers=headers, **environ)


def test_body__in_chunks__is_read_on_every_face(world: World) -> None:
    key, admin = world.secret[world.writer], world.secret[world.admin]
    claim = {"workarea": world.nodes["a"].pk, "claim_key": "in-chunks", "text": "In chunks."}
    assert chunked("POST", "/v1/memories", json.dumps(claim).encode(), key).status_code == 201
    assert chunked("POST", "/v1/records", b'{"content": "In chunks."}', key).status_code == 201
    assert chunked("POST", "/mcp", json.dumps(rpc("ping")).encode(), key).json()["result"] == {}
    unknown = chunked("POST", "/v1/evidence", b'{"scope": "wa_unknown"}', admin)
    refused(unknown, "access.not_found", 404)


def test_body__in_chunks_beyond_the_limit__is_refused(world: World) -> None:
    raw = json.dumps({"text": "x" * MAX_BODY_BYTES}).encode()
    refused(chunked("POST", "/v1/memories", raw, world.secret[world.writer]), "limit.size", 413)
    exchange = chunked("POST", "/mcp", raw, world.secret[world.writer])
    assert exchange.status_code == 413


def test_length__stated__is_left_alone() -> None:
    seen: dict[str, Any] = {}
    read_to_the_end(lambda environ, _: seen.update(environ) or [])({"CONTENT_LENGTH": "7"}, lambda *_: None)
    assert seen == {"CONTENT_LENGTH": "7"}
    assert [said_length(value) for value in (None, "", "7", str(UNKNOWN_LENGTH))] == [0, 0, 7, 0]

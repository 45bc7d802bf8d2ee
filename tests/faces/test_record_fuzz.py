"""Thousands of random requests to every route of source records: an answer or a typed refusal, never a 5xx."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import urlencode

import pytest

from memory.records import exchange
from memory.records.actions.erase import erase_record
from oml.journal.verify import verify_tenant
from tests.support.records import Records
from tests.support.world import World

pytestmark = pytest.mark.django_db

STRINGS = (
    "",
    " ",
    "x",
    "a:b",
    "A B:c",
    "org:Acme: north",
    "\x00",
    "\ud800",
    "ü漢😀\u202e",
    "e\u0301" * 40,
    "'; DROP TABLE memory_record; --",
    "%_\\",
    "{}",
    '{"a": {"b": [1, null, "\\ud800"]}}',
    "[" * 300,
    "a" * 1001,
    "documentary",
    "2026-10-27T14:11:08Z",
    "2026-10-27T14:11:08+25:00",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z",
    "universe.a",
    "home",
)
NUMBERS = (0, 1, -1, 7, 50, 51, 200, 201, 2**31, 2**53 - 1, 2**63, -(2**63), 1.5, 1e308)
ROUTES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("POST", "/v1/records", ("content", "source_type", "properties", "assign_lane", "source_system")),
    ("POST", "/api/v2/ingest/batch", ("records", "idempotency_key")),
    ("GET", "/v1/records/{}", ("as_of", "version")),
    ("PATCH", "/v1/records/{}", ("content", "properties", "note", "expected_version")),
    ("DELETE", "/v1/records/{}", ("note",)),
    ("GET", "/v1/records/{}/history", ()),
    ("POST", "/v1/records/{}/properties", ("property",)),
    ("DELETE", "/v1/records/{}/properties", ("property",)),
    ("POST", "/v1/records/{}/connections", ("to", "label")),
    ("DELETE", "/v1/records/{}/connections", ("to", "label")),
    ("POST", "/v1/records/{}/corrections", ("content", "note", "properties", "source_system")),
    ("POST", "/v1/records/{}/adjustments", ("content", "note", "properties", "source_system")),
    ("POST", "/v1/records/{}/erase", ("reason", "preview")),
    ("POST", "/v1/records/gather", ("query", "properties", "lanes", "source_type", "min_authority", "k")),
    ("GET", "/v1/records/timeline", ("since", "until", "properties", "lanes", "order", "limit", "cursor")),
    ("POST", "/v1/records/intake", ("folder", "files")),
    ("POST", "/v1/record-groups", ("name", "add", "remove")),
    ("POST", "/v1/lanes", ("label", "workarea", "source_types", "default_source_type")),
)
#: What fits, so that most requests come far.
FITTING: dict[str, Any] = {
    "content": "A text.",
    "source_type": "observed",
    "properties": ["a:b", "c:d"],
    "property": "a:b",
    "label": "cites",
    "note": "why",
    "reason": "asked",
    "preview": True,
    "name": "set",
    "path": "a/b.md",
    "folder": "docs",
    "query": "record",
    "order": "desc",
    "since": "2020-01-01T00:00:00Z",
    "until": "2100-01-01T00:00:00+05:30",
    "as_of": "2100-01-01T00:00:00Z",
    "version": 0,
    "limit": 5,
    "k": 5,
    "min_authority": 10,
    "workarea": "universe.a",
    "idempotency_key": "once",
    "default_source_type": "observed",
}
LISTS = {"properties", "lanes", "add", "remove", "records", "files", "source_types"}


class Shooter:
    """Random requests from one seed, mostly nearly right."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self.random, self.names = random.Random(seed), names

    def shot(self) -> tuple[str, str, Any]:
        method, path, fields = self.random.choice(ROUTES)
        body = {name: self.value(name) for name in fields if self.random.random() < 0.6}
        if self.random.random() < 0.05:
            body[self.random.choice(("extra", "tenant_id", "sr_id"))] = self.value("")
        path = path.format(self.random.choice([*self.names, "sr_x", "sr_" + "0" * 32, "%00", "%F0%9F%98%80"]))
        if method in ("GET", "DELETE"):
            text = {name: [self.spelled(one) for one in self.listed(value)] for name, value in body.items()}
            return method, path + "?" + urlencode(text, doseq=True), None
        return method, path, body

    def value(self, name: str) -> Any:
        if name in FITTING and self.random.random() < 0.7:
            return FITTING[name]
        roll = self.random.random()
        if roll < 0.1:
            return self.random.choice([None, True, [], {}, [[]], {"a": 1}, *NUMBERS])
        if name in LISTS:
            return [self.entry(name) for _ in range(self.random.choice([0, 1, 1, 2, 3]))]
        if name in ("version", "expected_version", "k", "limit", "min_authority") and roll < 0.9:
            return self.random.choice(NUMBERS)
        return self.random.choice([*STRINGS, *self.names])

    def entry(self, name: str) -> Any:
        if name == "records":
            return {field: self.value(field) for field in ("content", "properties") if self.random.random() < 0.9}
        if name == "files":
            return {field: self.value(field) for field in ("path", "content") if self.random.random() < 0.9}
        if name == "source_types":
            return {"name": self.random.choice(STRINGS), "authority": self.random.choice(NUMBERS)}
        return self.value("")

    def listed(self, value: Any) -> list[Any]:
        return value if isinstance(value, list) else [value]

    def spelled(self, value: Any) -> bytes:
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("seed", range(3))
def test_records__thousands_of_random_requests__are_all_answered_or_refused_in_type(world: World, seed: int) -> None:
    owner, stranger = Records(world), Records(world, world.writer2)
    live, gone, erased, theirs = (owner.ingest(f"record {n}", properties=["a:1"]) for n in range(4))
    theirs = stranger.ingest("not yours")
    owner.call("DELETE", f"/v1/records/{gone}")
    erase_record(world.admin, sr_id=erased, reason="x")
    shooter = Shooter(seed, [live, gone, erased, theirs])
    codes: dict[int, int] = {}
    for _ in range(500):
        method, path, body = shooter.shot()
        raw = None if body is None else json.dumps(body).encode()
        answer = owner.call(method, path, raw)
        told = json.loads(answer.content)
        assert answer.status_code in {200, 201, 400, 403, 404, 409, 410, 413, 422}, (method, path, body, told)
        assert ("error" in told) is (answer.status_code >= 400)
        codes[answer.status_code] = codes.get(answer.status_code, 0) + 1
    assert min(codes[200], codes[201], codes[400], codes[404], codes[410]) > 3  # near enough to hit
    assert stranger.read(theirs)["version"] == 0
    assert verify_tenant(world.admin.tenant_id).broken is None
    lines = list(exchange.exported(owner.by))
    assert exchange.import_entries(owner.by, lines)["entries"] == 0

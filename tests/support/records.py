"""Source records as sentences: a caller of their routes, and a principal's keys."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from oml.core.actor import Actor
from tests.support.world import World

HARD = "line\r\nnext\0 with NUL 😀 \ud7ff and trailing spaces   \t\n"


class Records:
    """Calls the routes of source records with a key, exactly as a client would.

    Args:
        world: whose keys.
        by: who calls unless a call says otherwise.
    """

    def __init__(self, world: World, by: Actor | None = None) -> None:
        self.world, self.by, self.client = world, by or world.writer, Client()

    def call(self, method: str, path: str, body: Any = None, *, by: Actor | None = None, **headers: str) -> Any:
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.world.secret[by or self.by]}", **headers}
        return self.client.generic(method, path, raw, content_type="application/json", headers=sent)

    def ingest(self, content: Any = "A fact.", *, by: Actor | None = None, **fields: Any) -> str:
        answer = self.call("POST", "/v1/records", {"content": content, **fields}, by=by)
        assert answer.status_code == 201, answer.content
        return str(answer.json()["sr_id"])

    def read(self, sr_id: str, *, by: Actor | None = None, **query: Any) -> dict[str, Any]:
        answer = self.client.get(
            f"/v1/records/{sr_id}", query, headers={"Authorization": f"Bearer {self.world.secret[by or self.by]}"}
        )
        assert answer.status_code == 200, answer.content
        return body_of(answer)

    def refused_read(self, sr_id: str, *, by: Actor | None = None, **query: Any) -> tuple[int, str]:
        answer = self.client.get(
            f"/v1/records/{sr_id}", query, headers={"Authorization": f"Bearer {self.world.secret[by or self.by]}"}
        )
        return answer.status_code, answer.json()["error"]["code"]

    def update(self, sr_id: str, **fields: Any) -> dict[str, Any]:
        answer = self.call("PATCH", f"/v1/records/{sr_id}", fields)
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def history(self, sr_id: str) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/v1/records/{sr_id}/history").json()["versions"])


def body_of(answer: Any) -> dict[str, Any]:
    """The JSON body, streamed or not."""
    raw = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return dict(json.loads(raw))


def code_of(answer: Any) -> str:
    return str(answer.json()["error"]["code"])

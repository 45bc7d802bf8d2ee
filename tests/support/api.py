"""An HTTP caller for ``/v1`` that says what it expects in words."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client


class Api:
    def __init__(self, client: Client) -> None:
        self.client = client

    def get(self, path: str, *, key: str | None, **query: Any) -> Any:
        return self.client.get(f"/v1/{path}", query, headers=_bearer(key))

    def post(self, path: str, body: Any, *, key: str | None, content_type: str = "application/json") -> Any:
        raw = body if isinstance(body, str | bytes) else json.dumps(body)
        return self.client.post(f"/v1/{path}", raw, content_type=content_type, headers=_bearer(key))

    def delete(self, path: str, *, key: str | None) -> Any:
        return self.client.delete(f"/v1/{path}", headers=_bearer(key))


def _bearer(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key is not None else {}


def refused(response: Any, code: str, status: int | None = None) -> dict[str, Any]:
    """Assert a typed refusal and return its error object."""
    error: dict[str, Any] = response.json()["error"]
    assert error["code"] == code, error
    assert status is None or response.status_code == status, response.status_code
    assert set(error) >= {"code", "rule", "message", "retryable"}
    return error

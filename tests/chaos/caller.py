"""An HTTP client that can be rude: it keeps connections, drops them after sending, and remembers every answer."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

LOST = (OSError, http.client.HTTPException)
PATIENCE_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: status and JSON body."""

    status: int
    body: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.body.get("error", {}).get("code", ""))


@dataclass
class History:
    """What all clients together were told; the checker holds it against the database."""

    answers: list[tuple[int, str]] = field(default_factory=list)
    lost: int = 0
    acknowledged: dict[str, tuple[str, str]] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def told(self, answer: Answer) -> None:
        with self._lock:
            self.answers.append((answer.status, answer.code))

    def no_answer(self) -> None:
        with self._lock:
            self.lost += 1

    def acknowledge(self, tenant: str, claim_key: str, answer: Answer) -> None:
        """A success for a claim; a second one must name the same artifact."""
        artifact = str(answer.body["artifact_id"])
        with self._lock:
            known = self.acknowledged.setdefault(claim_key, (tenant, artifact))
            if known != (tenant, artifact):
                self.contradictions.append(f"{claim_key}: {known[1]} and {artifact}")

    def of(self, tenant: str) -> dict[str, str]:
        """claim key → artifact id, as acknowledged to this tenant's clients."""
        with self._lock:
            return {key: artifact for key, (owner, artifact) in self.acknowledged.items() if owner == tenant}

    def server_errors(self) -> list[tuple[int, str]]:
        """Every answer that says that the server failed."""
        return [answer for answer in self.answers if answer[0] >= 500]

    def untyped(self) -> list[tuple[int, str]]:
        """Server errors other than the one that a database outage may cause."""
        return [answer for answer in self.server_errors() if answer != (503, "internal.unavailable")]


class Caller:
    """One key on one kept connection; for one thread."""

    def __init__(self, port: int, secret: str, history: History) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        self._history = history
        self._connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
        """One exchange. Raises one of ``LOST`` when no whole answer came; what happened is then unknown."""
        try:
            connection = self._send(method, path, body)
            response = connection.getresponse()
            answer = Answer(response.status, json.loads(response.read()))
        except LOST:
            self.close()
            self._history.no_answer()
            raise
        self._history.told(answer)
        return answer

    def send_and_drop(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Send a whole request and hang up without waiting for the answer."""
        with suppress(*LOST):
            self._send(method, path, body)
        self.close()

    def insist(self, method: str, path: str, body: dict[str, Any] | None = None) -> Answer:
        """Like :meth:`call`, again while a retry may help: no answer, or an error that says so itself."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            with suppress(*LOST):
                answer = self.call(method, path, body)
                if not answer.body.get("error", {}).get("retryable"):
                    return answer
            assert time.monotonic() < deadline, f"{method} {path}: no success within {PATIENCE_SECONDS} s"
            time.sleep(0.05)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        raw = None if body is None else json.dumps(body).encode()
        self._connection.request(method, f"/v1/{path}", body=raw, headers=self._headers)
        return self._connection

"""What the clients do: writers that retry and hang up on purpose, a reviewer who promotes, a reader who tails."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.caller import LOST, Answer, Caller, History
from tests.chaos.evidence import text_of

RETRIED, DROPPED = 0.1, 0.1
WRITERS = ("writer", "writer", "writer2", "writer2")  # four threads a tenant, two of them share each key


@dataclass
class Load:
    """Clients against one installation; a seed makes their choices repeatable."""

    port: int
    tenants: list[dict[str, Any]]
    seed: int
    history: History = field(default_factory=History)
    label: str = "load"

    def submit_everything(self, each: int) -> None:
        """Eight threads, ``each`` submissions a thread, in two tenants; returns when all are acknowledged."""
        jobs = [(tenant, key) for tenant in self.tenants for key in WRITERS]
        with ThreadPoolExecutor(len(jobs)) as pool:
            done = [pool.submit(self._write, *job, thread, each) for thread, job in enumerate(jobs)]
            for one in done:
                one.result()

    def submit(self, tenant: dict[str, Any], caller: Caller, name: str) -> Answer:
        """One claim, insisted on until it is acknowledged."""
        answer = caller.insist("POST", "memories", claim(tenant, name))
        assert answer.status in (200, 201), answer
        self.history.acknowledge(tenant["id"], name, answer)
        return answer

    def caller(self, tenant: dict[str, Any], key: str) -> Caller:
        return Caller(self.port, tenant["keys"][key], self.history)

    def _write(self, tenant: dict[str, Any], key: str, thread: int, each: int) -> None:
        chance = random.Random(f"{self.seed}/{thread}")
        caller = self.caller(tenant, key)
        for count in range(each):
            name = f"{self.label}-{thread}-{count}"
            what = chance.random()
            if what < DROPPED:
                caller.send_and_drop("POST", "memories", claim(tenant, name))
            first = self.submit(tenant, caller, name)
            if what > 1 - RETRIED:
                again = self.submit(tenant, caller, name)
                assert again.body == {**first.body, "idempotent_replay": True}
        caller.close()


def claim(tenant: dict[str, Any], name: str) -> dict[str, Any]:
    """The body of a submission whose text tells whose it is."""
    return {
        "workarea": tenant["nodes"]["a.team"],
        "claim_key": name,
        "text": text_of(tenant["slug"], name),
        "idempotency_key": f"once-{name}",
    }


@contextmanager
def meanwhile(*watchers: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run watchers beside the block, tell them when it is over, and raise what they raised."""
    over = threading.Event()
    with ThreadPoolExecutor(len(watchers)) as pool:
        running = [pool.submit(watcher, over) for watcher in watchers]
        try:
            yield
        finally:
            over.set()
        for one in running:
            one.result()


@dataclass
class Promoter:
    """Ratifies what was acknowledged, as soon as it is scanned, ``goal`` claims a tenant at most."""

    load: Load
    tenant: dict[str, Any]
    goal: int
    promoted: list[str] = field(default_factory=list)

    def __call__(self, over: threading.Event) -> None:
        caller = self.load.caller(self.tenant, "reviewer")
        done = 0
        while len(self.promoted) < self.goal and not over.is_set():
            acknowledged = list(self.load.history.of(self.tenant["id"]).values())
            if done < len(acknowledged) and self._ratify(caller, acknowledged[done]):
                done += 1
            else:
                time.sleep(0.1)
        caller.close()

    def _ratify(self, caller: Caller, artifact: str) -> bool:
        try:
            serve = caller.call("POST", "review/serves", {"artifact_id": artifact})
            if serve.code == "review.stale":
                return True  # promoted by a verdict whose answer was lost
            if serve.status != 201:
                assert serve.code in ("review.scan_pending", "internal.unavailable"), serve
                return False
            body = {
                "serve_id": serve.body["serve_id"],
                "content_digest": serve.body["content_digest"],
                "verdict": "ratify",
            }
            verdict = caller.call("POST", "review/verdicts", body)
        except LOST:
            return False
        if verdict.status != 200:
            assert verdict.code == "internal.unavailable", verdict
            return False
        assert verdict.body["state"] == "promoted", verdict
        self.promoted.append(artifact)
        return True


@dataclass
class Tail:
    """A reader that polls the tail from where it stands and keeps everything it sees."""

    load: Load
    tenant: dict[str, Any]
    seen: list[tuple[int, str, str]] = field(default_factory=list)
    after: int = 0

    def __call__(self, over: threading.Event) -> None:
        while not over.is_set():
            self.catch_up()
            time.sleep(0.05)

    def catch_up(self) -> None:
        """Read on until there is nothing new; once more when all writers have ended, for what came last."""
        caller = self.load.caller(self.tenant, "reader")
        while self._page(caller):
            pass
        caller.close()

    def promoted(self) -> list[str]:
        return [artifact for _, event, artifact in self.seen if event == "lifecycle.promote"]

    def _page(self, caller: Caller) -> bool:
        answer = caller.insist("GET", f"events?scope=universe&after_seq={self.after}&limit=20")
        assert answer.status == 200, answer
        for event in answer.body["events"]:
            self.seen.append((event["seq"], event["event_type"], event["subject"].get("artifact_id", "")))
        if answer.body["idle"]:
            # Nothing for this reader up to the head that the answer names: a client may go on from there.
            self.after = max(self.after, answer.body["head_seq"])
        else:
            self.after = answer.body["events"][-1]["seq"]
        return not answer.body["idle"]

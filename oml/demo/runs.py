"""A third story: an agent that starts every run with an empty sandbox, and goes on where its last run stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from oml.demo.story import WORKAREA, Agent, Story, first_cause, promise

AGENT = "@demo/assistant"
RELAXED = "universe.playground"
TOOLS = ["note", "pin", "recall_memory", "run_history"]


class RunStory(Story):
    """Plays on the same server, with the demo's own agent."""

    async def play(self) -> None:
        """All chapters in order; see :meth:`Story.play`."""
        self.inbox = [f"{self.claim_key}-{number}" for number in range(1, 6)]
        try:
            await self.first_run()
            await self.second_run_goes_on()
            await self.shared_at_once()
            await self.shared_after_review()
        except BaseExceptionGroup as group:
            raise first_cause(group) from None

    async def first_run(self) -> None:
        async with self.run("writer", WORKAREA) as (call, started):
            listed = await call.tools()
            promise(listed == TOOLS, f"a run's tools/list is {', '.join(listed)}")
            self.say(f"A run of {AGENT} has its own token and its own tools: {', '.join(listed)}.")
            done = await self.work(call, started["context"], at_most=3)
            promise(done == self.inbox[:3], f"the first run worked on {done}")
            await call("note", {"content": f"{self.claim_key}: the supplier answers in French."})
            self.say("It works off three mails of five, notes what it found out, and pins a checkpoint.")

    async def second_run_goes_on(self) -> None:
        async with self.run("writer", WORKAREA) as (call, started):
            promise("## Checkpoint" in started["context"], "the second run's prompt has no checkpoint")
            promise(self.claim_key not in started["context"].replace(self.inbox[2], ""), "a note is in the prompt")
            done = await self.work(call, started["context"], at_most=3)
            promise(done == self.inbox[3:], f"the second run worked on {done}")
            self.say("The second run is given that checkpoint in its prompt and works off the other two, none twice.")
            found = (await call("recall_memory", {"query": self.claim_key.upper()}))["memories"]
            promise(len(found) == 1 and "French" in found[0]["content"], "the note is not recalled")
            history = (await call("run_history", {"limit": 1}))["runs"]
            promise(history[0]["checkpoint"]["last"] == self.inbox[2], "run_history lacks the first run's checkpoint")
            self.say("recall_memory finds the note, whatever its case; run_history shows the first run's checkpoint.")
        async with self.run("writer2", WORKAREA) as (call, started):
            promise(self.claim_key not in started["context"], "another identity is given this one's checkpoint")
            found = (await call("recall_memory", {"query": self.claim_key}))["memories"]
            promise(found == [], "another identity recalls this one's note")
        self.say("The same agent run by another identity starts empty: private memory stays with who wrote it.")

    async def shared_at_once(self) -> None:
        key = self.claim_key.replace("-", "_")
        async with self.run("writer", RELAXED) as (call, _started):
            pinned = await call("pin", {"key": key, "content": "Quotes come as PDF.", "scope": "shared"})
            promise(pinned["state"] == "promoted" and pinned["self_signed"], f"the shared pin is {pinned['state']}")
        async with self.run("writer2", RELAXED) as (_call, started):
            promise(f"### {key} (shared, self-signed)" in started["context"], "the shared slot is not in the prompt")
        self.say(
            "In a development space with relaxed review a shared pin reaches every run at once, marked self-signed."
        )

    async def shared_after_review(self) -> None:
        fact = f"{self.claim_key}: the supplier is closed in January."
        async with self.run("writer", WORKAREA) as (call, _started):
            noted = await call("note", {"content": fact, "scope": "shared"})
            promise(noted["state"] == "held", f"the shared note is {noted['state']}")
            self.artifact = noted["artifact_id"]
        promise(await self.recalled("writer2", fact) == 0, "a held shared note is recalled")
        serve = await anyio.to_thread.run_sync(self.wait_for_serve)
        promise(serve["text"] == fact, "the reviewer was served another text")
        verdict = {"serve_id": serve["serve_id"], "content_digest": serve["content_digest"], "verdict": "ratify"}
        answer = self.http("POST", "reviewer", "/v1/review/verdicts", verdict)
        promise(answer.is_success, f"the verdict was refused: {answer.text}")
        promise(await self.recalled("writer2", fact) == 1, "the ratified note is not recalled by another identity")
        read = self.http("GET", "reader", f"/v1/memories/{self.artifact}")
        promise(read.status_code == 404, "readers of the workarea read an agent's note")
        self.say("In a committed space it waits for a reviewer like any claim; then every run of the agent recalls it,")
        self.say("and nobody else: recall, graph and tail of the workarea know claims alone.")

    async def work(self, call: Agent, context: str, *, at_most: int) -> list[str]:
        """A fake agent loop: take up where the prompt's checkpoint says, work, pin the next checkpoint."""
        last = next((number for number, mail in enumerate(self.inbox) if f'"{mail}"' in context), -1)
        done = self.inbox[last + 1 : last + 1 + at_most]
        await call("pin", {"key": "checkpoint", "content": {"last": done[-1], "processed": last + 1 + len(done)}})
        return done

    async def recalled(self, name: str, text: str) -> int:
        async with self.run(name, WORKAREA) as (call, _started):
            return len((await call("recall_memory", {"query": text}))["memories"])

    @asynccontextmanager
    async def run(self, name: str, space: str) -> AsyncIterator[tuple[Agent, dict[str, Any]]]:
        """A run as the named key's identity, finished when the block ends."""
        answer = self.http("POST", name, "/v1/runs", {"agent": AGENT, "space": space})
        promise(answer.status_code == 201, f"the run was not started: {answer.text}")
        started: dict[str, Any] = answer.json()
        headers = {"Authorization": f"Bearer {started['run_token']}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{self.document['mcp_url']}/run", http_client=http)) as client,
        ):
            yield Agent(client), started
        ended = self.http("POST", name, f"/v1/runs/{started['run_id']}/finish", {})
        promise(ended.is_success, f"the run was not finished: {ended.text}")

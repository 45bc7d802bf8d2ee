"""The chapters: an agent remembers, nobody else sees it, a reviewer ratifies it, another agent recalls it.

Every sentence that is printed as held was checked on what came over the wire.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

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
SCAN_SECONDS = 90.0


class BrokenPromise(Exception):
    """Something that the story says did not hold."""


class Story:
    """One run of the story.

    Args:
        document: ``demo.json`` of the server.
        say: prints one sentence that held.
    """

    def __init__(self, document: dict[str, Any], say: Callable[[str], None]) -> None:
        self.document = document
        self.say = say
        stamp = secrets.token_hex(3).upper()
        self.claim_key = f"supplier-quote-am-{stamp.lower()}"
        self.text = f"Accra Metals quoted 412 USD/t for Q1-2027 delivery, valid until 2026-11-15. Quote ref AM-{stamp}."
        self.submission = {
            "workarea": WORKAREA,
            "claim_key": self.claim_key,
            "text": self.text,
            "idempotency_key": f"demo/{stamp}",
        }
        self.question = {"query": f"aluminium quote Accra Metals AM-{stamp}", "scope": WORKAREA}
        self.artifact = ""
        self.seq = 0

    async def play(self) -> None:
        """All chapters in order.

        Raises:
            BrokenPromise: at the first thing that does not hold.
        """
        try:
            await self.agent_remembers()
            await self.others_see_nothing()
            await anyio.to_thread.run_sync(self.reviewer_ratifies)
            await self.reader_recalls()
            await self.retry_is_free()
        except BaseExceptionGroup as group:  # the client's task group wraps whatever leaves its context
            raise first_cause(group) from None

    async def agent_remembers(self) -> None:
        async with self.agent("writer") as call:
            listed = await call.tools()
            promise(listed == TOOLS, f"tools/list is {', '.join(listed)}")
            self.say(f"The agent's MCP client lists {len(listed)} tools: {', '.join(listed)}.")
            unknown = await call.error("oml_promote", {})
            promise(unknown == SENTENCE, f"oml_promote answered {unknown!r}")
            self.say("It tries oml_promote and meets an unknown tool: promotion is absent, not refused (R1).")
            self.seq = (await call("oml_events_tail", {"scope": WORKAREA}))["head_seq"]
            held = await call("oml_remember", self.submission)
            promise(held["state"] == "held", f"state is {held['state']}")
            promise(held["idempotent_replay"] is False, "a first submission is marked as a replay")
            self.artifact = held["artifact_id"]
            self.say(f"It remembers {self.claim_key}: accepted for review as {self.artifact}, state held.")
            mine = await self.own_item(call)
            promise(mine is not None and mine["state"] == "held", "my_work does not show it as held")
            self.say("oml_my_work shows it as held.")
            promise(not await self.found(call), "the author recalls a held memory")
            self.say("oml_recall does not return it, not even to its author.")

    async def others_see_nothing(self) -> None:
        async with self.agent("writer2") as call:
            promise(await self.own_item(call) is None, "another key sees it in its my_work")
            promise(not await self.found(call), "another key recalls it")
        read = self.http("GET", "reader", f"/v1/memories/{self.artifact}")
        promise(read.status_code == 404, f"another key reads it: HTTP {read.status_code}")
        promise(read.json()["error"]["code"] == "access.not_found", "the refusal is not access.not_found")
        self.say("A second agent sees nothing of it: not in my_work, not in recall;")
        self.say("reading its very id is access.not_found, as for an id that never was (R3).")

    def reviewer_ratifies(self) -> None:
        serve = self.wait_for_serve()
        promise(serve["text"] == self.text, "the reviewer was served another text")
        self.say(f"The scans are done; a reviewer is served the text ({serve['serve_id']}).")
        verdict = {
            "serve_id": serve["serve_id"],
            "content_digest": serve["content_digest"],
            "verdict": "ratify",
        }
        answer = self.http("POST", "reviewer", "/v1/review/verdicts", verdict)
        promise(answer.is_success, f"the verdict was refused: {answer.text}")
        again = self.http("POST", "reviewer", "/v1/review/verdicts", verdict)
        promise(again.status_code == 409, f"the serve could be used twice: HTTP {again.status_code}")
        self.say("The reviewer ratifies it over HTTP; the serve is spent with that one verdict (D14).")

    async def reader_recalls(self) -> None:
        async with self.agent("reader") as call:
            recalled = await call("oml_recall", self.question)
            promise(bool(recalled["steering"]), "no steering came along")
            promise(next(iter(recalled)) == "steering", "steering does not come first")
            promise(all("score" not in row for row in recalled["steering"]), "steering is ranked")
            hit = next((hit for hit in recalled["hits"] if hit["artifact_id"] == self.artifact), None)
            if hit is None:
                raise BrokenPromise("the ratified memory is not recalled")
            promise(hit["text"] == self.text and hit["state"] == "promoted", "the hit is not what was ratified")
            self.say(f"Steering first: “{recalled['steering'][0]['text']}”")
            self.say(f"Then the reader recalls it, score {hit['score']}: “{hit['text']}”")
            tail = await call("oml_events_tail", {"scope": WORKAREA, "after_seq": self.seq, "limit": 500})
            promoted = [
                event
                for event in tail["events"]
                if event["event_type"] == "lifecycle.promote" and event["subject"]["artifact_id"] == self.artifact
            ]
            promise(len(promoted) == 1, f"the tail shows {len(promoted)} promotions of it")
            self.say(f"The tail shows lifecycle.promote with seq {promoted[0]['seq']}, and nothing of the review.")

    async def retry_is_free(self) -> None:
        async with self.agent("writer") as call:
            again = await call("oml_remember", self.submission)
            promise(again["idempotent_replay"] is True, "the replay is not marked")
            promise(again["artifact_id"] == self.artifact, "the replay wrote a second artifact")
            self.say("The agent repeats its call with the same idempotency key: idempotent_replay true.")
            mine = await self.own_item(call)
            promise(mine is not None and mine["state"] == "promoted", "my_work does not show it as promoted")
            self.say("oml_my_work now shows it as promoted.")

    # How the actors act.

    @asynccontextmanager
    async def agent(self, name: str, mount: str = "") -> AsyncIterator[Agent]:
        """An agent with the named key of the demo tenant, on the official MCP client.

        Args:
            name: of the key in ``demo.json``.
            mount: what follows ``/mcp`` in the address, such as ``/records``.
        """
        headers = {"Authorization": f"Bearer {self.document['keys'][name]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(self.document["mcp_url"] + mount, http_client=http)) as client,
        ):
            yield Agent(client)

    def http(self, method: str, name: str, path: str, body: dict[str, Any] | None = None) -> httpx2.Response:
        """One ``/v1`` request with the named key."""
        headers = {"Authorization": f"Bearer {self.document['keys'][name]}"}
        return httpx2.request(method, self.document["base_url"] + path, json=body, headers=headers, timeout=60)

    async def own_item(self, call: Agent) -> dict[str, Any] | None:
        work = await call("oml_my_work", {"workarea": WORKAREA, "limit": 100})
        return next((item for item in work["items"] if item["claim_key"] == self.claim_key), None)

    async def found(self, call: Agent) -> bool:
        recalled = await call("oml_recall", {**self.question, "k": 50})
        return any(hit["artifact_id"] == self.artifact for hit in recalled["hits"])

    def wait_for_serve(self) -> dict[str, Any]:
        """Ask for the serve until the scans are through, as the refusal's own wait says."""
        deadline = time.monotonic() + SCAN_SECONDS
        while True:
            answer = self.http("POST", "reviewer", "/v1/review/serves", {"artifact_id": self.artifact})
            body: dict[str, Any] = answer.json()
            if answer.is_success:
                return body
            if body["error"]["code"] != "review.scan_pending" or time.monotonic() > deadline:
                raise BrokenPromise(f"the reviewer was not served: {body['error']['code']}: {body['error']['message']}")
            time.sleep(float(answer.headers["Retry-After"]))


class Agent:
    """Calls tools and hands back what the model would see."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        content: dict[str, Any] = result.structured_content or {}
        if result.is_error:
            error = content["error"]
            raise BrokenPromise(f"{tool} was refused: {error['code']}: {error['message']}")
        return content

    async def error(self, tool: str, arguments: dict[str, Any]) -> str:
        """The protocol error that a call meets."""
        try:
            await self.client.call_tool(tool, arguments)
        except MCPError as error:
            return error.message
        raise BrokenPromise(f"{tool} is served")

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]


def first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong inside a client's task group."""
    inner = group.exceptions[0]
    return first_cause(inner) if isinstance(inner, BaseExceptionGroup) else inner


def promise(held: bool, otherwise: str) -> None:
    """Go on only when it held."""
    if not held:
        raise BrokenPromise(otherwise)

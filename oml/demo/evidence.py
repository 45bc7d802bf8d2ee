"""A second story: evidence that one agent keeps for itself, cited by a claim, read by others only as cited."""

from __future__ import annotations

import json
from typing import Any

import anyio

from oml.demo.story import WORKAREA, Agent, BrokenPromise, Story, first_cause, promise

RECORDS = "/records"


class EvidenceStory(Story):
    """Plays after the first story, on the same server, with records of its own."""

    async def play(self) -> None:
        """All chapters in order; see :meth:`Story.play`."""
        self.content = json.dumps({"supplier": "Accra Metals", "usd_per_tonne": 412, "ref": self.claim_key})
        self.sr_id = ""
        try:
            await self.agent_keeps_evidence()
            await self.others_do_not_find_it()
            await self.agent_cites_it()
            await anyio.to_thread.run_sync(self.reviewer_reads_it_first)
            await self.reader_reads_what_was_cited()
        except BaseExceptionGroup as group:  # the client's task group wraps whatever leaves its context
            raise first_cause(group) from None

    async def agent_keeps_evidence(self) -> None:
        async with self.agent("writer", RECORDS) as call:
            made = await call(
                "e_ingest",
                {"content": self.content, "source_type": "documentary", "properties": ["org:Accra"], "sync": True},
            )
            self.sr_id = made["sr_id"]
            read = await call("e_read", {"sr_id": self.sr_id})
            promise(read["content"] == self.content, "the record is not what was sent")
            promise(read["version"] == 0 and read["authority_level"] == 80, "the record's fields are not the seed's")
            self.say(f"The agent keeps the supplier's mail as a source record, exactly as sent: {self.sr_id}.")
            found = await call("e_gather", {"query": self.claim_key, "properties": ["org:Accra"]})
            promise(any(one["sr_id"] == self.sr_id for one in found["records"]), "gather does not find the record")
            self.say("e_gather finds it again by its words and its property.")

    async def others_do_not_find_it(self) -> None:
        async with self.agent("writer2", RECORDS) as call:
            promise(await self.code(call, {"sr_id": self.sr_id}) == "access.not_found", "another agent reads it")
        self.say("A second agent reads its very id: access.not_found. A record is private to its principal.")

    async def agent_cites_it(self) -> None:
        async with self.agent("writer") as call:
            held = await call(
                "oml_remember",
                {
                    "workarea": WORKAREA,
                    "claim_key": f"{self.claim_key}-evidence",
                    "text": "Accra Metals asks 412 USD/t; the mail is on file.",
                    "evidence": [{"sr_id": self.sr_id}],
                },
            )
            self.artifact = held["artifact_id"]
        async with self.agent("writer", RECORDS) as call:
            changed = await call("e_update", {"sr_id": self.sr_id, "content": "Withdrawn.", "note": "a later mail"})
            promise(changed["version"] == 1, "the update is not version 1")
        self.say(f"It submits {self.artifact}, citing version 0, and then writes version 1 of the record.")

    def reviewer_reads_it_first(self) -> None:
        serve = self.wait_for_serve()
        verdict = {
            "serve_id": serve["serve_id"],
            "content_digest": serve["content_digest"],
            "verdict": "ratify",
        }
        early = self.http("POST", "reviewer", "/v1/review/verdicts", verdict)
        promise(early.status_code == 409, f"a verdict counted before the evidence was read: HTTP {early.status_code}")
        promise(early.json()["error"]["code"] == "review.parts_unserved", "the refusal is not review.parts_unserved")
        (part,) = serve["parts"]
        shown = self.http("GET", "reviewer", part["url"]).json()
        promise(shown["content"] == self.content, "the reviewer was shown another version")
        answer = self.http("POST", "reviewer", "/v1/review/verdicts", verdict)
        promise(answer.is_success, f"the verdict was refused: {answer.text}")
        self.say("The reviewer's verdict is refused until the cited version was read, then it counts (D14).")

    async def reader_reads_what_was_cited(self) -> None:
        async with self.agent("reader", RECORDS) as call:
            cited = await call("e_read", {"sr_id": self.sr_id, "version": 0})
            promise(cited["content"] == self.content, "the reader does not get the cited version")
            for rest in ({"version": 1}, {}):
                code = await self.code(call, {"sr_id": self.sr_id, **rest})
                promise(code == "access.not_found", f"the reader learns more of the record: {code}")
        self.say("Another agent now reads exactly that version, and nothing else of the record.")

    @staticmethod
    async def code(call: Agent, arguments: dict[str, Any]) -> str:
        """The code that reading a record is refused with."""
        result = await call.client.call_tool("e_read", arguments)
        content: dict[str, Any] = result.structured_content or {}
        if not result.is_error:
            raise BrokenPromise("e_read was not refused")
        return str(content["error"]["code"])

"""The chapters after the promotion: an edge, a new version, a simulation, a demotion, an erasure, the evidence.

Everything goes over ``/v1``, as an administrator, an author and a reviewer would do it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from oml.demo.server import ROOT
from oml.demo.story import WORKAREA, BrokenPromise, Story, promise

METALS = WORKAREA
PROCUREMENT = "universe.procurement"


class Governance:
    """The second half of the story, told after :class:`Story`; same document, same voice."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.say = story.say
        self.stamp = secrets.token_hex(3)

    def play(self) -> None:
        """All chapters in order.

        Raises:
            BrokenPromise: at the first thing that does not hold.
        """
        self.an_edge()
        second = self.a_new_version()
        self.a_simulation()
        self.a_demotion(second)
        self.an_erasure()
        self.the_evidence()

    def an_edge(self) -> None:
        edge = self.do(
            "proposer", "/v1/edges", kind="workarea", label="relates_to", **{"from": METALS, "to": PROCUREMENT}
        )
        if edge["state"] == "ratified":
            self.say(
                "The edge between the crew and procurement stands since an earlier run; proposing it gave it back."
            )
            return
        if edge["state"] == "pending":
            self.refused("reviewer", "/v1/review/serves", "access.not_found", edge_id=f"{edge['edge_id']}x")
            serve = self.do("reviewer", "/v1/review/serves", edge_id=edge["edge_id"])
            edge["state"] = self.verdict("reviewer", serve)["state"]
        promise(edge["state"] == "ratified", f"the edge is {edge['state']}")
        self.say("Somebody proposes that the crew relates to procurement; a reviewer of both ratifies the edge.")

    def a_new_version(self) -> str:
        first = self.story.artifact
        text = self.story.text.replace("412", "409")
        new = self.do("writer", f"/v1/memories/{first}/versions", text=text)
        promise((new["version"], new["state"]) == (2, "held"), f"the new version is {new}")
        promise(self.recalled(first), "the promoted version stopped being served while the new one is held")
        self.say("The author proposes a new version: held, while the old one goes on being recalled.")
        self.refused("writer2", f"/v1/memories/{first}/versions", "access.forbidden", text=text)
        self.story.artifact = new["artifact_id"]
        self.verdict("reviewer", self.story.wait_for_serve())
        promise(self.recalled(new["artifact_id"]) and not self.recalled(first), "the old version is still recalled")
        self.say("Ratified, it replaces the old one in the same moment; nobody else could have proposed it.")
        return str(new["artifact_id"])

    def a_simulation(self) -> None:
        keys = self.story.document["key_ids"]
        fence = self.do("admin", "/v1/simulations", name=f"what if {self.stamp}", audience=[keys["writer"]])
        simulation = fence["simulation_id"]
        body: dict[str, Any] = {
            "workarea": METALS,
            "claim_key": f"what-if-{self.stamp}",
            "text": "Suppose that aluminium costs 600 USD/t.",
            "simulation_id": simulation,
        }
        self.do("writer", "/v1/memories", **body)
        self.refused("writer2", "/v1/memories", "access.not_found", **body)
        self.do("admin", f"/v1/simulations/{simulation}/close")
        self.say("A simulation is a fence: a key outside its audience cannot tell that it exists. It is closed again.")

    def a_demotion(self, artifact: str) -> None:
        self.refused("writer", f"/v1/memories/{artifact}/demote", "access.verb_ceiling", reason="no")
        gone = self.do("admin", f"/v1/memories/{artifact}/demote", reason="The supplier took the quote back.")
        promise(gone["state"] == "demoted" and not self.recalled(artifact), "a demoted claim is still recalled")
        self.say("An administrator demotes the claim: it leaves recall at once. A writer's key can never do that.")

    def an_erasure(self) -> None:
        artifact = self.story.artifact
        preview = self.do("admin", f"/v1/memories/{artifact}/erase", reason="Not ours to keep.", preview=True)
        promise(preview["destroyed"]["text_characters"] > 0, "the preview counts nothing")
        receipt = self.do("admin", f"/v1/memories/{artifact}/erase", reason="Not ours to keep.")
        promise(receipt["destroyed"] == preview["destroyed"], "the receipt differs from the preview")
        self.refused("admin", f"/v1/memories/{artifact}/erase", "review.stale", reason="Again.")
        self.say(f"Erased, after a preview: {_counts(receipt['destroyed'])}. Ids and digests stay, and nothing else.")

    def the_evidence(self) -> None:
        answer = self.story.http("POST", "admin", "/v1/evidence", {})
        promise(answer.status_code == 200, f"the export was refused: {answer.text[:300]}")
        trusted = self.story.http("GET", "reader", "/v1/deployment-keys")
        with tempfile.TemporaryDirectory() as folder:
            bundle, keys = Path(folder) / "evidence.zip", Path(folder) / "keys.json"
            bundle.write_bytes(answer.content)
            keys.write_text(json.dumps(trusted.json()))
            done = _verify("bundle", str(bundle), "--keys", str(keys))
            promise(done.returncode == 0, f"oml-verify: {done.stdout}{done.stderr}")
            changed = bytearray(answer.content)
            changed[len(changed) // 2] ^= 1
            bundle.write_bytes(changed)
            promise(_verify("bundle", str(bundle), "--keys", str(keys)).returncode != 0, "a changed bundle verifies")
        size = len(answer.content) // 1024
        self.say(f"The evidence, {size} KiB, is verified offline by a program that shares no code with the server;")
        self.say("with one bit of it changed, it is refused.")

    # How it is said to the server.

    def do(self, name: str, path: str, /, **body: Any) -> dict[str, Any]:
        """One request that must succeed."""
        answer = self.story.http("POST", name, path, body)
        promise(answer.is_success, f"{path} as {name}: {answer.text[:300]}")
        done: dict[str, Any] = answer.json()
        return done

    def refused(self, name: str, path: str, code: str, /, **body: Any) -> None:
        """One request that must be refused with this code."""
        answer = self.story.http("POST", name, path, body)
        got = answer.json().get("error", {}).get("code", f"HTTP {answer.status_code}")
        promise(got == code, f"{path} as {name} answered {got} instead of {code}")

    def verdict(self, name: str, serve: dict[str, Any]) -> dict[str, Any]:
        return self.do(
            name,
            "/v1/review/verdicts",
            serve_id=serve["serve_id"],
            content_digest=serve["content_digest"],
            verdict="ratify",
        )

    def recalled(self, artifact: str) -> bool:
        found = self.do("reader", "/v1/recall", **self.story.question, k=50)
        return any(hit["artifact_id"] == artifact for hit in found["hits"])


def _counts(destroyed: dict[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in destroyed.items() if count)


def _verify(*words: str) -> subprocess.CompletedProcess[str]:
    tool = ROOT / "tools" / "oml_verify"
    if not tool.is_dir():
        raise BrokenPromise("tools/oml_verify is not there")
    environment = {**os.environ, "PYTHONPATH": str(tool)}
    return subprocess.run([sys.executable, "-m", "oml_verify", *words], env=environment, capture_output=True, text=True)

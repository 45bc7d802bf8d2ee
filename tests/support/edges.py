"""Edges proposed and judged as the keys of a world, over ``/v1``."""

from __future__ import annotations

from typing import Any

from oml.core.actor import Actor
from tests.support.api import Api
from tests.support.world import World


class Edges:
    """``edges.proposed(…)`` is an edge id; ``edges.ratified(…)`` one that a reviewer has agreed to."""

    def __init__(self, world: World, api: Api) -> None:
        self.world, self.api = world, api
        self.proposer = world.key("proposer")

    def propose(
        self,
        start: str,
        end: str,
        *,
        by: Actor | None = None,
        kind: str = "claim",
        label: str = "supports",
        **more: Any,
    ) -> Any:
        body = {"kind": kind, "label": label, "from": start, "to": end, **more}
        return self.api.post("edges", body, key=self.world.secret[by or self.proposer])

    def proposed(self, start: str, end: str, **fields: Any) -> str:
        answer = self.propose(start, end, **fields)
        assert answer.status_code == 201, answer.json()
        return str(answer.json()["edge_id"])

    def serve(self, edge: str, *, by: Actor | None = None) -> Any:
        return self.api.post("review/serves", {"edge_id": edge}, key=self.world.secret[by or self.world.reviewer])

    def judge(self, served: dict[str, Any], *, by: Actor | None = None, verdict: str = "ratify", **fields: Any) -> Any:
        body = {"serve_id": served["serve_id"], "content_digest": served["content_digest"], "verdict": verdict}
        return self.api.post("review/verdicts", {**body, **fields}, key=self.world.secret[by or self.world.reviewer])

    def ratified(self, start: str, end: str, **fields: Any) -> str:
        edge = self.proposed(start, end, **fields)
        answer = self.judge(self.serve(edge).json())
        assert answer.status_code == 200, answer.json()
        return edge

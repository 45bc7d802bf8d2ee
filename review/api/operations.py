"""The reviewer's operations on ``/v1``. Deliberately not MCP tools: R1 keeps verdicts off that surface (D14)."""

from __future__ import annotations

from typing import Any

from memory.api.answers import FLAG, NUMBER, STRING, TIME, a_list, an_object, nullable
from oml.core.actor import Actor
from oml.http.operations import Operation
from review.actions.edge_serve import is_edge_serve, serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.actions.serve import serve_item
from review.actions.verdict import VerdictCommand, give_verdict
from review.api import shapes
from review.policy import ReasonCode, VerdictWord
from review.selectors.edge_queue import EdgeQuery, edge_queue
from review.selectors.queue import QueueQuery, review_queue
from review.selectors.served import served_item
from review.selectors.served_edge import served_edge


def _queue(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return review_queue(actor, query=QueueQuery(**values))


def _serve(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    if "edge_id" in values:
        return served_edge(actor, serve_id=serve_edge(actor, edge=values["edge_id"]).pk)
    serve = serve_item(actor, artifact=values["artifact_id"])
    return served_item(actor, serve_id=serve.pk)


def _verdict(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    code = values.get("reason_code")
    command = VerdictCommand(
        serve_id=values["serve_id"],
        content_digest=values["content_digest"],
        verdict=VerdictWord(values["verdict"]),
        reason_code=ReasonCode(code) if code else None,
        reason=values.get("reason", ""),
    )
    if is_edge_serve(actor, serve_id=command.serve_id):
        return give_edge_verdict(actor, command=command)
    return give_verdict(actor, command=command)


def _edge_queue(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return edge_queue(actor, query=EdgeQuery(**values))


_EDGE = an_object(
    {
        "edge_id": STRING,
        "kind": STRING,
        "label": STRING,
        "from": {"type": "object"},
        "to": {"type": "object"},
        "proposer": STRING,
        "proposer_key": STRING,
        "proposed_at": TIME,
        "may_judge": FLAG,
        "blocked_by": nullable(an_object({"code": STRING, "rule": STRING, "message": STRING})),
    }
)
_COUNTS = an_object({"mine": NUMBER, "others": NUMBER})
_EDGES = an_object({"items": a_list(_EDGE), "next_cursor": nullable(STRING), "total": NUMBER, "counts": _COUNTS})
_ITEM = an_object(
    {
        "artifact_id": STRING,
        "claim_key": STRING,
        "version": NUMBER,
        "kind": STRING,
        "channel": STRING,
        "agent_state": nullable(an_object({"agent": STRING, "key": nullable(STRING), "run_id": nullable(STRING)})),
        "state": STRING,
        "workarea": STRING,
        "workarea_path": STRING,
        "author_key": STRING,
        "author": STRING,
        "submitted_at": TIME,
        "held_expires_at": TIME,
        "size_chars": NUMBER,
        "lineage_declared": NUMBER,
        "scan": STRING,
        "ratified": NUMBER,
        "required": NUMBER,
        "may_judge": FLAG,
        "blocked_by": nullable(an_object({"code": STRING, "rule": STRING, "message": STRING})),
    }
)
_QUEUE = an_object(
    {
        "items": a_list(_ITEM),
        "next_cursor": nullable(STRING),
        "total": NUMBER,
        "counts": _COUNTS,
    }
)
_SERVED = an_object(
    {
        "serve_id": STRING,
        "expires_at": TIME,
        "subject": {"type": "object"},
        "content_digest": STRING,
        "text": STRING,
        "lineage": a_list({"type": "object"}),
        "scans": a_list(an_object({"scanner": STRING, "version": STRING, "outcome": STRING})),
        "findings": a_list({"type": "object"}),
        "parts": a_list({"type": "object"}),
        "actions": a_list(STRING),
    },
    {"rejected_before": a_list({"type": "object"})},
)
_JUDGED = {
    "anyOf": [
        an_object(
            {
                "serve_id": STRING,
                "verdict": STRING,
                "artifact_id": STRING,
                "claim_key": STRING,
                "version": NUMBER,
                "state": STRING,
                "ratified": NUMBER,
                "required": NUMBER,
            },
            {"promoted_at": TIME, "self_signed": FLAG},
        ),
        an_object(
            {"serve_id": STRING, "verdict": STRING, "edge_id": STRING, "kind": STRING, "label": STRING, "state": STRING}
        ),
    ]
}

queue = Operation(
    "review_queue",
    shapes.QueueShape,
    _queue,
    _QUEUE,
    summary="Held items in the nodes this key reviews, least time left first",
)
serve = Operation(
    "review_serve",
    shapes.ServeShape,
    _serve,
    _SERVED,
    creates=True,
    summary="Open a held item: a single-use, expiring serve",
)
verdict = Operation(
    "review_verdict", shapes.VerdictShape, _verdict, _JUDGED, summary="Ratify or reject what was served"
)
edges = Operation(
    "review_edges", shapes.EdgeQueueShape, _edge_queue, _EDGES, summary="Pending edges that await this reviewer"
)

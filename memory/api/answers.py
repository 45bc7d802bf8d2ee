"""JSON schemas of memory's answers, for OpenAPI and the tools reference; a test holds them against real answers."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}


def an_object(required: Schema, optional: Schema | None = None) -> Schema:
    """An object whose ``required`` members are always there."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def a_list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_CLAIM: Schema = {"artifact_id": STRING, "claim_key": STRING, "version": NUMBER}
REMEMBERED = an_object(
    {**_CLAIM, "state": STRING, "workarea": STRING, "attachments_bound": NUMBER, "idempotent_replay": FLAG}
)
LEARNED = an_object({**_CLAIM, "kind": STRING, "state": STRING, "lineage_declared": NUMBER, "idempotent_replay": FLAG})
SUBMITTED: Schema = {"anyOf": [REMEMBERED, LEARNED]}

VERSIONED = REMEMBERED
ENDED = an_object({**_CLAIM, "state": STRING})
ERASED = an_object({**_CLAIM, "state": STRING, "preview": FLAG, "destroyed": {"type": "object"}}, {"erased_at": TIME})
PROPOSED = an_object(
    {
        "edge_id": STRING,
        "kind": STRING,
        "label": STRING,
        "state": STRING,
        "proposer_key": STRING,
        "awaiting": nullable(STRING),
    }
)
GRAPH = an_object(
    {
        "claims": a_list(an_object({**_CLAIM, "kind": STRING, "state": STRING, "workarea": STRING})),
        "edges": a_list(
            an_object(
                {"kind": STRING, "from": STRING, "to": STRING, "state": STRING}, {"label": STRING, "edge_id": STRING}
            )
        ),
        "truncated": FLAG,
        "next_cursor": nullable(STRING),
    }
)

_ATTACHMENT = an_object({"sha256": STRING, "media_type": STRING, "size_bytes": NUMBER})
CITED = an_object({"sr_id": STRING, "version": NUMBER}, {"erased": FLAG})
_STEERING = an_object({"artifact_id": STRING, "kind": STRING, "text": STRING, "workarea_path": STRING})
_HIT = an_object(
    {
        **_CLAIM,
        "state": STRING,
        "score": {"type": "number"},
        "text": STRING,
        "workarea_path": STRING,
        "promoted_at": TIME,
        "attachments": a_list(_ATTACHMENT),
    },
    {
        "evidence": a_list(CITED),
        "text_truncated": FLAG,
        "explain": {"type": "object"},
    },
)
RECALLED = an_object(
    {"steering": a_list(_STEERING), "hits": a_list(_HIT)},
    {"steering_truncated": FLAG, "truncated_hits": NUMBER, "degraded": a_list(STRING)},
)
MY_WORK = an_object(
    {
        "items": a_list(
            an_object(
                {**_CLAIM, "kind": STRING, "state": STRING, "submitted_at": TIME},
                {"held_expires_at": TIME, "promoted_at": TIME, "cause": STRING},
            )
        ),
        "next_cursor": nullable(STRING),
    }
)
WORKAREA = an_object(
    {
        "id": STRING,
        "path": STRING,
        "status": STRING,
        "crew": nullable(
            an_object({"name": STRING, "charter_uri": nullable(STRING), "external_manager": nullable(STRING)})
        ),
        "parent": nullable(STRING),
        "children": a_list(an_object({"id": STRING, "path_leaf": STRING, "status": STRING})),
        "edges": a_list(an_object({"label": STRING, "state": STRING}, {"to": STRING, "from": STRING})),
        "my_effective_verbs": a_list(STRING),
        "permission_epoch": NUMBER,
    }
)
TAIL = an_object(
    {
        "events": a_list(
            an_object(
                {"seq": NUMBER, "event_type": STRING, "at": TIME, "subject": {"type": "object"}},
                {"workarea": STRING},
            )
        ),
        "head_seq": NUMBER,
        "idle": FLAG,
    }
)
ARTIFACT = an_object(
    {
        **_CLAIM,
        "kind": STRING,
        "state": STRING,
        "text": STRING,
        "workarea": STRING,
        "workarea_path": STRING,
        "submitted_at": TIME,
        "promoted_at": TIME,
        "derives_from": a_list(STRING),
        "attachments": a_list(_ATTACHMENT),
    },
    {"occurred_at": TIME, "valid_from": TIME, "valid_to": TIME, "thread": STRING, "self_signed": FLAG},
)

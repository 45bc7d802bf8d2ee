"""JSON schemas of the answers of agents and runs."""

from __future__ import annotations

from memory.api.answers import FLAG, NUMBER, STRING, TIME, Schema, a_list, an_object, nullable

ANYTHING: Schema = {}
AGENT = an_object(
    {
        "agent_id": STRING,
        "agent": STRING,
        "scope": STRING,
        "name": STRING,
        "manifest": {"type": "object"},
        "created_at": TIME,
        "updated_at": TIME,
    },
    {"created": FLAG},
)
AGENTS = an_object({"items": a_list(AGENT), "next_cursor": nullable(STRING)})
STARTED = an_object({"run_id": STRING, "run_token": STRING, "context": STRING})
RUN = an_object(
    {
        "run_id": STRING,
        "agent": STRING,
        "space": STRING,
        "status": STRING,
        "started_at": TIME,
        "checkpoint": ANYTHING,
        "result": ANYTHING,
    },
    {"finished_at": TIME},
)
RUNS = an_object({"items": a_list(RUN), "next_cursor": nullable(STRING)})
CONTEXT = an_object(
    {
        "run_id": STRING,
        "context": STRING,
        "checkpoint": ANYTHING,
        "slots": a_list(an_object({"key": STRING, "content": ANYTHING, "scope": STRING, "self_signed": FLAG})),
        "memory": a_list(an_object({"content": ANYTHING, "scope": STRING})),
    }
)
_WRITTEN: Schema = {"scope": STRING, "state": STRING, "message": STRING}
_SHARED: Schema = {"artifact_id": STRING, "self_signed": FLAG, "idempotent_replay": FLAG}
PINNED = an_object({"key": STRING, **_WRITTEN}, _SHARED)
NOTED = an_object({"id": NUMBER, **_WRITTEN}, _SHARED)
RECALLED = an_object(
    {
        "memories": a_list(
            an_object(
                {"id": NUMBER, "content": STRING, "scope": STRING, "run_id": nullable(STRING), "created_at": TIME},
                {"self_signed": FLAG},
            )
        )
    }
)
HISTORY = an_object(
    {
        "runs": a_list(
            an_object(
                {"run_id": STRING, "status": STRING, "started_at": TIME, "finished_at": TIME},
                {"checkpoint": ANYTHING, "result": ANYTHING},
            )
        ),
        "has_more": FLAG,
    }
)

"""JSON schemas of the answers of source records."""

from __future__ import annotations

from memory.api.answers import FLAG, NUMBER, STRING, TIME, Schema, a_list, an_object, nullable

_INGESTED: Schema = {"sr_id": STRING, "content_hash": STRING, "ingested_at": TIME}
_INDEX = an_object({"state": STRING, "chunks": NUMBER, "vectors": NUMBER})
INGESTED = an_object(_INGESTED, {"index": _INDEX})
BATCH = an_object({"records": a_list(an_object(_INGESTED))}, {"idempotent_replay": FLAG})
CORRECTED = an_object({**_INGESTED, "corrects": STRING})
ADJUSTED = an_object({**_INGESTED, "adjusts": STRING})
CHANGED = an_object(
    {"sr_id": STRING, "version": NUMBER, "content_hash": STRING, "changed": a_list(STRING)}, {"index": _INDEX}
)
REMOVED = an_object({"sr_id": STRING, "version": NUMBER, "removed_at": TIME})
FIELDS: Schema = {
    "sr_id": STRING,
    "content": nullable(STRING),
    "lane": STRING,
    "lane_uuid": STRING,
    "source_type": STRING,
    "authority_level": NUMBER,
    "source_system": STRING,
    "ingested_at": TIME,
    "version": NUMBER,
}
RECORD = an_object(
    FIELDS,
    {
        "properties": a_list(STRING),
        "erased_at": TIME,
        "connections": a_list(an_object({"label": STRING, "to": STRING})),
        "corrections": a_list(STRING),
        "adjustments": a_list(STRING),
    },
)
HISTORY = an_object(
    {
        "sr_id": STRING,
        "versions": a_list(
            an_object(
                {
                    "version": NUMBER,
                    "written_at": TIME,
                    "changed": a_list(STRING),
                    "note": nullable(STRING),
                    "content_hash": STRING,
                    "engine_id": STRING,
                    "author_key": STRING,
                    "deleted": FLAG,
                    "superseded": FLAG,
                }
            )
        ),
    }
)
ERASED = an_object(
    {
        "sr_id": STRING,
        "versions": NUMBER,
        "preview": FLAG,
        "destroyed": {"type": "object"},
        "citing_claims": NUMBER,
        "pinned": a_list(STRING),
    },
    {"erased_at": TIME},
)
GROUP = an_object({"group": STRING, "records": a_list(STRING)})
LANE = an_object(
    {
        "lane": STRING,
        "lane_uuid": STRING,
        "home_of": nullable(STRING),
        "workarea": nullable(STRING),
        "default_source_type": STRING,
        "source_types": {"type": "object"},
    }
)
LANES = an_object({"items": a_list(LANE), "next_cursor": nullable(STRING)})

_FOUND = an_object(
    FIELDS,
    {
        "properties": a_list(STRING),
        "score": {"type": "number"},
        "content_truncated": FLAG,
        "chunks_without_vector": NUMBER,
    },
)
GATHERED = an_object({"records": a_list(_FOUND)}, {"degraded": a_list(STRING)})
TIMELINE = an_object({"records": a_list(_FOUND), "next_cursor": nullable(STRING)})
TAKEN_IN = an_object(
    {"folder": STRING, "files": a_list(an_object({"path": STRING, "sr_id": STRING, "outcome": STRING}))}
)

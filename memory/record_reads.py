"""Reads of source records that leave a trace: select, then write the read log before the answer leaves."""

from __future__ import annotations

from typing import Any

from memory.claims.evidence import disclosed_to
from memory.recall import readlog
from memory.records.commands import ReadCommand
from memory.records.errors import RecordNotFound
from memory.records.selectors.gather import GatherQuery, TimelineQuery, gather, timeline
from memory.records.selectors.reading import body_of, history_of, read_own
from oml.core.actor import Actor
from workareas import quota


def record(actor: Actor, *, command: ReadCommand) -> dict[str, Any]:
    """One record (seed: e_read): the caller's own, or exactly a version that a claim readable to it cites.

    Errors as :func:`read_own`: whatever is neither does not exist.
    """
    quota.take(actor, quota.Quota.READ)
    body = _own_or_cited(actor, command)
    readlog.record(actor, surface="record", workarea_id=None, returned=[f"{body['sr_id']}@{body['version']}"])
    return body


def _own_or_cited(actor: Actor, command: ReadCommand) -> dict[str, Any]:
    try:
        return read_own(actor, command=command)
    except RecordNotFound:
        entry = None
        if command.version is not None and command.as_of is None:
            entry = disclosed_to(actor, command.sr_id, command.version)
        if entry is None:
            raise
        return body_of(entry)


def history(actor: Actor, *, sr_id: str) -> dict[str, Any]:
    """Every version of a record (seed: e_audit history); errors as :func:`history_of`."""
    quota.take(actor, quota.Quota.READ)
    body = history_of(actor, sr_id=sr_id)
    readlog.record(actor, surface="record_history", workarea_id=None, returned=[body["sr_id"]])
    return body


def gathered(actor: Actor, *, query: GatherQuery) -> dict[str, Any]:
    """Records that answer a question (seed: e_gather); errors as :func:`gather`."""
    quota.take(actor, quota.Quota.READ)
    body = gather(actor, query=query)
    _log(actor, "record_gather", body, query.query)
    return body


def timeline_page(actor: Actor, *, query: TimelineQuery) -> dict[str, Any]:
    """Records in the order of time (seed: e_timeline); errors as :func:`timeline`."""
    quota.take(actor, quota.Quota.READ)
    body = timeline(actor, query=query)
    _log(actor, "record_timeline", body, None)
    return body


def _log(actor: Actor, surface: str, body: dict[str, Any], query: str | None) -> None:
    returned = [f"{one['sr_id']}@{one['version']}" for one in body["records"]]
    readlog.record(actor, surface=surface, workarea_id=None, query=query, returned=returned)

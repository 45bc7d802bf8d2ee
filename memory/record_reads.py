"""Reads of source records that leave a trace: select, then write the read log before the answer leaves."""

from __future__ import annotations

from typing import Any

from memory.recall import readlog
from memory.records.commands import ReadCommand
from memory.records.selectors.reading import history_of, read_own
from oml.core.actor import Actor
from workareas import quota


def record(actor: Actor, *, command: ReadCommand) -> dict[str, Any]:
    """One record (seed: e_read); errors as :func:`read_own`."""
    quota.take(actor, quota.Quota.READ)
    body = read_own(actor, command=command)
    readlog.record(actor, surface="record", workarea_id=None, returned=[f"{body['sr_id']}@{body['version']}"])
    return body


def history(actor: Actor, *, sr_id: str) -> dict[str, Any]:
    """Every version of a record (seed: e_audit history); errors as :func:`history_of`."""
    quota.take(actor, quota.Quota.READ)
    body = history_of(actor, sr_id=sr_id)
    readlog.record(actor, surface="record_history", workarea_id=None, returned=[body["sr_id"]])
    return body

"""Memory's operations: what an agent can do, once, for both faces (D13, R1).

Nothing here promotes, signs, demotes, deletes or administers, so the MCP catalog built from it cannot either.
"""

from __future__ import annotations

from typing import Any

from memory import reads
from memory.api import answers, shapes
from memory.claims.actions.submit import submit_memory
from memory.claims.commands import EvidenceRef, MyWorkQuery, SubmitCommand
from memory.claims.selectors.own_work import my_work as own_work
from memory.claims.states import Kind, SubmitVerb
from memory.recall.commands import RecallCommand, RecallFilters
from memory.recall.selectors import recall as search
from oml.core.actor import Actor
from oml.http.operations import Operation
from workareas import quota


def _submit(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    verb = SubmitVerb(values.pop("verb", SubmitVerb.REMEMBER))
    default = Kind.DERIVED_FACT if verb is SubmitVerb.LEARN else Kind.MEMORY
    command = SubmitCommand(
        verb=verb,
        kind=Kind(values.pop("kind", default)),
        attachments=tuple(item["upload_session"] for item in values.pop("attachments", ())),
        derives_from=tuple(values.pop("derives_from", ())),
        evidence=tuple(EvidenceRef(**item) for item in values.pop("evidence", ())),
        **values,
    )
    return submit_memory(actor, command=command)


def _learn(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return _submit(actor, {**values, "verb": SubmitVerb.LEARN})


def _recall(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    filters = RecallFilters(**values.pop("filters", {}))
    return search(actor, command=RecallCommand(filters=filters, **values))


def _my_work(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    body = own_work(actor, query=MyWorkQuery(**values))
    quota.take(actor, quota.Quota.READ)
    return body


def _workarea(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return reads.workarea(actor, reference=values["workarea"])


def _tail(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return reads.tail(actor, scope=values["scope"], after_seq=values.get("after_seq"), limit=values.get("limit", 50))


def _artifact(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return reads.artifact(actor, reference=values["artifact"])


submit = Operation("submit", shapes.SubmitShape, _submit, answers.SUBMITTED, creates=True)
remember = Operation("remember", shapes.RememberShape, _submit, answers.REMEMBERED, creates=True)
learn = Operation("learn", shapes.LearnShape, _learn, answers.LEARNED, creates=True)
recall = Operation("recall", shapes.RecallShape, _recall, answers.RECALLED)
my_work = Operation("my_work", shapes.MyWorkShape, _my_work, answers.MY_WORK)
workarea_info = Operation("workarea_info", shapes.WorkareaShape, _workarea, answers.WORKAREA)
events_tail = Operation("events_tail", shapes.TailShape, _tail, answers.TAIL)
read_artifact = Operation("read_artifact", shapes.ArtifactShape, _artifact, answers.ARTIFACT)

"""Memory's operations: what an agent can do, once, for both faces (D13, R1).

Nothing here promotes, signs, demotes, deletes or administers, so the MCP catalog built from it cannot either.
"""

from __future__ import annotations

from typing import Any

from memory import reads
from memory.api import answers, shapes
from memory.claims.actions.submit import submit_memory
from memory.claims.actions.supersede import supersede_memory, withdraw_memory
from memory.claims.commands import EvidenceRef, MyWorkQuery, SubmitCommand, VersionCommand
from memory.claims.selectors.own_work import my_work as own_work
from memory.claims.states import Kind, SubmitVerb
from memory.graph.actions.propose import ProposeCommand, get_or_propose_edge
from memory.graph.labels import EdgeKind
from memory.graph.selectors.graph import GraphQuery
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


def _new_version(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    command = VersionCommand(
        artifact=values["artifact"],
        text=values["text"],
        attachments=tuple(item["upload_session"] for item in values.get("attachments", ())),
        derives_from=tuple(values.get("derives_from", ())),
        evidence=tuple(EvidenceRef(**item) for item in values.get("evidence", ())),
        idempotency_key=values.get("idempotency_key"),
    )
    return supersede_memory(actor, command=command)


def _withdraw(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return withdraw_memory(actor, artifact=values["artifact"])


def _propose(actor: Actor, values: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    command = ProposeCommand(
        kind=EdgeKind(values["kind"]),
        label=values["label"],
        source=values["from"],
        target=values["to"],
        note=values.get("note", ""),
    )
    return get_or_propose_edge(actor, command=command)


def _graph(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    roots = tuple(values.pop("roots", ()))
    return reads.scoped_graph(actor, query=GraphQuery(roots=roots, **values))


submit = Operation(
    "submit",
    shapes.SubmitShape,
    _submit,
    answers.SUBMITTED,
    creates=True,
    summary="Submit a memory or a derived fact: held on arrival",
)
remember = Operation(
    "remember", shapes.RememberShape, _submit, answers.REMEMBERED, creates=True, summary="Submit a memory"
)
learn = Operation("learn", shapes.LearnShape, _learn, answers.LEARNED, creates=True, summary="Submit a derived fact")
recall = Operation(
    "recall",
    shapes.RecallShape,
    _recall,
    answers.RECALLED,
    summary="Search promoted memories of a subtree; steering first",
)
my_work = Operation(
    "my_work",
    shapes.MyWorkShape,
    _my_work,
    answers.MY_WORK,
    summary="The calling key's own submissions and where each stands",
)
workarea_info = Operation(
    "workarea_info",
    shapes.WorkareaShape,
    _workarea,
    answers.WORKAREA,
    summary="One workarea: status, crew, the caller's effective verbs",
)
events_tail = Operation(
    "events_tail",
    shapes.TailShape,
    _tail,
    answers.TAIL,
    summary="Poll journal events in scope, from a client-held sequence",
)
read_artifact = Operation(
    "read_artifact", shapes.ArtifactShape, _artifact, answers.ARTIFACT, summary="Read one promoted artifact in full"
)
new_version = Operation(
    "memory_version",
    shapes.VersionShape,
    _new_version,
    answers.VERSIONED,
    True,
    "Propose a new version of an own claim",
)
withdraw = Operation(
    "memory_withdraw", shapes.ArtifactShape, _withdraw, answers.ENDED, summary="Withdraw an own held submission"
)
propose_relation = Operation(
    "relate_propose",
    shapes.ProposeShape,
    _propose,
    answers.PROPOSED,
    True,
    "Propose an edge between claims or workareas",
)
scoped_graph = Operation("graph", shapes.GraphShape, _graph, answers.GRAPH, summary="Claims and edges of a subtree")

"""Reads that leave a trace: select, then write the read log before the answer leaves (D12).

Recall keeps its own log in its selector, where the returned ids are known; these are the other reads.
"""

from __future__ import annotations

from typing import Any

from memory.claims.selectors.reading import read_artifact
from memory.graph.selectors.edges import workarea_edges
from memory.graph.selectors.graph import GraphQuery, graph
from memory.graph.selectors.tail import events_tail
from memory.recall import readlog
from oml.core.actor import Actor
from workareas import quota
from workareas.selectors.nodes import workarea_info


def workarea(actor: Actor, *, reference: str) -> dict[str, Any]:
    """One workarea as the key may see it (seed: oml_workarea_info); errors as :func:`workarea_info`."""
    quota.take(actor, quota.Quota.READ)
    body, node = workarea_info(actor, workarea=reference, edges_of=workarea_edges)
    readlog.record(actor, surface="workarea", workarea_id=node.pk, returned=[node.pk])
    return body


def artifact(actor: Actor, *, reference: str) -> dict[str, Any]:
    """One promoted artifact in full; errors as :func:`read_artifact`."""
    quota.take(actor, quota.Quota.READ)
    body, row = read_artifact(actor, artifact=reference)
    readlog.record(actor, surface="artifact", workarea_id=row.workarea_id, returned=[row.pk])
    return body


def tail(actor: Actor, *, scope: str, after_seq: int | None, limit: int) -> dict[str, Any]:
    """A page of readable events (seed: oml_events_tail); errors as :func:`events_tail`."""
    quota.take(actor, quota.Quota.READ)
    body, node = events_tail(actor, scope=scope, after_seq=after_seq, limit=limit)
    returned = [str(next(iter(event["subject"].values()))) for event in body["events"]]
    readlog.record(actor, surface="tail", workarea_id=node.pk, returned=returned)
    return body


def scoped_graph(actor: Actor, *, query: GraphQuery) -> dict[str, Any]:
    """Claims and edges of a scope (seed: oml_graph); errors as :func:`graph`."""
    quota.take(actor, quota.Quota.READ)
    body, node = graph(actor, query=query)
    returned = [claim["artifact_id"] for claim in body["claims"]]
    readlog.record(actor, surface="graph", workarea_id=node.pk, returned=returned)
    return body

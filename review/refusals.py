"""A refused serve or verdict leaves a trace in the journal, although nothing else of it may stand (ADR-0017).

The trace is a transaction of its own, after the refused one is gone. What must never happen here: a trace for an id
that the actor's own tenant does not know, which would let anybody fill a journal, or a trace that changes the refusal.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from django.db import DatabaseError

from memory.claims.models import Artifact
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.errors import OmlError, Validation
from oml.journal.append import append, journalled
from oml.journal.selectors import stream_of
from review.events import Refused
from review.models import EdgeServe, Serve

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Attempted:
    """What a refused act was about."""

    item_id: str
    workarea_id: str
    far_workarea_id: str | None = None
    simulation_id: str | None = None
    serve_id: str | None = None


Find = Callable[[Actor, dict[str, Any]], Attempted | None]


def refusals_journalled(find: Find) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Journal the refusals of an action as ``review.refused``.

    Args:
        find: what the action was about, looked up inside the actor's tenant alone; None for what it does not know.
            Malformed requests and retryable refusals are no attempt at anything and leave no trace.
    """

    def decorate(action: Callable[P, R]) -> Callable[P, R]:
        @wraps(action)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return action(*args, **kwargs)
            except OmlError as refusal:
                if not refusal.retryable and not isinstance(refusal, Validation):
                    _trace(cast(Actor, args[0]), find, kwargs, refusal.code)
                raise

        return run

    return decorate


def item_asked_for(actor: Actor, asked: dict[str, Any]) -> Attempted | None:
    """The artifact of :func:`review.actions.serve.serve_item`."""
    return _of_artifact(actor, asked["artifact"])


def edge_asked_for(actor: Actor, asked: dict[str, Any]) -> Attempted | None:
    """The edge of :func:`review.actions.edge_serve.serve_edge`."""
    return _of_edge(actor, asked["edge"])


def served_to_anybody(actor: Actor, asked: dict[str, Any]) -> Attempted | None:
    """The artifact or edge behind the serve that a verdict names, whoever it was served to."""
    serve_id = asked["command"].serve_id
    artifact = _first(Serve.objects.filter(tenant_id=actor.tenant_id), serve_id, "artifact_id")
    if artifact is not None:
        return _of_artifact(actor, artifact[0], serve_id)
    edge = _first(EdgeServe.objects.filter(tenant_id=actor.tenant_id), serve_id, "edge_id")
    return _of_edge(actor, edge[0], serve_id) if edge is not None else None


def _of_artifact(actor: Actor, artifact: str, serve_id: str | None = None) -> Attempted | None:
    found = _first(Artifact.objects.filter(tenant_id=actor.tenant_id), artifact, "workarea_id", "simulation_id")
    if found is None:
        return None
    return Attempted(artifact, workarea_id=found[0], simulation_id=found[1], serve_id=serve_id)


def _of_edge(actor: Actor, edge: str, serve_id: str | None = None) -> Attempted | None:
    columns = ("from_workarea_id", "to_workarea_id", "simulation_id")
    found = _first(Edge.objects.filter(tenant_id=actor.tenant_id), edge, *columns)
    return Attempted(edge, found[0], found[1], found[2], serve_id) if found is not None else None


def _first(rows: Any, key: str, *columns: str) -> tuple[Any, ...] | None:
    return None if "\x00" in key else rows.filter(pk=key).values_list(*columns).first()


def _trace(actor: Actor, find: Find, asked: dict[str, Any], code: str) -> None:
    try:
        about = find(actor, asked)
        if about is not None and not _told_before(actor, about, code):
            _append(actor, about, code)
    except DatabaseError as error:  # the refusal stands, and its caller hears that and nothing else
        logger.error("a refused review left no trace: %s", type(error).__name__)


def _told_before(actor: Actor, about: Attempted, code: str) -> bool:
    return any(
        entry.record["actor"]["key"] == actor.key_id
        and (entry.record["payload"]["serve_id"], entry.record["payload"]["code"]) == (about.serve_id, code)
        for entry in stream_of(actor.tenant_id, about.item_id, event_type=Refused.type)
    )


@journalled
def _append(actor: Actor, about: Attempted, code: str) -> None:
    refused = Refused(
        workarea_id=about.workarea_id,
        far_workarea_id=about.far_workarea_id,
        simulation_id=about.simulation_id,
        item_id=about.item_id,
        serve_id=about.serve_id,
        code=code,
    )
    append(actor, [refused], epoch=None)  # no permission is consulted: being refused needs none

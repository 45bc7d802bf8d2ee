"""What surrounds an edge's serve on the page: what a ratification does, what links its ends already.

None of it carries the proposer's note or a text beyond what :func:`served_edge` answers to this reviewer (R3).
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q

from memory.claims.models import Artifact
from memory.claims.states import State
from memory.graph.labels import EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from review.edge_standing import require_reviewable
from review.models import EdgeServe, EdgeVerdict
from review.policy import REASON_TEXT, ReasonCode
from review.selectors.served_edge import find_edge_serve, live_edge_serve, view_of_edge
from workareas import access
from workareas.errors import AccessNotFound, Frozen
from workareas.ladder import Status, is_frozen
from workareas.models import Workarea
from workareas.selectors.fences import fence_of, inside_fence
from workareas.selectors.policies import effective_policy
from workareas.verbs import Capability, Verb

_MOST_LINKS = 20


def edge_page(actor: Actor, *, serve_id: str) -> dict[str, Any]:
    """A served edge with everything the decision rail says.

    Args:
        actor: the reviewer the serve was made for.
        serve_id: the id as sent.

    Returns:
        ``served`` (as :func:`served_edge`), ``proposer`` by name, ``links`` that join the same two ends already,
        ``effect`` of a ratification, ``outside`` as :func:`edge_outside`; of a workarea its ``crew`` and, where this
        reviewer reads, how many ``claims`` are promoted in it.

    Raises:
        As :func:`served_edge`.
    """
    serve, known = live_edge_serve(actor, serve_id=serve_id)
    edge = serve.edge
    served = view_of_edge(serve, readable=known.scope(Capability.READER))
    if edge.from_artifact is None:
        _describe_workareas(actor, edge, served["subject"])
    frozen = is_frozen(Status(edge.from_workarea.status))
    return {
        "served": served,
        "proposer": edge.proposer_principal.name,
        "links": _links(actor, edge),
        "effect": {"refusal": Frozen(edge.from_workarea.path) if frozen else None},
        "reason_required": effective_policy(edge.from_workarea).reason_required,
        "outside": _outside(edge),
    }


def edge_outside(actor: Actor, *, edge: str) -> dict[str, Any]:
    """An edge without note and texts: while it is pending in this reviewer's nodes, or once served to them (R3).

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; unknown, foreign, invisible or decided by others, one body.
        AccessForbidden: ``access.forbidden``; visible, and not this reviewer's on both ends.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    known = access.load(actor)
    ends = ("from_workarea", "to_workarea", "from_artifact", "to_artifact")
    withheld = [f"{end}_artifact__{name}" for end in ("from", "to") for name in ("text", "envelope")]
    rows = Edge.objects.select_related(*ends).defer("note", *withheld)
    found = None if "\x00" in edge else rows.filter(pk=edge, tenant_id=actor.tenant_id).first()
    row = require_reviewable(actor, known, found, f"no edge {edge} for this key")
    if row.state != EdgeState.PENDING and not EdgeServe.objects.filter(edge=row, reviewer_key_id=actor.key_id).exists():
        raise AccessNotFound(f"no edge {edge} for this key")
    return _outside(row)


def edge_verdict_given(actor: Actor, *, serve_id: str) -> dict[str, Any] | None:
    """What became of an edge's serve that had its verdict; None when it had none.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; not this key's serve.
    """
    access.require_role(actor, Verb.RELATE_RATIFY)
    serve = find_edge_serve(actor, serve_id)
    if not inside_fence(actor, serve.edge.simulation_id):
        raise AccessNotFound(f"no serve {serve_id} for this key")
    verdict: EdgeVerdict | None = getattr(serve, "verdict", None)
    if verdict is None:
        return None
    code = ReasonCode(verdict.reason_code) if verdict.reason_code else None
    return {
        **_outside(serve.edge),
        "serve_id": serve.pk,
        "verdict_id": verdict.pk,
        "verdict": str(verdict.verdict),
        "reason": REASON_TEXT[code] if code else None,
        "at": rfc3339_seconds(verdict.at),
    }


def serve_edge_id(actor: Actor, *, serve_id: str) -> str:
    """The edge of one of this key's serves, whatever became of it.

    Raises:
        AccessNotFound: ``access.not_found``; not this key's serve.
    """
    return find_edge_serve(actor, serve_id).edge_id


def _outside(edge: Edge) -> dict[str, Any]:
    return {
        "edge_id": edge.pk,
        "kind": edge.kind,
        "label": edge.label,
        "state": edge.state,
        "simulation_id": edge.simulation_id,
        "from": _name(edge.from_workarea, edge.from_artifact),
        "to": _name(edge.to_workarea, edge.to_artifact),
        "from_place": f"{edge.from_workarea.path} ({edge.from_workarea.status})",
        "to_place": f"{edge.to_workarea.path} ({edge.to_workarea.status})",
        "from_state": edge.from_artifact.state if edge.from_artifact else "",
        "to_state": edge.to_artifact.state if edge.to_artifact else "",
    }


def _name(node: Workarea, artifact: Artifact | None) -> dict[str, Any]:
    name: dict[str, Any] = {"workarea_path": node.path}
    return name if artifact is None else name | {"claim_key": artifact.claim_key, "version": artifact.version}


def _describe_workareas(actor: Actor, edge: Edge, subject: dict[str, Any]) -> None:
    readable = [end["workarea"] for end in (subject["from"], subject["to"]) if end["readable"]]
    fenced = Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor))
    promoted = Artifact.objects.filter(fenced, workarea__in=readable, state=State.PROMOTED).order_by()
    counts = dict(promoted.values_list("workarea").annotate(Count("pk")))
    for end, node in ((subject["from"], edge.from_workarea), (subject["to"], edge.to_workarea)):
        end |= {"crew": node.crew_name, "claims": counts.get(node.pk, 0) if end["readable"] else None}


def _links(actor: Actor, edge: Edge) -> list[dict[str, Any]]:
    """Other edges between the same two ends, either way: a duplicate and a contradiction are found by looking."""
    ends = "workarea" if edge.from_artifact_id is None else "artifact"
    same_way = Q(**{f"from_{ends}": edge.from_id, f"to_{ends}": edge.to_id})
    other_way = Q(**{f"from_{ends}": edge.to_id, f"to_{ends}": edge.from_id})
    rows = (
        Edge.objects.filter(
            Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor)),
            same_way | other_way,
            kind=edge.kind,
            tenant_id=actor.tenant_id,
        )
        .exclude(pk=edge.pk)
        .exclude(state=EdgeState.REJECTED)
        .defer("note")
        .order_by("pk")[:_MOST_LINKS]
    )
    return [
        {"label": row.label, "state": row.state, "same_way": row.from_id == edge.from_id, "edge_id": row.pk}
        for row in rows
    ]

"""The scoped graph (seed: oml_graph): serialize, don't compute.

Claims are promoted ones inside scope ∩ readable ∩ fence; an edge whose far end is none of these appears with the
endpoint's id alone. Held claims never appear, not even as an id: an edge shows only ends that were promoted once.
An edge comes with the page of the first of its claims, and not again with the page of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from memory.claims.models import Artifact, Lineage
from memory.graph.labels import EdgeKind, EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.errors import CeilingExceeded, Validation
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access
from workareas.errors import AccessNotFound
from workareas.models import Workarea
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

MAX_DEPTH, MAX_LIMIT = 5, 500
#: A walk that meets more claims than this is refused: the client asks for less depth or fewer roots.
MAX_VISITED = 5_000
#: Which of some claims the pages before have shown.
_Paged = Callable[[set[str]], set[str]]


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """One graph read as sent."""

    scope: str
    roots: tuple[str, ...] = ()
    depth: int = 1
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class _View:
    """What this key may see: claims in full, and the ends of edges by id."""

    claims: QuerySet[Artifact]
    ends: QuerySet[Artifact]
    fence: frozenset[str]


def graph(actor: Actor, *, query: GraphQuery) -> tuple[dict[str, Any], Workarea]:
    """Claims and edges of a subtree, by roots and depth, or paged newest first.

    Args:
        actor: a key with reader access on the scope.
        query: scope, roots, depth, page size and cursor.

    Returns:
        The seed's answer, and the node for the read log.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: ``access.*``; an unknown root is named ``roots[i]``.
        CeilingExceeded: ``limit.ceiling``; depth above 5, limit above 500, or more than 5,000 claims met.
        Validation: ``request.validation``; depth below 0, limit below 1, or a cursor that is not this key's.
    """
    known = access.load(actor)
    node = access.require_node(known.decide(Verb.GRAPH_READ, access.find(actor, query.scope), query.scope))
    check_range("depth", query.depth, least=0, most=MAX_DEPTH)
    check_range("limit", query.limit, most=MAX_LIMIT)
    view = _view(actor, known, node)
    filters: dict[str, Any] = {"view": "graph", "scope": node.pk, "roots": list(query.roots), "depth": query.depth}
    pages: Pages[Artifact] = Pages(cursor_key(), actor.key_id, filters, lambda artifact: [artifact.pk])
    behind = pages.behind(query.cursor)
    after = behind[0] if behind is not None else None
    found, paged = (_walked if query.roots else _subtree)(view, query, after)
    page, cursor = pages.cut(found, query.limit)
    body = {
        "claims": [_claim(artifact) for artifact in page],
        "edges": _unshown(_edges(view, [artifact.pk for artifact in page]), page, paged),
        "truncated": cursor is not None,
        "next_cursor": cursor,
    }
    return body, node


def _view(actor: Actor, known: access.Access, node: Workarea) -> _View:
    fence = fence_of(actor)
    claims = Artifact.objects.readable(actor.tenant_id, known.scope(Capability.READER), fence=fence).filter(
        access.Scope((node.path,), ()).predicate("workarea__path")
    )
    fenced = Q(simulation_id__isnull=True) | Q(simulation_id__in=fence)
    ends = Artifact.objects.filter(fenced, tenant_id=actor.tenant_id, promoted_at__isnull=False)
    return _View(claims, ends, fence)


def _subtree(view: _View, query: GraphQuery, after: str | None) -> tuple[list[Artifact], _Paged]:
    rows = view.claims.order_by("-pk")

    def paged(claims: set[str]) -> set[str]:
        if after is None or not claims:
            return set()
        return set(view.claims.filter(pk__in=claims, pk__gte=after).values_list("pk", flat=True))

    behind = rows if after is None else rows.filter(pk__lt=after)
    return list(behind.defer("text", "envelope")[: query.limit + 1]), paged


def _walked(view: _View, query: GraphQuery, after: str | None) -> tuple[list[Artifact], _Paged]:
    """Breadth first from the roots, in the order met; the walk is repeated per page, the server keeps nothing."""
    order = _walk(view, query.roots, query.depth)
    if after is not None and after not in order:  # erased or moved away since; starting anew would repeat claims
        raise Validation(
            "the claim that the page before ended with is gone; start again without cursor", param="cursor"
        )
    start = order.index(after) + 1 if after is not None else 0
    rest = order[start:]
    found: list[Artifact] = []
    while rest and len(found) <= query.limit:  # once; again only where claims went away since the walk
        wanted, rest = rest[: query.limit + 1], rest[query.limit + 1 :]
        rows = view.claims.defer("text", "envelope").in_bulk(wanted)
        found += [rows[pk] for pk in wanted if pk in rows]
    return found, set(order[:start]).intersection


def _unshown(edges: list[dict[str, Any]], page: list[Artifact], paged: _Paged) -> list[dict[str, Any]]:
    """Without the edges that came with a page before: those whose other end is a claim of it."""
    here = {artifact.pk for artifact in page}
    shown = paged({end for edge in edges for end in (edge["from"], edge["to"])} - here)
    return [edge for edge in edges if not {edge["from"], edge["to"]} & shown]


def _walk(view: _View, roots: Iterable[str], depth: int) -> list[str]:
    roots = list(dict.fromkeys(roots))
    usable = [root for root in roots if "\x00" not in root]
    readable = set(view.claims.filter(pk__in=usable).values_list("pk", flat=True))
    for position, root in enumerate(roots):
        if root not in readable:
            raise AccessNotFound(f"roots[{position}] names no claim readable by this key", param=f"roots[{position}]")
    met = dict.fromkeys(roots)
    frontier = roots
    for _ in range(depth):
        near = _neighbours(view, frontier) - met.keys()
        frontier = sorted(view.claims.filter(pk__in=near).values_list("pk", flat=True), reverse=True)
        met |= dict.fromkeys(frontier)
        if len(met) > MAX_VISITED:
            raise CeilingExceeded(f"the walk meets more than {MAX_VISITED} claims; ask for less depth", param="depth")
        if not frontier:
            break
    return list(met)


def _neighbours(view: _View, ids: list[str]) -> set[str]:
    near = {end for edge in _edges(view, ids) for end in (edge["from"], edge["to"])}
    return near - set(ids)


def _edges(view: _View, ids: list[str]) -> list[dict[str, Any]]:
    """Every edge that touches one of these claims, each once, in a fixed order."""
    if not ids:
        return []
    derived = Lineage.objects.filter(Q(artifact__in=ids) | Q(source__in=ids)).values_list("artifact", "source")
    versions = Artifact.objects.filter(
        Q(pk__in=ids) | Q(previous__in=ids), previous__isnull=False, promoted_at__isnull=False
    ).values_list("pk", "previous")
    fenced = Q(simulation_id__isnull=True) | Q(simulation_id__in=view.fence)
    links = (
        Edge.objects.filter(fenced, Q(from_artifact__in=ids) | Q(to_artifact__in=ids), kind=EdgeKind.CLAIM)
        .exclude(state=EdgeState.REJECTED)
        .order_by("pk")
    )
    edges = [_declared("derives_from", source, target) for source, target in sorted(derived)]
    edges += [_declared("supersedes", source, target) for source, target in sorted(versions)]
    edges += [
        {
            "kind": "connection",
            "label": link.label,
            "from": link.from_artifact_id,
            "to": link.to_artifact_id,
            "state": link.state,
            "edge_id": link.pk,
        }
        for link in links
    ]
    ends = {end for edge in edges for end in (edge["from"], edge["to"])}
    shown = set(view.ends.filter(pk__in=ends).values_list("pk", flat=True))
    return [edge for edge in edges if edge["from"] in shown and edge["to"] in shown]


def _declared(kind: str, source: str | None, target: str | None) -> dict[str, Any]:
    return {"kind": kind, "from": source, "to": target, "state": "declared"}


def _claim(artifact: Artifact) -> dict[str, Any]:
    return {
        "artifact_id": artifact.pk,
        "claim_key": artifact.claim_key,
        "version": artifact.version,
        "kind": artifact.kind,
        "state": artifact.state,
        "workarea": artifact.workarea_id,
    }

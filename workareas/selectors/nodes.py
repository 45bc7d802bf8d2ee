"""Reads of the tree (seed: oml_workarea_info)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oml.core.actor import Actor
from workareas import access
from workareas.models import Workarea
from workareas.verbs import Capability, Verb

#: The edges of a node as far as a scope reads them; they live in a room above this one.
EdgesOf = Callable[[Workarea, access.Scope], list[dict[str, Any]]]


def workarea_info(actor: Actor, *, workarea: str, edges_of: EdgesOf) -> tuple[dict[str, Any], Workarea]:
    """One workarea as this key may see it.

    Args:
        actor: who asks.
        workarea: id or path, as sent.
        edges_of: lists the node's edges inside the caller's readable scope.

    Returns:
        The seed's answer, and the node for the read log.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: as :func:`workareas.access.require`.
    """
    known = access.load(actor)
    decision = known.decide(Verb.READ, access.find(actor, workarea), workarea)
    node = access.require_node(decision)
    readable = known.scope(Capability.READER)
    children = Workarea.objects.filter(parent=node).filter(readable.predicate()).order_by("leaf")
    parent_path = node.path.rpartition(".")[0]
    body = {
        "id": node.pk,
        "path": node.path,
        "status": node.status,
        "crew": crew_of(node),
        "parent": node.parent_id if parent_path and readable.holds(parent_path) else None,
        "children": [{"id": child.pk, "path_leaf": child.leaf, "status": child.status} for child in children],
        "edges": edges_of(node, readable),
        "my_effective_verbs": [str(verb) for verb in access.effective_verbs(known, node)],
        "permission_epoch": known.epoch,
    }
    return body, node


def crew_of(node: Workarea) -> dict[str, Any] | None:
    """The crew record, recorded and never operated; None when none is set."""
    if node.crew_name is None:
        return None
    return {
        "name": node.crew_name,
        "charter_uri": node.crew_charter_uri,
        "external_manager": node.crew_external_manager,
    }


def node_outline(node: Workarea) -> dict[str, Any]:
    """A workarea as its administrator's answers show it."""
    return {
        "id": node.pk,
        "path": node.path,
        "status": str(node.status),
        "crew": crew_of(node),
        "parent": node.parent_id,
    }


def administered_nodes(actor: Actor) -> list[Workarea]:
    """The nodes that this actor administers, in tree order.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; the role can never administer.
    """
    access.require_role(actor, Verb.WORKAREA_CREATE)
    scope = access.load(actor).scope(Capability.ADMIN)
    nodes = Workarea.objects.filter(scope.predicate(), tenant_id=actor.tenant_id)
    # Not by the path as text: a hyphen sorts before the dot, and `a-b` would stand between `a` and its children.
    return sorted(nodes, key=lambda node: node.path.split("."))

"""Propose an edge (seed: oml_relate_propose): journalled and pending, it confers nothing and changes no access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from memory.claims.errors import SimulationConflict
from memory.claims.models import Artifact
from memory.graph.errors import DuplicateEdge, EndpointNotFound, ProposeForbidden, UnknownLabel
from memory.graph.events import ClaimEdgeProposed, Proposed, WorkareaEdgeProposed
from memory.graph.labels import LABELS, PREFIX, EdgeKind, EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.errors import Unavailable, Validation
from oml.core.ids import new_id
from oml.crypto.digest import commitment, new_salt
from oml.journal.append import append, journalled
from workareas import access, quota
from workareas.access import Access
from workareas.errors import Frozen
from workareas.ladder import Status, is_frozen
from workareas.models import Workarea
from workareas.selectors.bans import refuse_banned
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

AWAITING = "ratification by a dreamer(review) key on both endpoints, ratifier ≠ proposer (R2)"
_EVENTS: dict[EdgeKind, type[Proposed]] = {
    EdgeKind.WORKAREA: WorkareaEdgeProposed,
    EdgeKind.CLAIM: ClaimEdgeProposed,
}


@dataclass(frozen=True, slots=True)
class ProposeCommand:
    """An edge as proposed; ``source`` and ``target`` are the seed's ``from`` and ``to``."""

    kind: EdgeKind
    label: str
    source: str
    target: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class _End:
    node: Workarea
    artifact: Artifact | None = None

    @property
    def id(self) -> str:
        return self.artifact.pk if self.artifact else self.node.pk


def propose_edge(actor: Actor, *, command: ProposeCommand) -> dict[str, Any]:
    """:func:`get_or_propose_edge`, for who does not ask whether it was there already."""
    return get_or_propose_edge(actor, command=command)[0]


@journalled
def get_or_propose_edge(actor: Actor, *, command: ProposeCommand) -> tuple[dict[str, Any], bool]:
    """Propose a labelled edge; the same again by the same proposer is the existing edge.

    Args:
        actor: a dreamer with reader on both endpoints, and propose: for workareas on at least one of them, for claims
            anywhere, since a claim edge says nothing about the workareas that its claims lie in.
        command: kind, label, endpoints and note.

    Returns:
        The seed's answer: ``edge_id, kind, label, state, proposer_key, awaiting``; and whether the edge is new.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        EndpointNotFound, ProposeForbidden: ``access.not_found``, ``access.forbidden``, with the edge rule.
        UnknownLabel, DuplicateEdge: ``relate.label``, ``relate.duplicate``.
        Frozen: ``workarea.frozen``; the *from* node is validated.
        Banned: ``admission.banned``; the proposer or an endpoint.
        SimulationConflict: ``simulation.conflict``; the endpoints are in two simulations.
        Validation: ``request.validation``; an edge from something to itself.
        QuotaExceeded: ``limit.quota``.
        Unavailable: ``internal.unavailable``; the same edge was stored and rejected by others meanwhile.
    """
    access.require_role(actor, Verb.RELATE_PROPOSE)
    known = access.load(actor)
    source, target = _ends(actor, known, command)
    _check_may_propose(known, command.kind, source, target)
    if command.label not in LABELS[command.kind]:
        raise UnknownLabel(command.label, LABELS[command.kind])
    if source.id == target.id:
        raise Validation("an edge joins two different endpoints", param="to")
    if is_frozen(Status(source.node.status)):
        raise Frozen(source.node.pk)
    # A claim edge is a part of the admission pipeline (seed), so what admission refuses is refused here.
    refuse_banned(
        actor.tenant_id,
        key_id=actor.key_id,
        principal_id=actor.principal_id,
        sources=[end.id for end in (source, target) if end.artifact],
    )
    existing = _existing(actor, command, source, target)
    if existing is None:
        quota.take(actor, quota.Quota.WRITE)
        edge = _store(actor, command, source, target)
        if edge is not None:
            append(actor, [_event(edge)], epoch=known.epoch)
            return _answer(edge), True
        existing = _existing(actor, command, source, target)
    if existing is None:  # stored by somebody at the same moment, and rejected since
        raise Unavailable("this edge is being decided at this moment, try again")
    return _answer(existing), False


def _check_may_propose(known: Access, kind: EdgeKind, source: _End, target: _End) -> None:
    """The seed's edge rule; that both ends are readable was seen to when they were found."""
    if kind is EdgeKind.CLAIM:
        if known.scope(Capability.PROPOSE).empty:
            raise ProposeForbidden("anywhere")
    elif not any(Capability.PROPOSE in known.effective(end.node.path) for end in (source, target)):
        raise ProposeForbidden("on either endpoint")


def _ends(actor: Actor, known: Access, command: ProposeCommand) -> tuple[_End, _End]:
    if command.kind is EdgeKind.WORKAREA:
        return _node(actor, known, command.source, "from"), _node(actor, known, command.target, "to")
    claims = _claims(actor, known, [command.source, command.target])
    for end, reference in (("from", command.source), ("to", command.target)):
        if reference not in claims:
            raise EndpointNotFound(end, "artifact")
    source, target = claims[command.source], claims[command.target]
    return _End(source.workarea, source), _End(target.workarea, target)


def _node(actor: Actor, known: Access, reference: str, end: str) -> _End:
    node = access.find(actor, reference)
    if node is None or not known.scope(Capability.READER).holds(node.path):
        raise EndpointNotFound(end, "workarea")
    return _End(node)


def _claims(actor: Actor, known: Access, references: list[str]) -> dict[str, Artifact]:
    """The readable claims among these, locked: none of them is demoted or erased before the edge is journalled.

    Always in the order of their ids and before any edge, as every act that takes several of these rows does.
    """
    rows = Artifact.objects.readable(actor.tenant_id, known.scope(Capability.READER), fence=fence_of(actor))
    found = (
        rows.filter(pk__in=[reference for reference in references if "\x00" not in reference])
        .select_related("workarea")
        .select_for_update(of=("self",), no_key=True)
        .order_by("pk")
    )
    return {artifact.pk: artifact for artifact in found}


def _existing(actor: Actor, command: ProposeCommand, source: _End, target: _End) -> Edge | None:
    same = Edge.objects.filter(**_link(actor, command, source, target))
    edge = same.exclude(state=EdgeState.REJECTED).first()
    if edge is None:
        return None
    if actor.key_id != edge.proposer_key_id and actor.principal_id != edge.proposer_principal_id:
        raise DuplicateEdge
    return edge


def _link(actor: Actor, command: ProposeCommand, source: _End, target: _End) -> dict[str, Any]:
    """What makes two edges the same one."""
    return {
        "tenant_id": actor.tenant_id,
        "kind": command.kind,
        "label": command.label,
        "from_workarea": source.node,
        "to_workarea": target.node,
        "from_artifact": source.artifact,
        "to_artifact": target.artifact,
    }


def _store(actor: Actor, command: ProposeCommand, source: _End, target: _End) -> Edge | None:
    """The new edge; None when somebody was first with the same: the constraint decides, however they raced."""
    edge = Edge(
        id=new_id(PREFIX[command.kind]),
        **_link(actor, command, source, target),
        simulation_id=_simulation(source, target),
        note=command.note,
        note_salt=new_salt() if command.note else None,
        proposer_key_id=actor.key_id,
        proposer_principal_id=actor.principal_id,
    )
    try:
        with transaction.atomic():
            edge.save(force_insert=True)
    except IntegrityError as error:
        if f"edge_{command.kind}_unique" not in str(error):
            raise
        return None
    return edge


def _simulation(source: _End, target: _End) -> str | None:
    """An edge is fenced like its endpoints (D10)."""
    simulations = {end.artifact.simulation_id for end in (source, target) if end.artifact} - {None}
    if len(simulations) > 1:
        raise SimulationConflict
    return simulations.pop() if simulations else None


def _event(edge: Edge) -> Proposed:
    salt = bytes(edge.note_salt) if edge.note_salt is not None else None
    words = commitment(salt, edge.note.encode()) if salt else None
    return _EVENTS[EdgeKind(edge.kind)](**edge.about(), note_commitment=words)


def _answer(edge: Edge) -> dict[str, Any]:
    return {
        "edge_id": edge.pk,
        "kind": str(edge.kind),
        "label": edge.label,
        "state": str(edge.state),
        "proposer_key": edge.proposer_key_id,
        "awaiting": AWAITING if edge.state == EdgeState.PENDING else None,
    }

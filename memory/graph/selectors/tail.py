"""The events tail (seed: oml_events_tail): a poll of the journal from a client-held sequence, as far as readable.

``submission.*``, ``review.*`` and ``admission.*`` never appear: the tail cannot be used to watch the review queue
from outside (R3). ``record.*``, ``run.*`` and ``state.*`` appear to their own principal alone. Gaps are normal: they
are the events this key may not see.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.errors import Validation
from oml.core.paging import check_range
from oml.journal.selectors import Entry, head_seq, owned_rows, tail_page, tail_rows
from workareas import access
from workareas.models import Workarea
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

MAX_LIMIT = 500


def events_tail(actor: Actor, *, scope: str, after_seq: int | None, limit: int = 50) -> tuple[dict[str, Any], Workarea]:
    """The next page of readable events, ascending, and where the tenant's journal stands.

    Args:
        actor: a key with reader access on the scope.
        scope: workarea id or path; its subtree is tailed.
        after_seq: the last sequence the client processed; None starts at the newest events.
        limit: events per page, 1 to 500.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Validation: ``request.validation``; after_seq negative or beyond the head, limit below 1.
        CeilingExceeded: ``limit.ceiling``; limit above 500.
    """
    known = access.load(actor)
    node = access.require_node(known.decide(Verb.READ, access.find(actor, scope), scope))
    check_range("limit", limit, most=MAX_LIMIT)
    # The head is read first: an event committed in between shows up in this page or in the next, never in none.
    head = head_seq(actor.tenant_id)
    if after_seq is not None and not 0 <= after_seq <= head:
        raise Validation(f"after_seq is a sequence number from 0 to the journal's head {head}", param="after_seq")
    rows = tail_rows(actor.tenant_id).filter(_visible(actor, known, node), seq__lte=head)
    own = owned_rows(actor.tenant_id, actor.principal_id).filter(_own(actor, known, node), seq__lte=head)
    events = [_event(entry) for entry in tail_page(rows, own, after_seq=after_seq, limit=limit)]
    return {"events": events, "head_seq": head, "idle": not events}, node


def _visible(actor: Actor, known: access.Access, node: Workarea) -> Q:
    """Events on a node of the scope, every node they name readable, inside the simulation fence (R3, D10)."""
    readable = Workarea.objects.filter(known.scope(Capability.READER).predicate(), tenant_id=actor.tenant_id)
    inside = readable.filter(access.Scope((node.path,), ()).predicate())
    one_node = Q(far_workarea_id__isnull=True, workarea_id__in=inside.values("pk"))
    two_nodes = Q(workarea_id__in=readable.values("pk"), far_workarea_id__in=readable.values("pk")) & (
        Q(workarea_id__in=inside.values("pk")) | Q(far_workarea_id__in=inside.values("pk"))
    )
    fenced = Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor))
    return (one_node | two_nodes) & fenced


def _own(actor: Actor, known: access.Access, node: Workarea) -> Q:
    """The principal's own records and agent state: on a readable node of the scope; on none, where the scope is all."""
    readable = Workarea.objects.filter(known.scope(Capability.READER).predicate(), tenant_id=actor.tenant_id)
    inside = Q(workarea_id__in=readable.filter(access.Scope((node.path,), ()).predicate()).values("pk"))
    return inside | Q(workarea_id__isnull=True) if node.is_root else inside


def _event(entry: Entry) -> dict[str, Any]:
    event = {
        "seq": entry.seq,
        "event_type": entry.event_type,
        "at": rfc3339_seconds(entry.at),
        "subject": _subject(entry),
    }
    if entry.workarea_id is not None and entry.record["far_workarea"] is None:
        event["workarea"] = entry.workarea_id
    return event


def _subject(entry: Entry) -> dict[str, Any]:
    subject: dict[str, Any] = entry.record["subject"]
    if "workarea" in subject:
        return {"workarea_id": subject["workarea"]}
    if "edge_id" in subject:
        return {"edge_id": subject["edge_id"]}
    return subject

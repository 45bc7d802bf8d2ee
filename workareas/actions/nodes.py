"""Writes of the tree: create, status, crew, policy. Each is authorize → check → change → append."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from oml.core.actor import Actor
from oml.core.canonical import canonical_json
from oml.core.errors import Validation
from oml.core.machine import IllegalTransition
from oml.crypto.digest import keyed_digest
from oml.journal.append import append, hold, journalled
from workareas import access, reasons
from workareas.errors import Frozen
from workareas.events import PolicyChanged, WorkareaCreated, WorkareaCrewUpdated, WorkareaStatusChanged
from workareas.ladder import LADDER, Status, Step, is_frozen
from workareas.models import ReviewPolicy, Tenant, Workarea
from workareas.policy import FIELDS
from workareas.verbs import Verb

# A B-tree entry holds some 2,700 bytes; every path must fit its unique index.
LONGEST_PATH = 2_000
_LONGEST_CREW = {"name": 200, "charter_uri": 2_000, "external_manager": 200}
_LEAF = re.compile(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?\Z")


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works in a workarea: recorded and journalled; ``charter_uri`` is never fetched."""

    name: str
    charter_uri: str | None = None
    external_manager: str | None = None


@journalled
def create_workarea(actor: Actor, *, parent: str, leaf: str, crew: Crew | None = None) -> Workarea:
    """Create a child node in status development.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Frozen: ``workarea.frozen``; the parent is validated.
        Validation: ``request.validation``; leaf grammar, a leaf taken among its siblings, a path or crew too long.
    """
    decision = access.require(actor, Verb.WORKAREA_CREATE, parent)
    above = access.require_node(decision)
    if not _LEAF.match(leaf):
        raise Validation("leaf is 1 to 64 of a-z, 0-9 and inner hyphens", param="leaf")
    if is_frozen(Status(above.status)):
        raise Frozen(above.pk)
    if len(above.path) + 1 + len(leaf) > LONGEST_PATH:
        raise Validation(f"the path would be longer than {LONGEST_PATH} characters", param="leaf")
    node = Workarea(tenant_id=actor.tenant_id, parent=above, leaf=leaf, path=f"{above.path}.{leaf}")
    _set_crew(node, crew)
    try:
        with transaction.atomic():
            node.save(force_insert=True)
    except IntegrityError:
        raise Validation(f"a sibling is called {leaf} already", param="leaf") from None
    append(
        actor,
        [WorkareaCreated(workarea_id=node.pk, workarea=node.pk, parent=above.pk, leaf=leaf)],
        epoch=decision.epoch,
    )
    return node


@journalled
def advance_status(actor: Actor, *, workarea: str, status: str, reason: str | None = None) -> Workarea:
    """Move a node one step up the ladder (D8), never down.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Validation: ``request.validation``; not the next step, or the root.
        Unreviewed: ``workarea.unreviewed``; unreviewed content remains.
    """
    decision = access.require(actor, Verb.STATUS_ADVANCE, workarea)
    node = Workarea.objects.select_for_update(no_key=True).get(pk=access.require_node(decision).pk)
    before = Status(node.status)
    if node.is_root:
        raise Validation("the root holds structure alone and stands on no ladder", param="workarea")
    try:
        after = LADDER.next(before, Step(status))
    except (ValueError, IllegalTransition):
        raise Validation(
            f"status goes development → committed → validated, one step at a time; it is {before}",
            param="status",
        ) from None
    hold(actor)  # what a check counts cannot grow before the step is there
    for check in _STEP_CHECKS:
        check(node, after)
    node.status = after
    node.save(update_fields=["status"])
    words = reasons.keep(actor, subject_id=node.pk, act="status", text=reason)
    append(
        actor,
        [
            WorkareaStatusChanged(
                workarea_id=node.pk, workarea=node.pk, before=before, after=after, reason_commitment=words
            )
        ],
        epoch=decision.epoch,
        raise_epoch=True,  # a write decided on the old status is decided again
    )
    return node


_STEP_CHECKS: list[Any] = []


def on_status_step(check: Any) -> Any:
    """Register a check ``(node, next status)`` that raises ``Unreviewed`` where a step must be refused.

    Claims live above workareas in the house, so the room that knows what is unreviewed brings the check here.
    """
    _STEP_CHECKS.append(check)
    return check


@journalled
def update_crew(actor: Actor, *, workarea: str, crew: Crew) -> Workarea:
    """Record a node's crew; admissible in every status, validated included.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Validation: ``request.validation``; a field too long for its column.
    """
    decision = access.require(actor, Verb.CREW_UPDATE, workarea)
    node = access.require_node(decision)
    _set_crew(node, crew)
    node.save(update_fields=["crew_name", "crew_charter_uri", "crew_external_manager"])
    # Names are few, and a bare digest of one is found by trying; the journal is for ever (design: integrity).
    digest = keyed_digest("workarea.crew", canonical_json([crew.name, crew.charter_uri, crew.external_manager]))
    append(
        actor,
        [WorkareaCrewUpdated(workarea_id=node.pk, workarea=node.pk, crew_digest=digest)],
        epoch=decision.epoch,
    )
    return node


@journalled
def set_policy(actor: Actor, *, workarea: str, settings: dict[str, Any]) -> ReviewPolicy:
    """Set what a node says about review; null takes a value back to inherited.

    What is so already is left as it is: no version rises, and no serve grows stale over nothing.

    Args:
        actor: an admin of the node.
        workarea: id or path.
        settings: any of :data:`workareas.policy.FIELDS`.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Validation: ``request.validation``; unknown field or a value out of range.
        Frozen: ``workarea.frozen``; a validated node keeps the policy it was validated under (D8).
    """
    decision = access.require(actor, Verb.POLICY_SET, workarea)
    node = access.require_node(decision)
    _check_policy(settings)
    if is_frozen(Status(node.status)):
        raise Frozen(workarea)
    known = ReviewPolicy.objects.filter(workarea=node).first() or ReviewPolicy(workarea=node)
    if all(getattr(known, name) == value for name, value in settings.items()):
        return known
    row, _ = ReviewPolicy.objects.select_for_update(no_key=True).get_or_create(workarea=node)
    before = {name: getattr(row, name) for name in settings}
    for name, value in settings.items():
        setattr(row, name, value)
    row.version += 1
    row.updated_at = timezone.now()
    row.save()
    changed = PolicyChanged(
        workarea_id=node.pk, policy_of=node.pk, version=row.version, before=before, after=dict(settings)
    )
    append(actor, [changed], epoch=decision.epoch, raise_epoch=True)  # a verdict under the old policy is decided again
    return row


@journalled
def allow_relaxed_review(actor: Actor, *, allowed: bool) -> None:
    """Set the tenant's flag for self-signed review in development workareas; an admin of the root.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
    """
    decision = access.require_everywhere(actor, Verb.POLICY_SET)
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=actor.tenant_id)
    before, tenant.relaxed_review = tenant.relaxed_review, allowed
    tenant.save(update_fields=["relaxed_review"])
    changed = PolicyChanged(
        workarea_id=access.require_node(decision).pk,
        policy_of=actor.tenant_id,
        version=int(allowed),
        before={"relaxed_review": before},
        after={"relaxed_review": allowed},
    )
    append(actor, [changed], epoch=decision.epoch, raise_epoch=True)


_RANGES = {"held_expiry_s": (1, 366 * 86400), "min_verdicts": (1, 10), "serve_ttl_s": (1, 86400)}


def _check_policy(settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if name not in FIELDS:
            raise Validation(f"review policy has no field {name}", param=name)
        if value is None:
            continue
        if name in _RANGES:
            low, high = _RANGES[name]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise Validation(f"{name} is a whole number from {low} to {high}", param=name)
        elif not isinstance(value, bool):
            raise Validation(f"{name} is true or false", param=name)


def _set_crew(node: Workarea, crew: Crew | None) -> None:
    for name, longest in _LONGEST_CREW.items():
        if len(getattr(crew, name, None) or "") > longest:
            raise Validation(f"crew.{name} has at most {longest} characters", param=f"crew.{name}")
    node.crew_name = crew.name if crew else None
    node.crew_charter_uri = crew.charter_uri if crew else None
    node.crew_external_manager = crew.external_manager if crew else None

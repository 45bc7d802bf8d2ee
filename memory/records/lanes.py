"""Lanes: where a principal's records live. A key's home lane is made on first use; others are opened by name."""

from __future__ import annotations

import uuid
from contextlib import suppress

from django.db.models import Q

from memory.records import rules
from memory.records.errors import LaneNotFound, UnknownSourceType
from memory.records.models import Engine, Lane, SourceType
from oml.core.actor import Actor
from workareas import access
from workareas.access import Access
from workareas.errors import Frozen
from workareas.ladder import Status, is_frozen
from workareas.verbs import Verb


def engine_id() -> str:
    """This installation's identity among engines; made on first use and never changed."""
    engine, _ = Engine.objects.get_or_create(only=True)
    return engine.engine_id


def home_lane(actor: Actor) -> Lane:
    """The lane of the actor's key; exactly one per key, also of keys that are older than this room."""
    lane = Lane.objects.select_related("workarea").filter(home_of_id=actor.key_id).first()
    if lane is not None:
        return lane
    lane, made = Lane.objects.get_or_create(
        home_of_id=actor.key_id,
        defaults={
            "tenant_id": actor.tenant_id,
            "owner_id": actor.principal_id,
            "label": f"home/{actor.key_id}",
        },
    )
    if made:
        seed(lane)
    return lane


def seed(lane: Lane, extra: dict[str, int] | None = None) -> None:
    """Give a new lane its source types."""
    types = {**rules.SEEDED, **(extra or {})}
    SourceType.objects.bulk_create(
        SourceType(lane=lane, name=name, authority=authority) for name, authority in types.items()
    )


def find_lane(actor: Actor, reference: str, *, param: str) -> Lane:
    """A lane of the actor's principal, by label or UUID.

    Raises:
        LaneNotFound: ``access.not_found``; unknown, malformed, or another principal's.
    """
    named = Q(label=reference)
    with suppress(ValueError):
        named |= Q(pk=uuid.UUID(reference))
    lane = (
        Lane.objects.select_related("workarea")
        .filter(named, tenant_id=actor.tenant_id, owner_id=actor.principal_id)
        .first()
    )
    if lane is None:
        raise LaneNotFound(reference, param=param)
    return lane


def authority_of(lane: Lane, source_type: str, *, param: str) -> int:
    """The authority that a source type gives in a lane.

    Raises:
        UnknownSourceType: ``record.unknown_source_type``.
    """
    return authority_among(types_of(lane), source_type, param=param)


def types_of(lane: Lane) -> dict[str, int]:
    """A lane's source types with the authority that each gives."""
    return dict(SourceType.objects.filter(lane=lane).values_list("name", "authority"))


def authority_among(types: dict[str, int], source_type: str, *, param: str) -> int:
    """As :func:`authority_of`, over types that were read already."""
    if source_type not in types:
        raise UnknownSourceType(sorted(types), param=param)
    return types[source_type]


def writable(actor: Actor) -> Access:
    """The first check of every write: the role, and that the key holds anything at all still.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; a role that never writes.
    """
    access.require_role(actor, Verb.REMEMBER)
    return access.load(actor)


def check_place(known: Access, lane: Lane) -> None:
    """A lane that stands in a workarea is written only by who may write there, and not once it is validated.

    Raises:
        AccessNotFound, AccessForbidden: ``access.*``.
        Frozen: ``workarea.frozen``.
    """
    if lane.workarea is None:
        return
    decision = known.decide(Verb.REMEMBER, lane.workarea, lane.label)
    if decision.refusal is not None:
        raise decision.refusal
    if is_frozen(Status(lane.workarea.status)):
        raise Frozen(lane.workarea_id or "")

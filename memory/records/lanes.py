"""Lanes: where a principal's records live. A key's home lane is made with the key; others are opened by name."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from memory.records import rules
from memory.records.errors import LaneNotFound, UnknownSourceType
from memory.records.models import Engine, Lane, SourceType
from oml.core.actor import Actor
from workareas import access
from workareas.errors import Frozen
from workareas.ladder import Status, is_frozen
from workareas.verbs import Verb


def engine_id() -> str:
    """This installation's identity among engines; made on first use and never changed."""
    engine, _ = Engine.objects.get_or_create(only=True)
    return engine.engine_id


@dataclass(frozen=True, slots=True)
class Place:
    """A lane as a write needs it: with its source types and with the engine that writes."""

    lane: Lane
    types: dict[str, int]
    engine: str


_HOME = """
SELECT l.uuid, l.tenant_id, l.owner_id, l.home_of_id, l.label, l.workarea_id, l.default_source_type, l.created_at,
       (SELECT array_agg(t.name::text ORDER BY t.name) FROM memory_sourcetype t WHERE t.lane_id = l.uuid),
       (SELECT array_agg(t.authority::int ORDER BY t.name) FROM memory_sourcetype t WHERE t.lane_id = l.uuid),
       (SELECT engine_id FROM memory_engine)
FROM memory_lane l WHERE l.home_of_id = %s
"""
_LANE = ("uuid", "tenant_id", "owner_id", "home_of_id", "label", "workarea_id", "default_source_type", "created_at")


def home(actor: Actor) -> Place:
    """The home lane of the actor's key, everything about it in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_HOME, [actor.key_id])
        row = cursor.fetchone()
    if row is None:
        make_home(tenant_id=actor.tenant_id, owner_id=actor.principal_id, key_id=actor.key_id)
        return home(actor)
    *columns, names, authorities, engine = row
    lane = Lane.from_db(connection.alias, list(_LANE), columns)
    return Place(lane, dict(zip(names or (), authorities or (), strict=True)), engine or engine_id())


def place_of(lane: Lane) -> Place:
    """As :func:`home`, of a lane that was found by name."""
    return Place(lane, types_of(lane), engine_id())


def home_lane(actor: Actor) -> Lane:
    """The home lane of the actor's key."""
    return home(actor).lane


def make_home(*, tenant_id: str, owner_id: str, key_id: str) -> None:
    """Make a key's home lane, in the transaction that makes the key; a second call changes nothing.

    A write by a key without one calls it too: an older release of this program issues keys without.
    """
    lane, made = Lane.objects.get_or_create(
        home_of_id=key_id, defaults={"tenant_id": tenant_id, "owner_id": owner_id, "label": f"home/{key_id}"}
    )
    if made:
        seed(lane)


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


def types_of(lane: Lane) -> dict[str, int]:
    """A lane's source types with the authority that each gives."""
    return dict(SourceType.objects.filter(lane=lane).values_list("name", "authority"))


def authority_among(types: dict[str, int], source_type: str, *, param: str) -> int:
    """The authority that a source type gives in a lane of these types.

    Raises:
        UnknownSourceType: ``record.unknown_source_type``.
    """
    if source_type not in types:
        raise UnknownSourceType(sorted(types), param=param)
    return types[source_type]


def writable(actor: Actor) -> int:
    """The first check of every write: the role, and that the key still stands.

    Returns:
        The permission epoch, for the journal's append.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; a role that never writes.
        InvalidKey: ``auth.invalid_key``; the key was revoked since it was presented.
    """
    access.require_role(actor, Verb.REMEMBER)
    return access.standing(actor)


def check_place(actor: Actor, lane: Lane) -> None:
    """A lane that stands in a workarea is written only by who may write there, and not once it is validated.

    One that stands in none asks for nothing but its owner. The rules are read after the epoch of :func:`writable`, so
    an append under that epoch notices when they have moved in between.

    Raises:
        AccessNotFound, AccessForbidden: ``access.*``.
        Frozen: ``workarea.frozen``.
    """
    if lane.workarea is None:
        return
    decision = access.load(actor).decide(Verb.REMEMBER, lane.workarea, lane.label)
    if decision.refusal is not None:
        raise decision.refusal
    if is_frozen(Status(lane.workarea.status)):
        raise Frozen(lane.workarea_id or "")

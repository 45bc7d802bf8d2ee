"""Lanes opened by name, and groups of records: arrangements of a principal's own, none of them in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction

from memory.records import lanes, ledger, rules
from memory.records.events import Grouped, LaneOpened
from memory.records.models import Lane, RecordGroup, RecordGroupMember
from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from workareas import access, quota
from workareas.errors import UniverseWrite
from workareas.verbs import Verb


@journalled
def open_lane(
    actor: Actor,
    *,
    label: str,
    workarea: str | None = None,
    source_types: dict[str, int] | None = None,
    default_source_type: str | None = None,
) -> dict[str, Any]:
    """Open a lane of the actor's principal, with the seeded source types and any of its own.

    Args:
        actor: a writer key.
        label: unique among the principal's lanes.
        workarea: a place that gates writing: who may not write there writes no record into the lane.
        source_types: further names with their authority, 0 to 100; a seeded name may be given another one.
        default_source_type: of records that name none.

    Raises:
        VerbCeiling, AccessNotFound, AccessForbidden, UniverseWrite: ``access.*``, ``workarea.universe_write``.
        Validation: ``request.validation``; the label is taken, or the default is no type of the lane.
    """
    epoch = lanes.writable(actor)
    node = None
    if workarea is not None:
        node = access.require_node(access.load(actor).decide(Verb.REMEMBER, access.find(actor, workarea), workarea))
        if node.is_root:
            raise UniverseWrite(workarea)
    types = {**rules.SEEDED, **(source_types or {})}
    default = default_source_type or rules.DEFAULT_SOURCE_TYPE
    if default not in types:
        raise Validation("default_source_type is one of the lane's source types", param="default_source_type")
    quota.take(actor, quota.Quota.WRITE)
    try:
        with transaction.atomic():
            lane = Lane.objects.create(
                tenant_id=actor.tenant_id,
                owner_id=actor.principal_id,
                label=label,
                workarea=node,
                default_source_type=default,
            )
    except IntegrityError:
        raise Validation(f"you have a lane {label} already", param="label") from None
    lanes.seed(lane, source_types)
    append(actor, [LaneOpened(workarea_id=lane.workarea_id, lane=str(lane.pk))], epoch=epoch)
    return lane_body(lane)


def lane_body(lane: Lane) -> dict[str, Any]:
    """A lane as its owner sees it."""
    types = lane.source_types.order_by("-authority", "name").values_list("name", "authority")
    return {
        "lane": lane.label,
        "lane_uuid": str(lane.pk),
        "home_of": lane.home_of_id,
        "workarea": lane.workarea_id,
        "default_source_type": lane.default_source_type,
        "source_types": dict(types),
    }


@journalled
def change_group(actor: Actor, *, name: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> dict[str, Any]:
    """Put records into a named group and take others out; with neither, only say what is in it.

    Args:
        actor: a writer key; the group belongs to its principal.
        name: of the group, made on first use.
        add: live records of this principal.
        remove: records to take out; one that is not in it changes nothing.

    Returns:
        ``group``, ``records`` in the order they came in.

    Raises:
        RecordNotFound: ``access.not_found``, naming ``add[i]``.
        Tombstoned: ``record.tombstoned``.
        VerbCeiling, QuotaExceeded: as ingest.
    """
    epoch = lanes.writable(actor)
    for position, sr_id in enumerate(add):
        ledger.require_live(actor, sr_id, param=f"add[{position}]")
    mine = RecordGroup.objects.filter(tenant_id=actor.tenant_id, owner_id=actor.principal_id, name=name)
    if not add and not remove:
        return _group_body(name, mine.first())
    quota.take(actor, quota.Quota.WRITE)
    group, _ = RecordGroup.objects.get_or_create(tenant_id=actor.tenant_id, owner_id=actor.principal_id, name=name)
    RecordGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
    present = set(group.members.values_list("sr_id", flat=True))
    fresh = [sr_id for sr_id in dict.fromkeys(add) if sr_id not in present]
    RecordGroupMember.objects.bulk_create(RecordGroupMember(group=group, sr_id=sr_id) for sr_id in fresh)
    gone, _ = group.members.filter(sr_id__in=remove).delete()
    if fresh or gone:
        append(actor, [Grouped(group=str(group.pk), added=len(fresh), removed=gone)], epoch=epoch)
    return _group_body(name, group)


def _group_body(name: str, group: RecordGroup | None) -> dict[str, Any]:
    members = group.members.order_by("id").values_list("sr_id", flat=True) if group is not None else ()
    return {"group": name, "records": list(members)}

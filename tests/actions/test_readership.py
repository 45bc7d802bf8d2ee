"""Who would read what is promoted at a node: the question of access, asked from the node's side."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from oml.core.actor import Channel, Role
from oml.core.clock import now
from tests.support.world import World
from workareas import access
from workareas.actions.keys import enrol_human, revoke_key, set_human_access
from workareas.actions.simulations import create_simulation
from workareas.authentication import actor_of_key
from workareas.models import Key, Principal
from workareas.selectors.readers import readership
from workareas.verbs import Capability


def _agrees(world: World) -> None:
    """For every live key and node, holders and effective say the same."""
    live = [
        key
        for key in Key.objects.select_related("principal").filter(tenant_id=world.admin.tenant_id, revoked_at=None)
        if key.principal.is_active and (key.expires_at is None or key.expires_at > now())
    ]
    known = {key.pk: access.load(actor_of_key(key.pk, channel=Channel.CLI)) for key in live}
    for node in world.nodes.values():
        for capability in Capability:
            expected = {key for key, rules in known.items() if capability in rules.effective(node.path)}
            assert set(access.holders(node, capability)) == expected, (node.path, capability)


def test_holders__grants_denies_humans_and_groups__agree_with_effective(world: World) -> None:
    world.key("reader", on="a")
    world.key("reviewer", on="a.team")
    world.key("reader", on="ab")  # a prefix of letters is not a prefix of nodes
    world.deny(world.reader, Capability.READER, on="a")
    world.grant(world.reader, Capability.READER, on="a.team")  # a nearer allow never beats a deny
    revoke_key(world.admin, key=world.writer2.key_id)
    expired = world.key("reader")
    Key.objects.filter(pk=expired.key_id).update(expires_at=now() - timedelta(seconds=1))
    gone = world.key("reader")
    Principal.objects.filter(pk=gone.principal_id).update(is_active=False)
    for number, permission in enumerate(("read", "review", "administer", "deny_read")):
        enrol_human(world.admin, username=f"h{number}", name="H", password="a password of theirs", role=Role.DREAMER)
        person = Principal.objects.get(username=f"h{number}")
        set_human_access(world.admin, holder=person, workarea="universe.a", permission="read")
        set_human_access(world.admin, holder=person, workarea="universe.a.team", permission=permission)
    group = Group.objects.create(name="crew")
    Principal.objects.get(username="h0").groups.add(group)
    set_human_access(world.admin, holder=group, workarea="universe.b", permission="read")
    set_human_access(world.admin, holder=group, workarea="universe.a", permission="deny_read")
    _agrees(world)


def test_holders__any_number_of_keys__asks_a_constant_number_of_questions(world: World) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            access.holders(world.nodes["a.team"], Capability.READER)
        return len(queries)

    few = asked()
    for _ in range(5):
        world.key("reader", on="a")
    assert asked() == few <= 3


def test_readership__inside_a_simulation__counts_its_audience_alone(world: World) -> None:
    fence = create_simulation(world.admin, name="drill", audience=[world.reader.key_id, world.writer.key_id])
    assert readership(world.nodes["a"], simulation_id=fence.pk).keys == 2
    assert readership(world.nodes["a"]).keys > 2


def test_readership__grants_on_several_levels__count_the_workareas_they_come_from(world: World) -> None:
    world.key("reader", on="a")
    world.key("reader", on="a.team")
    assert readership(world.nodes["universe"]).workareas == 1
    assert readership(world.nodes["a.team"]).workareas == 3

"""A human's preset role in a space: two permissions over agent state, given, replaced and taken away."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from oml.core.errors import OmlError
from tests.support.api import Api, refused
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.world import World
from workareas import access
from workareas.actions.keys import set_human_access
from workareas.actions.removal import remove_principal
from workareas.actions.space_roles import set_space_role
from workareas.models import Principal
from workareas.space_roles import PERMISSIONS_OF, Persistence, SpaceRole

pytestmark = pytest.mark.django_db

BOTH, READ = frozenset(Persistence), frozenset({Persistence.READ})


def held(world: World, actor: access.Actor, node: str = "a") -> frozenset[Persistence]:
    return access.load(actor).persistence(world.nodes[node].path)


def test_the_five_roles__as_the_seed_has_them() -> None:
    named = {str(role): sorted(permission.spoken for permission in given) for role, given in PERMISSIONS_OF.items()}
    both = ["persistence:delete", "persistence:read"]
    read = ["persistence:read"]
    assert named == {"admin": both, "builder": both, "operator": read, "runner": read, "viewer": read}


@pytest.mark.parametrize("role", SpaceRole)
def test_set__gives_what_the_role_has__from_the_space_down_and_nowhere_else(world: World, role: SpaceRole) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=role)
    assert held(world, vera) == held(world, vera, "a.team") == PERMISSIONS_OF[role]
    assert held(world, vera, "ab") == held(world, vera, "universe") == frozenset()
    assert access.load(vera).effective("universe.a") == frozenset()


def test_set__another_role__takes_back_what_the_one_before_had_more(world: World) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    for role, given in ((SpaceRole.BUILDER, BOTH), (SpaceRole.VIEWER, READ), (SpaceRole.ADMIN, BOTH), (None, set())):
        set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=role)
        assert held(world, vera) == given
    changes = [record["payload"]["permission"] for record in journalled("human_access.unset")]
    assert changes == ["persistence_delete", "persistence_read", "persistence_delete"]


def test_set__the_same_again__changes_nothing_and_is_not_journalled(world: World) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    for _ in range(2):
        set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=SpaceRole.ADMIN)
    before = length(world.admin.tenant_id)
    set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=SpaceRole.BUILDER)
    assert length(world.admin.tenant_id) == before
    assert len(journalled("human_access.set")) == 2


def test_deny__there_or_above__wins_over_every_role(world: World) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a.team", role=SpaceRole.ADMIN)
    principal = Principal.objects.get(pk=vera.principal_id)
    denied = "deny_persistence_delete"
    set_human_access(world.admin, holder=principal, workarea="universe.a", permission=denied)
    assert held(world, vera, "a.team") == READ
    set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=SpaceRole.ADMIN)
    assert held(world, vera, "a.team") == READ


def test_permissions__of_whoever_is_out__are_none(world: World) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=SpaceRole.ADMIN)
    remove_principal(world.admin, principal=vera.principal_id, reason="left")
    assert held(world, vera) == frozenset()


def test_a_key_with_a_secret__of_the_same_human__carries_none_of_it(world: World) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    set_space_role(world.admin, principal=vera.principal_id, workarea="universe.a", role=SpaceRole.ADMIN)
    key = world.key("reader", principal=vera.principal_id)
    assert held(world, key) == frozenset()


@pytest.mark.parametrize("capability", ["persistence_read", "persistence:read", "persistence_delete"])
def test_grant__of_a_persistence_permission_to_a_key__is_no_capability(world: World, api: Api, capability: str) -> None:
    body = {"key": world.reader.key_id, "workarea": "universe.a", "capability": capability}
    error = refused(api.post("grants", body, key=world.secret[world.admin]), "request.validation", 400)
    assert error["param"] == "capability"


def test_set__for_an_agent__is_refused(world: World) -> None:
    with pytest.raises(OmlError) as caught:
        set_space_role(world.admin, principal=world.writer.principal_id, workarea="universe.a", role=SpaceRole.VIEWER)
    assert (caught.value.code, caught.value.param) == ("request.validation", "principal")


def test_route__put_and_delete__answer_what_is_held_now(world: World, api: Api) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    path = f"/v1/workareas/universe.a/space-roles/{vera.principal_id}"
    headers = {"Authorization": f"Bearer {world.secret[world.admin]}"}
    made = api.client.put(path, '{"role": "builder"}', content_type="application/json", headers=headers)
    assert made.json() == {
        "principal": vera.principal_id,
        "workarea": world.nodes["a"].pk,
        "role": "builder",
        "permissions": ["persistence:delete", "persistence:read"],
    }
    gone = api.client.delete(path, headers=headers)
    assert (gone.json()["role"], gone.json()["permissions"]) == (None, [])
    bad = api.client.put(path, '{"role": "owner"}', content_type="application/json", headers=headers)
    assert refused(bad, "request.validation", 400)["param"] == "role"


def test_route__for_whoever_may_not__tells_nothing(world: World, api: Api) -> None:
    vera = human(world, "reader", name="vera", on=None).actor
    other = World.build("other", paths=("a",))
    path = f"/v1/workareas/{world.nodes['a'].pk}/space-roles/{vera.principal_id}"
    expected = [
        (world.secret[world.reader], "access.verb_ceiling", 403),
        (world.secret[world.operator], "access.verb_ceiling", 403),
        (other.secret[other.admin], "access.not_found", 404),
    ]
    for secret, code, status in expected:
        answer = api.client.put(
            path, '{"role": "admin"}', content_type="application/json", headers={"Authorization": f"Bearer {secret}"}
        )
        refused(answer, code, status)
    foreign = f"/v1/workareas/{other.nodes['a'].pk}/space-roles/{vera.principal_id}"
    answer = api.client.put(
        foreign,
        '{"role": "admin"}',
        content_type="application/json",
        headers={"Authorization": f"Bearer {other.secret[other.admin]}"},
    )
    refused(answer, "access.not_found", 404)


def test_command__gives_replaces_and_takes_away(world: World) -> None:
    vera = human(world, "reader", name="vera", on=None).actor

    def run(role: str) -> str:
        out = StringIO()
        call_command("grant", "space-role", "vera", "universe.a", role, stdout=out)
        return out.getvalue().strip()

    assert run("admin") == "vera has persistence:delete and persistence:read from universe.a down."
    assert held(world, vera) == BOTH
    assert run("none") == "vera has no permission over agent state from universe.a down."
    assert held(world, vera) == frozenset()
    with pytest.raises(CommandError):
        run("owner")
    call_command("grant", "human", "vera", "universe.a", "persistence_read", stdout=StringIO())
    assert held(world, vera) == READ

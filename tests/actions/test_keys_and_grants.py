"""Keys, grants and people's permissions: what an administrator may give, what it changes, what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group

from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.core.errors import OmlError
from oml.journal.selectors import permission_epoch
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas import access
from workareas.actions.keys import (
    GrantSpec,
    NewPrincipal,
    add_grant,
    enrol_human,
    issue_key,
    remove_grant,
    revoke_key,
    set_human_access,
    set_quota,
)
from workareas.authentication import actor_of_human, actor_of_key, actor_of_secret, authenticate_bearer, digest_of
from workareas.models import Grant, Key, Principal, PrincipalKind, WorkareaUserPermission
from workareas.verbs import Capability, Verb

pytestmark = pytest.mark.django_db

ROOT = "universe"


def refusal(actor: Actor, act: Callable[[], object]) -> OmlError:
    before = length(actor.tenant_id), Key.objects.count(), Grant.objects.count(), Principal.objects.count()
    with pytest.raises(OmlError) as caught:
        act()
    after = length(actor.tenant_id), Key.objects.count(), Grant.objects.count(), Principal.objects.count()
    assert after == before
    return caught.value


def capabilities(actor: Actor, path: str) -> set[str]:
    return {str(one) for one in access.load(actor).effective(path)}


class TestKeys:
    def test_issue__secret_is_shown_once_and_only_its_digest_is_stored(self, world: World) -> None:
        issued = issue_key(world.admin, principal=NewPrincipal("crew"), role=Role.READER)
        assert issued.secret.startswith("oml_k_") and len(issued.secret) == 32
        row = Key.objects.get(pk=issued.key.pk)
        assert bytes(row.secret_digest or b"") == digest_of(issued.secret)
        assert issued.secret not in str(vars(row)) and row.last_four == issued.secret[-4:]
        assert issued.secret not in str(journalled("key.issued"))

    def test_issue__key_and_grants__are_one_act_in_the_journal_and_raise_the_epoch(self, world: World) -> None:
        before = length(world.admin.tenant_id), permission_epoch(world.admin.tenant_id)
        world.key("writer", on="a")
        after = length(world.admin.tenant_id), permission_epoch(world.admin.tenant_id)
        assert after == (before[0] + 3, before[1] + 1)

    @pytest.mark.parametrize("kind", ["reader", "writer", "reviewer", "proposer"])
    def test_issue__by_anybody_but_an_admin__is_beyond_the_ceiling(self, world: World, kind: str) -> None:
        actor = world.key(kind)
        error = refusal(actor, lambda: issue_key(actor, principal=NewPrincipal("x"), role=Role.READER))
        assert error.code == "access.verb_ceiling"

    def test_issue__by_the_operator_or_of_an_operator_key__is_refused(self, world: World) -> None:
        error = refusal(world.operator, lambda: issue_key(world.operator, principal=NewPrincipal("x"), role=Role.ADMIN))
        assert error.code == "access.verb_ceiling"
        error = refusal(world.admin, lambda: issue_key(world.admin, principal=NewPrincipal("x"), role=Role.OPERATOR))
        assert (error.code, error.param) == ("request.validation", "role")

    def test_issue__admin_of_a_subtree__grants_there_and_nowhere_else(self, world: World) -> None:
        local = world.key("admin", on="a")
        assert issue_key(
            local,
            principal=NewPrincipal("x"),
            role=Role.READER,
            grants=[GrantSpec(world.nodes["a.team"].pk, Capability.READER)],
        )
        for where, code in (("ab", "access.not_found"), ("universe", "access.not_found")):
            spec = GrantSpec(world.nodes[where].pk, Capability.READER)
            error = refusal(
                local,
                lambda spec=spec: issue_key(  # type: ignore[misc]
                    local, principal=NewPrincipal("x"), role=Role.READER, grants=[spec]
                ),
            )
            assert error.code == code

    @pytest.mark.parametrize(
        ("role", "capability"),
        [
            (Role.READER, Capability.WRITER),
            (Role.WRITER, Capability.REVIEW),
            (Role.WRITER, Capability.ADMIN),
            (Role.DREAMER, Capability.WRITER),
            (Role.ADMIN, Capability.REVIEW),
            (Role.ADMIN, Capability.WRITER),
        ],
    )
    def test_issue__grant_above_the_role__is_refused_whole(
        self, world: World, role: Role, capability: Capability
    ) -> None:
        specs = [GrantSpec(ROOT, Capability.READER), GrantSpec(ROOT, capability)]
        error = refusal(
            world.admin, lambda: issue_key(world.admin, principal=NewPrincipal("x"), role=role, grants=specs)
        )
        assert error.code == "request.validation"

    def test_issue__same_grant_twice__is_refused_and_not_a_broken_database(self, world: World) -> None:
        specs = [GrantSpec(ROOT, Capability.READER)] * 2
        error = refusal(
            world.admin, lambda: issue_key(world.admin, principal=NewPrincipal("x"), role=Role.READER, grants=specs)
        )
        assert error.code == "request.validation"

    def test_issue__expired_at_birth_unknown_principal_or_a_nameless_one__is_refused(self, world: World) -> None:
        admin = world.admin
        past = now() - timedelta(seconds=1)
        assert (
            refusal(
                admin, lambda: issue_key(admin, principal=NewPrincipal("x"), role=Role.READER, expires_at=past)
            ).param
            == "expires_at"
        )
        assert refusal(admin, lambda: issue_key(admin, principal="pri_x", role=Role.READER)).code == "access.not_found"
        for name in ("", "  "):
            nameless = NewPrincipal(name)
            assert (
                refusal(
                    admin,
                    lambda nameless=nameless: issue_key(admin, principal=nameless, role=Role.READER),  # type: ignore[misc]
                ).code
                == "request.validation"
            )
        too_long = NewPrincipal("x" * 201)
        assert (
            refusal(admin, lambda: issue_key(admin, principal=too_long, role=Role.READER)).code == "request.validation"
        )
        human = NewPrincipal("Rosa", PrincipalKind.HUMAN)
        assert refusal(admin, lambda: issue_key(admin, principal=human, role=Role.READER)).code == "request.validation"

    def test_issue__principal_of_another_tenant__does_not_exist_here(self, world: World) -> None:
        other = World.build("other", paths=("a",))
        foreign = other.writer.principal_id
        error = refusal(world.admin, lambda: issue_key(world.admin, principal=foreign, role=Role.READER))
        assert error.code == "access.not_found"

    def test_revoke__at_once_and_for_every_way_in(self, world: World) -> None:
        secret = world.secret[world.writer]
        assert actor_of_secret(secret, channel=Channel.HTTP) == world.writer
        revoke_key(world.admin, key=world.writer.key_id)
        with pytest.raises(OmlError):
            actor_of_secret(secret, channel=Channel.HTTP)
        with pytest.raises(OmlError):
            actor_of_key(world.writer.key_id, channel=Channel.CLI)
        assert capabilities(world.writer, "universe.a") == set()

    def test_revoke__again__changes_nothing(self, world: World) -> None:
        first = revoke_key(world.admin, key=world.writer.key_id).revoked_at
        before = length(world.admin.tenant_id)
        assert revoke_key(world.admin, key=world.writer.key_id).revoked_at == first
        assert length(world.admin.tenant_id) == before

    def test_revoke__by_the_operator__is_the_one_thing_it_may_do_to_a_key(self, world: World) -> None:
        assert revoke_key(world.operator, key=world.writer.key_id).revoked_at
        journalled("key.revoked", once=True)

    def test_revoke__unknown_or_foreign_key__is_not_found_and_by_a_local_admin_forbidden(self, world: World) -> None:
        other = World.build("other", paths=("a",))
        for key in ("key_unknown", "", "\x00", other.writer.key_id):
            assert refusal(world.admin, lambda key=key: revoke_key(world.admin, key=key)).code == "access.not_found"  # type: ignore[misc]
        local = world.key("admin", on="a")
        for key in ("key_unknown", world.writer.key_id):
            assert refusal(local, lambda key=key: revoke_key(local, key=key)).code == "access.forbidden"  # type: ignore[misc]

    def test_authenticate__missing_unknown_revoked_expired__are_one_body(self, world: World) -> None:
        expiring = world.key("reader")
        Key.objects.filter(pk=expiring.key_id).update(expires_at=now())
        revoke_key(world.admin, key=world.writer2.key_id)
        silent = world.key("reader")
        Principal.objects.filter(pk=silent.principal_id).update(is_active=False)
        headers = [
            None,
            "",
            "Bearer",
            "Bearer  ",
            "Basic dXNlcjpwYXNz",
            "Bearer oml_k_" + "0" * 26,
            "Bearer \ud800",
            f"Bearer {world.secret[expiring]}",
            f"Bearer {world.secret[world.writer2]}",
            f"Bearer {world.secret[silent]}",
            f"Bearer {world.secret[world.reader]}x",
            f"Bearer {world.secret[world.reader].lower()}",
        ]
        bodies = []
        for header in headers:
            with pytest.raises(OmlError) as caught:
                authenticate_bearer(header, channel=Channel.HTTP)
            bodies.append(caught.value.as_dict())
            assert caught.value.headers()["WWW-Authenticate"].startswith('Bearer realm="oml"')
        assert all(body == bodies[0] for body in bodies)
        assert bodies[0]["error"]["code"] == "auth.invalid_key"


class TestGrants:
    def test_grant__however_it_came__knows_the_entry_that_tells_of_it(self, world: World) -> None:
        """With the tenant, with its key, by itself."""
        world.grant(world.bare_key(Role.READER), Capability.READER, on="a")
        told = {record["subject"]["grant_id"]: record["seq"] for record in journalled("grant.added")}
        assert dict(Grant.objects.values_list("pk", "journal_seq")) == told
        assert Grant.objects.filter(key=world.admin.key_id).count() == 2

    def test_add__again__is_the_same_grant_and_no_second_event(self, world: World) -> None:
        actor = world.bare_key(Role.READER)
        spec = GrantSpec(world.nodes["a"].pk, Capability.READER)
        first = add_grant(world.admin, key=actor.key_id, spec=spec)
        before = length(world.admin.tenant_id), permission_epoch(world.admin.tenant_id)
        assert add_grant(world.admin, key=actor.key_id, spec=spec).pk == first.pk
        assert (length(world.admin.tenant_id), permission_epoch(world.admin.tenant_id)) == before
        assert first.journal_seq == journalled("grant.added")[-1]["seq"]

    def test_add_and_remove__change_what_the_key_may_and_raise_the_epoch(self, world: World) -> None:
        actor = world.bare_key(Role.READER)
        epoch = permission_epoch(world.admin.tenant_id)
        grant = add_grant(world.admin, key=actor.key_id, spec=GrantSpec("universe.a", Capability.READER))
        assert capabilities(actor, "universe.a.team") == {"reader"}
        remove_grant(world.admin, grant=grant.pk)
        assert capabilities(actor, "universe.a.team") == set()
        assert permission_epoch(world.admin.tenant_id) == epoch + 2

    def test_deny__beats_every_allow_however_near(self, world: World) -> None:
        world.deny(world.reader, Capability.READER, on="a")
        world.grant(world.reader, Capability.READER, on="a.team")
        assert capabilities(world.reader, "universe.a.team") == set()
        assert capabilities(world.reader, "universe.ab") == {"reader"}

    def test_deny__of_what_the_role_can_never_hold__is_allowed_and_harmless(self, world: World) -> None:
        world.deny(world.reader, Capability.ADMIN, on="a")
        assert capabilities(world.reader, "universe.a") == {"reader"}

    def test_add__unknown_key_or_node_or_a_foreign_one__is_not_found(self, world: World) -> None:
        other = World.build("other", paths=("a",))
        reader = GrantSpec("universe.a", Capability.READER)
        for key in ("key_unknown", other.reader.key_id):
            assert refusal(world.admin, lambda key=key: add_grant(world.admin, key=key, spec=reader)).code == (  # type: ignore[misc]
                "access.not_found"
            )
        foreign = GrantSpec(other.nodes["a"].pk, Capability.READER)
        error = refusal(world.admin, lambda: add_grant(world.admin, key=world.reader.key_id, spec=foreign))
        assert error.code == "access.not_found"

    def test_remove__by_who_does_not_administer_the_node__is_not_found(self, world: World) -> None:
        grant = Grant.objects.filter(key=world.reader.key_id).first()
        assert grant is not None
        local = world.key("admin", on="a")
        assert refusal(local, lambda: remove_grant(local, grant=grant.pk)).code == "access.not_found"
        assert refusal(world.admin, lambda: remove_grant(world.admin, grant="gr_x")).code == "access.not_found"
        assert refusal(world.writer, lambda: remove_grant(world.writer, grant=grant.pk)).code == "access.verb_ceiling"

    def test_admin__does_not_read_what_it_administers_unless_granted(self, world: World) -> None:
        artifact = world.promoted(on="a")
        local = issue_key(
            world.admin,
            principal=NewPrincipal("local"),
            role=Role.ADMIN,
            grants=[GrantSpec("universe.a", Capability.ADMIN)],
        )
        actor = actor_of_key(local.key.pk, channel=Channel.HTTP)
        decision = access.authorize(actor, Verb.READ, "universe.a")
        assert decision.code == "access.forbidden"
        assert access.authorize(actor, Verb.RECALL, "universe.b").code == "access.not_found"
        from memory.claims.selectors.reading import read_artifact

        with pytest.raises(OmlError) as caught:
            read_artifact(actor, artifact=artifact)
        assert caught.value.code == "access.not_found"


class TestPeople:
    """Humans in the browser: object permissions of users and groups, folded into the same decision."""

    @pytest.fixture
    def rosa(self, world: World) -> Principal:
        return self.enrol(world, "rosa", Role.DREAMER)

    def enrol(self, world: World, username: str, role: Role) -> Principal:
        key = enrol_human(world.admin, username=username, name=username, password="correct horse battery", role=role)
        return key.principal

    def test_enrolled__owns_one_interactive_key_without_secret_and_without_access(
        self, world: World, rosa: Principal
    ) -> None:
        key = Key.objects.get(principal=rosa)
        assert key.interactive and key.secret_digest is None
        assert capabilities(actor_of_human(rosa), "universe.a") == set()

    def test_enrol__taken_name_or_no_admin__is_refused(self, world: World, rosa: Principal) -> None:
        admin = world.admin
        act = lambda actor: enrol_human(actor, username="rosa", name="x", password="x" * 12, role=Role.DREAMER)  # noqa: E731
        assert refusal(admin, lambda: act(admin)).param == "username"
        local = world.key("admin", on="a")
        assert refusal(local, lambda: act(local)).code == "access.forbidden"

    @pytest.mark.parametrize(("permission", "expected"), [("read", {"reader"}), ("review", {"review"})])
    def test_permission_of_the_person__holds_in_the_subtree(
        self, world: World, rosa: Principal, permission: str, expected: set[str]
    ) -> None:
        set_human_access(world.admin, holder=rosa, workarea="universe.a", permission=permission)
        actor = actor_of_human(rosa)
        assert capabilities(actor, "universe.a.team") == expected
        assert capabilities(actor, "universe.ab") == set()
        journalled("human_access.set", once=True)

    def test_permission_of_a_group__holds_for_its_members_and_ends_with_membership(
        self, world: World, rosa: Principal
    ) -> None:
        group = Group.objects.create(name="reviewers")
        set_human_access(world.admin, holder=group, workarea="universe.a", permission="review")
        assert capabilities(actor_of_human(rosa), "universe.a") == set()
        rosa.groups.add(group)
        assert capabilities(actor_of_human(rosa), "universe.a") == {"review"}
        rosa.groups.remove(group)
        assert capabilities(actor_of_human(rosa), "universe.a") == set()

    def test_deny_twin__of_person_or_group__beats_the_other_s_allow(self, world: World, rosa: Principal) -> None:
        group = Group.objects.create(name="reviewers")
        rosa.groups.add(group)
        for holder, other in ((rosa, group), (group, rosa)):
            set_human_access(world.admin, holder=holder, workarea=ROOT, permission="review")
            set_human_access(world.admin, holder=other, workarea="universe.a", permission="deny_review")
            assert capabilities(actor_of_human(rosa), "universe.a.team") == set()
            assert capabilities(actor_of_human(rosa), "universe.b") == {"review"}
            set_human_access(world.admin, holder=holder, workarea=ROOT, permission="review", granted=False)
            set_human_access(world.admin, holder=other, workarea="universe.a", permission="deny_review", granted=False)

    def test_deny_grant_on_the_key__beats_the_permission_of_the_person(self, world: World, rosa: Principal) -> None:
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="review")
        actor = actor_of_human(rosa)
        world.deny(actor, Capability.REVIEW, on="a")
        assert capabilities(actor, "universe.a") == set()

    def test_permission_above_the_role__gives_nothing(self, world: World, rosa: Principal) -> None:
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="administer")
        assert capabilities(actor_of_human(rosa), "universe.a") == set()

    def test_persistence_permissions__open_no_memory(self, world: World, rosa: Principal) -> None:
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="persistence_read")
        assert capabilities(actor_of_human(rosa), "universe.a") == set()

    def test_permission_of_the_principal__does_nothing_for_its_api_keys(self, world: World, rosa: Principal) -> None:
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="read")
        robot = world.key("reader", on="b", principal=rosa.pk)
        assert capabilities(robot, "universe.a") == set()
        assert capabilities(robot, "universe.b") == {"reader"}

    def test_unset__takes_it_back_and_is_journalled(self, world: World, rosa: Principal) -> None:
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="review")
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="review", granted=False)
        assert capabilities(actor_of_human(rosa), "universe.a") == set()
        journalled("human_access.unset", once=True)

    @pytest.mark.parametrize("permission", ["promote", "", "add_workarea", "deny_promote", "delete_workarea"])
    def test_set__a_permission_that_does_not_exist__is_refused(
        self, world: World, rosa: Principal, permission: str
    ) -> None:
        error = refusal(
            world.admin,
            lambda: set_human_access(world.admin, holder=rosa, workarea=ROOT, permission=permission),
        )
        assert (error.code, error.param) == ("request.validation", "permission")

    def test_set__somebody_of_another_tenant__is_not_found(self, world: World) -> None:
        other = World.build("other", paths=("a",))
        stranger = self.enrol(other, "stranger", Role.DREAMER)
        error = refusal(
            world.admin, lambda: set_human_access(world.admin, holder=stranger, workarea=ROOT, permission="review")
        )
        assert error.code == "access.not_found"
        assert not WorkareaUserPermission.objects.exists()

    def test_set__by_who_does_not_administer_there__is_refused(self, world: World, rosa: Principal) -> None:
        local = world.key("admin", on="a")
        act = lambda: set_human_access(local, holder=rosa, workarea=ROOT, permission="review")  # noqa: E731
        assert refusal(local, act).code == "access.not_found"
        delegated = self.enrol(world, "delegate", Role.ADMIN)
        set_human_access(world.admin, holder=delegated, workarea="universe.a", permission="administer")
        set_human_access(actor_of_human(delegated), holder=rosa, workarea="universe.a.team", permission="review")
        assert capabilities(actor_of_human(rosa), "universe.a.team") == {"review"}

    def test_switched_off_person_or_revoked_interactive_key__acts_no_more(self, world: World, rosa: Principal) -> None:
        set_human_access(world.admin, holder=rosa, workarea=ROOT, permission="review")
        actor = actor_of_human(rosa)
        revoke_key(world.admin, key=actor.key_id)
        with pytest.raises(OmlError):
            actor_of_human(rosa)
        assert capabilities(actor, "universe.a") == set()


def test_set_quota__negative__is_refused(world: World) -> None:
    for values in (
        {"writes_per_minute": -1, "reads_per_minute": None},
        {"writes_per_minute": None, "reads_per_minute": -5},
    ):
        error = refusal(world.admin, lambda values=values: set_quota(world.admin, **values))  # type: ignore[misc]
        assert error.code == "request.validation"


def test_set_quota__by_a_local_admin__is_forbidden(world: World) -> None:
    local = world.key("admin", on="a")
    act = lambda: set_quota(local, writes_per_minute=1, reads_per_minute=1)  # noqa: E731
    assert refusal(local, act).code == "access.forbidden"

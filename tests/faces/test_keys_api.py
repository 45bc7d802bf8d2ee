"""Keys and grants over ``/v1``: issued, listed, rotated with overlap, revoked, expired; allowed, denied, explained."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from oml.core.actor import Role
from oml.core.clock import now, rfc3339_seconds
from tests.support.api import Api, refused
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.world import World
from workareas.actions.keys import revoke_key
from workareas.models import Grant, Key, Principal, StatedReason
from workareas.verbs import CEILING, Capability, Verb

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(world: World) -> str:
    return world.secret[world.admin]


def issue(api: Api, admin: str, **fields: Any) -> Any:
    fields.setdefault("principal", {"name": "Metals agent"})
    fields.setdefault("role", "writer")
    return api.post("keys", fields, key=admin)


def works(api: Api, secret: str) -> bool:
    """Whether a key is let in at all."""
    answer = api.get("my-work", key=secret)
    if answer.status_code == 401:
        refused(answer, "auth.invalid_key")
        return False
    return True


# --- issue ----------------------------------------------------------------------------------------


def test_issue__new_agent_with_grants__answers_the_secret_once_and_journals_no_part_of_it(
    world: World, api: Api, admin: str
) -> None:
    node = world.nodes["a"].pk
    grants = [
        {"workarea": node, "capability": "reader"},
        {"workarea": "universe.a", "capability": "writer", "effect": "allow"},
        {"workarea": "universe.a.team", "capability": "writer", "effect": "deny"},
    ]
    answer = issue(api, admin, grants=grants)
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {"key_id", "principal", "secret"}
    assert body["key_id"].startswith("key_")
    assert body["principal"].startswith("pri_")
    assert len(body["secret"]) == len("oml_k_") + 26
    assert answer.headers["Cache-Control"] == "no-store"

    told = str(journalled("key.issued", tenant_id=world.admin.tenant_id)) + str(
        journalled("grant.added", tenant_id=world.admin.tenant_id)
    )
    assert body["key_id"] in told
    assert body["secret"] not in told
    assert body["secret"][6:] not in told
    verbs = api.get(f"workareas/{node}", key=body["secret"]).json()["my_effective_verbs"]
    assert verbs == ["recall", "read", "graph_read", "remember", "learn", "attach"]
    team = api.get("workareas/universe.a.team", key=body["secret"]).json()["my_effective_verbs"]
    assert team == ["recall", "read", "graph_read"]


def test_issue__second_key_of_a_principal__is_the_same_identity(world: World, api: Api, admin: str) -> None:
    first = issue(api, admin).json()
    second = issue(api, admin, principal={"id": first["principal"]}).json()
    assert second["principal"] == first["principal"]
    assert second["key_id"] != first["key_id"]
    assert Principal.objects.filter(name="Metals agent").count() == 1


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"principal": {}}, "principal"),
        ({"principal": {"id": "pri_x", "name": "both"}}, "principal"),
        ({"principal": {"name": "  "}}, "principal.name"),
        ({"principal": {"name": "A human", "kind": "human"}}, "principal.kind"),
        ({"principal": {"name": "x", "kind": "robot"}}, "principal.kind"),
        ({"principal": "pri_x"}, "principal"),
        ({"role": "operator"}, "role"),
        ({"role": "owner"}, "role"),
        ({"grants": [{"workarea": "universe.a", "capability": "admin"}]}, "capability"),
        ({"grants": [{"workarea": "universe.a", "capability": "promote"}]}, "grants[0].capability"),
        ({"grants": [{"workarea": "universe.a"}]}, "grants[0].capability"),
        ({"grants": [{"workarea": "universe.a", "capability": "reader", "effect": "maybe"}]}, "grants[0].effect"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "2031-01-01T00:00:00"}, "expires_at"),
        ({"expires_at": 1893456000}, "expires_at"),
    ],
)
def test_issue__shape_is_wrong__names_the_field_and_writes_nothing(
    world: World, api: Api, admin: str, fields: dict[str, Any], param: str
) -> None:
    before = length(world.admin.tenant_id), Key.objects.count(), Principal.objects.count()
    error = refused(issue(api, admin, **fields), "request.validation", 400)
    assert error["param"] == param
    assert (length(world.admin.tenant_id), Key.objects.count(), Principal.objects.count()) == before


def test_issue__capability_above_the_roles_ceiling__is_refused_for_every_role(
    world: World, api: Api, admin: str
) -> None:
    for role in Role:
        for capability in Capability:
            answer = issue(
                api, admin, role=str(role), grants=[{"workarea": "universe.a", "capability": str(capability)}]
            )
            allowed = role is not Role.OPERATOR and capability in CEILING[role]
            assert answer.status_code == (201 if allowed else 400), (role, capability)


def test_issue__grant_outside_the_administrators_subtree__is_not_found_and_writes_nothing(
    world: World, api: Api
) -> None:
    by = world.key("admin", on="a")
    before = length(world.admin.tenant_id), Key.objects.count()
    inside = {"workarea": "universe.a.team", "capability": "reader"}
    outside = {"workarea": "universe.b", "capability": "reader"}
    refused(issue(api, world.secret[by], grants=[inside, outside]), "access.not_found", 404)
    assert (length(world.admin.tenant_id), Key.objects.count()) == before
    assert issue(api, world.secret[by], grants=[inside]).status_code == 201


def test_issue__administrator_of_a_subtree__gives_no_key_to_somebody_elses_identity(world: World, api: Api) -> None:
    """A key of a principal writes in its name: only who administers the whole tenant may hand one out."""
    by = world.key("admin", on="a")
    grants = [{"workarea": "universe.a", "capability": "writer"}]
    fields = {"principal": {"id": world.reviewer.principal_id}, "grants": grants}
    refused(issue(api, world.secret[by], **fields), "access.not_found", 404)
    assert issue(api, world.secret[world.admin], **fields).status_code == 201


# --- expiry, rotation, revocation ----------------------------------------------------------------


def test_key__expired__is_the_same_refusal_as_an_unknown_one(world: World, api: Api, admin: str) -> None:
    body = issue(api, admin, expires_at=rfc3339_seconds(now() + timedelta(hours=1))).json()
    assert works(api, body["secret"])
    Key.objects.filter(pk=body["key_id"]).update(expires_at=now())
    expired = api.get("my-work", key=body["secret"])
    unknown = api.get("my-work", key="oml_k_" + "0" * 26)
    assert (expired.status_code, expired.content) == (unknown.status_code, unknown.content) == (401, expired.content)


def test_rotate__without_overlap__ends_the_old_secret_at_once_and_keeps_id_and_grants(
    world: World, api: Api, admin: str
) -> None:
    old = world.secret[world.writer]
    answer = api.post(f"keys/{world.writer.key_id}/rotate", {}, key=admin)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"key_id", "secret", "previous_expires_at"}
    assert body["key_id"] == world.writer.key_id
    assert body["previous_expires_at"] is None
    assert not works(api, old)
    verbs = api.get("workareas/universe.a", key=body["secret"]).json()["my_effective_verbs"]
    assert "remember" in verbs
    (record,) = journalled("key.rotated", tenant_id=world.admin.tenant_id, once=True)
    assert record["subject"] == {"key_id": world.writer.key_id}
    assert record["payload"] == {"overlap_until": None}


def test_rotate__with_overlap__both_secrets_work_until_its_end(world: World, api: Api, admin: str) -> None:
    old = world.secret[world.writer]
    body = api.post(f"keys/{world.writer.key_id}/rotate", {"overlap_s": 3600}, key=admin).json()
    until = now() + timedelta(seconds=3600)
    assert body["previous_expires_at"] <= rfc3339_seconds(until)
    assert body["previous_expires_at"] >= rfc3339_seconds(until - timedelta(seconds=60))
    assert works(api, old)
    assert works(api, body["secret"])
    Key.objects.filter(pk=world.writer.key_id).update(previous_expires_at=now())
    assert not works(api, old)
    assert works(api, body["secret"])


def test_rotate__twice_within_an_overlap__the_oldest_secret_is_over(world: World, api: Api, admin: str) -> None:
    first = world.secret[world.writer]
    second = api.post(f"keys/{world.writer.key_id}/rotate", {"overlap_s": 3600}, key=admin).json()["secret"]
    third = api.post(f"keys/{world.writer.key_id}/rotate", {"overlap_s": 3600}, key=admin).json()["secret"]
    assert [works(api, secret) for secret in (first, second, third)] == [False, True, True]


def test_rotate__retry_of_a_submission_under_the_new_secret__is_a_replay(world: World, api: Api, admin: str) -> None:
    body = {"workarea": "universe.a", "claim_key": "quote", "text": "412 USD/t", "idempotency_key": "run-1"}
    first = api.post("memories", body, key=world.secret[world.writer])
    secret = api.post(f"keys/{world.writer.key_id}/rotate", {}, key=admin).json()["secret"]
    again = api.post("memories", body, key=secret)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {**first.json(), "idempotent_replay": True}


@pytest.mark.parametrize("overlap", [-1, 30 * 86_400 + 1, True, "60", 1.5])
def test_rotate__overlap_out_of_range__is_validation(world: World, api: Api, admin: str, overlap: Any) -> None:
    answer = api.post(f"keys/{world.writer.key_id}/rotate", {"overlap_s": overlap}, key=admin)
    assert refused(answer, "request.validation", 400)["param"] == "overlap_s"
    assert works(api, world.secret[world.writer])


def test_rotate__revoked_key_or_a_humans__has_no_secret_to_rotate(world: World, api: Api, admin: str) -> None:
    rosa = human(world, name="rosa")
    revoke_key(world.admin, key=world.writer.key_id)
    for key in (world.writer.key_id, rosa.actor.key_id):
        refused(api.post(f"keys/{key}/rotate", {}, key=admin), "request.validation", 400)


def test_revoke__with_overlap_running__ends_both_secrets_at_once_and_is_journalled_once(
    world: World, api: Api, admin: str
) -> None:
    old = world.secret[world.writer]
    new = api.post(f"keys/{world.writer.key_id}/rotate", {"overlap_s": 3600}, key=admin).json()["secret"]
    answer = api.post(f"keys/{world.writer.key_id}/revoke", {"reason": "it leaked"}, key=admin)
    assert answer.status_code == 200
    assert set(answer.json()) == {"key_id", "revoked_at"}
    assert not works(api, old)
    assert not works(api, new)
    again = api.post(f"keys/{world.writer.key_id}/revoke", {}, key=admin)
    assert again.json() == answer.json()
    (record,) = journalled("key.revoked", tenant_id=world.admin.tenant_id, once=True)
    assert "it leaked" not in str(record)
    assert StatedReason.objects.get(subject_id=world.writer.key_id).text == "it leaked"


def test_revoke__by_an_operator__is_the_one_thing_it_may_do_here(world: World, api: Api) -> None:
    answer = api.post(f"keys/{world.writer.key_id}/revoke", {}, key=world.secret[world.operator])
    assert answer.status_code == 200
    assert not works(api, world.secret[world.writer])
    stranger = World.build("stranger")
    refused(
        api.post(f"keys/{world.writer2.key_id}/revoke", {}, key=stranger.secret[stranger.operator]),
        "access.not_found",
        404,
    )
    assert works(api, world.secret[world.writer2])


# --- the list ------------------------------------------------------------------------------------


def test_list__every_key__has_owner_role_times_and_grants_and_never_a_secret(
    world: World, api: Api, admin: str
) -> None:
    secret = world.secret[world.writer]
    assert works(api, secret)
    answer = api.get("keys", key=admin, limit=100)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"items", "next_cursor"}
    item = next(item for item in body["items"] if item["key_id"] == world.writer.key_id)
    assert set(item) == {
        "key_id",
        "principal",
        "role",
        "interactive",
        "last_four",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
        "grants",
    }
    assert item["principal"] == {
        "id": world.writer.principal_id,
        "name": Principal.objects.get(pk=world.writer.principal_id).name,
        "kind": "agent",
    }
    assert (item["role"], item["interactive"], item["last_four"]) == ("writer", False, secret[-4:])
    assert item["last_used_at"] is not None
    assert {grant["capability"] for grant in item["grants"]} == {"reader", "writer"}
    assert set(item["grants"][0]) == {"grant_id", "workarea", "workarea_path", "capability", "effect"}
    for known in world.secret.values():
        assert known not in answer.content.decode()
        assert known[6:20] not in answer.content.decode()


def test_list__last_used__is_null_before_the_first_use_and_a_minute_coarse(world: World, api: Api, admin: str) -> None:
    body = issue(api, admin).json()

    def used() -> str | None:
        items = api.get("keys", key=admin, limit=100).json()["items"]
        moment: str | None = next(item["last_used_at"] for item in items if item["key_id"] == body["key_id"])
        return moment

    assert used() is None
    assert works(api, body["secret"])
    first = used()
    assert first is not None
    assert works(api, body["secret"])
    assert used() == first
    Key.objects.filter(pk=body["key_id"]).update(last_used_at=now() - timedelta(minutes=2))
    assert works(api, body["secret"])
    assert (used() or "") >= first


def test_list__in_pages__is_every_key_once_newest_first(world: World, api: Api, admin: str) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        body = api.get("keys", key=admin, limit=3, **cursor).json()
        seen += [item["key_id"] for item in body["items"]]
        if body["next_cursor"] is None:
            break
        cursor = {"cursor": body["next_cursor"]}
    everything = list(Key.objects.filter(tenant_id=world.admin.tenant_id).order_by("-pk").values_list("pk", flat=True))
    assert seen == everything
    refused(api.get("keys", key=admin, cursor="x"), "request.validation", 400)
    refused(api.get("keys", key=admin, limit=101), "limit.ceiling", 400)
    refused(api.get("keys", key=admin, limit=0), "request.validation", 400)


def test_list__cursor_of_another_administrator__is_refused(world: World, api: Api, admin: str) -> None:
    cursor = api.get("keys", key=admin, limit=1).json()["next_cursor"]
    other = world.key("admin")
    refused(api.get("keys", key=world.secret[other], cursor=cursor), "request.validation", 400)


# --- grants --------------------------------------------------------------------------------------


def grant(api: Api, admin: str, actor: Any, workarea: str, capability: str, effect: str = "allow") -> Any:
    body = {"key": actor.key_id, "workarea": workarea, "capability": capability, "effect": effect}
    return api.post("grants", {**body, "reason": "asked for by the crew"}, key=admin)


def test_grant__allowed__is_there_at_once_in_the_subtree_and_journalled_without_its_reason(
    world: World, api: Api, admin: str
) -> None:
    by = world.bare_key(Role.WRITER)
    answer = grant(api, admin, by, "universe.a", "writer")
    assert answer.status_code == 201
    body = answer.json()
    assert body == {
        "grant_id": body["grant_id"],
        "key": by.key_id,
        "workarea": world.nodes["a"].pk,
        "capability": "writer",
        "effect": "allow",
    }
    assert body["grant_id"].startswith("gr_")
    row = Grant.objects.get(pk=body["grant_id"])
    record = journalled("grant.added", tenant_id=by.tenant_id)[-1]
    assert (row.journal_seq, record["subject"]) == (record["seq"], {"grant_id": row.pk})
    assert "crew" not in str(record)
    assert world.submit(by, on="a.team")
    again = grant(api, admin, by, "universe.a", "writer")
    assert (again.status_code, again.json()) == (200, body)
    assert len([r for r in journalled("grant.added") if r["subject"]["grant_id"] == row.pk]) == 1


@pytest.mark.parametrize("where", ["universe", "universe.a", "universe.a.team"])
def test_grant__denied_at_any_depth__wins_over_every_allow(world: World, api: Api, admin: str, where: str) -> None:
    by = world.key("writer")
    for allowed in ("universe.a", "universe.a.team"):
        assert grant(api, admin, by, allowed, "writer").status_code == 201
    answer = grant(api, admin, by, where, "writer", "deny")
    assert answer.status_code == 201
    submission = {"workarea": "universe.a.team", "claim_key": "quote", "text": "412 USD/t"}
    refused(api.post("memories", submission, key=world.secret[by]), "access.forbidden", 403)
    assert api.delete(f"grants/{answer.json()['grant_id']}", key=admin).json() == {
        "grant_id": answer.json()["grant_id"],
        "removed": True,
    }
    assert api.post("memories", submission, key=world.secret[by]).status_code == 201
    assert journalled("grant.removed", tenant_id=by.tenant_id, once=True)[0]["payload"]["effect"] == "deny"


def test_grant__deny_below__leaves_the_sibling_with_the_same_beginning(world: World, api: Api, admin: str) -> None:
    grant(api, admin, world.reader, "universe.a", "reader", "deny")
    assert api.get("workareas/universe.ab", key=world.secret[world.reader]).status_code == 200
    refused(api.get("workareas/universe.a", key=world.secret[world.reader]), "access.not_found", 404)
    refused(api.get("workareas/universe.a.team", key=world.secret[world.reader]), "access.not_found", 404)


def test_grant__above_the_ceiling__can_be_denied_and_never_allowed(world: World, api: Api, admin: str) -> None:
    refused(grant(api, admin, world.reader, "universe.a", "writer"), "request.validation", 400)
    assert grant(api, admin, world.reader, "universe.a", "writer", "deny").status_code == 201


def test_grant__key_of_another_tenant_or_none__is_not_found(world: World, api: Api, admin: str) -> None:
    stranger = World.build("stranger")
    for actor_key in (stranger.reader.key_id, "key_unknown"):
        body = {"key": actor_key, "workarea": "universe.a", "capability": "reader", "effect": "allow"}
        error = refused(api.post("grants", body, key=admin), "access.not_found", 404)
        assert error["message"] == f"no key {actor_key} for this key"


def test_grant_removed__by_an_administrator_of_another_subtree__is_not_found(
    world: World, api: Api, admin: str
) -> None:
    made = grant(api, admin, world.bare_key(Role.READER), "universe.b", "reader").json()
    refused(api.delete(f"grants/{made['grant_id']}", key=world.secret[world.key("admin", on="a")]), "access.not_found")
    assert api.delete(f"grants/{made['grant_id']}", key=admin).status_code == 200
    refused(api.delete(f"grants/{made['grant_id']}", key=admin), "access.not_found", 404)


# --- explain -------------------------------------------------------------------------------------


def explain(api: Api, admin: str, actor: Any, verb: str, workarea: str) -> dict[str, Any]:
    answer = api.client.get(
        "/v1/access/explain",
        {"key": actor.key_id, "verb": verb, "workarea": workarea},
        headers={"Authorization": f"Bearer {admin}"},
    )
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    assert set(body) == {
        "key",
        "role",
        "verb",
        "workarea",
        "capability",
        "allowed",
        "code",
        "rule",
        "key_problem",
        "because",
        "blocked_by",
        "permission_epoch",
    }
    return body


def test_explain__allowed__names_every_grant_that_allows_it(world: World, api: Api, admin: str) -> None:
    grant(api, admin, world.writer, "universe.a", "writer")
    body = explain(api, admin, world.writer, "remember", "universe.a.team")
    assert (body["allowed"], body["code"], body["capability"]) == (True, None, "writer")
    assert {rule["path"] for rule in body["because"]} == {"universe", "universe.a"}
    assert set(body["because"][0]) == {"path", "capability", "effect", "source"}
    assert body["blocked_by"] == []


def test_explain__denied__names_the_denies_that_won_and_the_allows_that_lost(
    world: World, api: Api, admin: str
) -> None:
    grant(api, admin, world.writer, "universe.a", "writer", "deny")
    body = explain(api, admin, world.writer, "remember", "universe.a.team")
    assert (body["allowed"], body["code"]) == (False, "access.forbidden")
    assert [rule["path"] for rule in body["blocked_by"]] == ["universe.a"]
    assert [rule["effect"] for rule in body["because"]] == ["allow"]


def test_explain__every_key_verb_and_node__is_what_the_call_itself_is_answered(
    world: World, api: Api, admin: str
) -> None:
    grant(api, admin, world.writer, "universe.a", "writer", "deny")
    grant(api, admin, world.reader, "universe.ab", "reader", "deny")
    for actor in (world.reader, world.writer, world.operator, world.bare_key(Role.READER)):
        for node in ("universe", "universe.a", "universe.ab", "universe.b"):
            told = explain(api, admin, actor, Verb.READ, node)
            answer = api.get(f"workareas/{node}", key=world.secret[actor])
            assert told["allowed"] is (answer.status_code == 200)
            assert told["code"] == (None if told["allowed"] else answer.json()["error"]["code"])


def test_explain__revoked_or_expired_key__is_refused_for_that_reason(world: World, api: Api, admin: str) -> None:
    revoke_key(world.admin, key=world.writer.key_id)
    body = explain(api, admin, world.writer, "remember", "universe.a")
    assert body["allowed"] is False
    assert "revoked" in body["key_problem"]
    Key.objects.filter(pk=world.reader.key_id).update(expires_at=now())
    body = explain(api, admin, world.reader, "read", "universe.a")
    assert body["allowed"] is False
    assert "expired" in body["key_problem"]


def test_explain__epoch__rises_with_every_change_of_permissions(world: World, api: Api, admin: str) -> None:
    before = explain(api, admin, world.reader, "read", "universe.a")["permission_epoch"]
    made = grant(api, admin, world.reader, "universe.a", "reader", "deny").json()
    api.delete(f"grants/{made['grant_id']}", key=admin)
    assert explain(api, admin, world.reader, "read", "universe.a")["permission_epoch"] == before + 2


def test_explain__unknown_verb_or_key__is_refused_by_name(world: World, api: Api, admin: str) -> None:
    def asked(**query: str) -> Any:
        return api.client.get("/v1/access/explain", query, headers={"Authorization": f"Bearer {admin}"})

    error = refused(asked(key=world.reader.key_id, verb="promote", workarea="universe"), "request.validation", 400)
    assert error["param"] == "verb"
    error = refused(asked(key="key_x", verb="read", workarea="universe"), "access.not_found", 404)
    assert error["message"] == "no key key_x for this key"

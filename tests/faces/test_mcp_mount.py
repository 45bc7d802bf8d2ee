"""The mount as the product serves it: real routes, real middleware, real keys."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.faces.test_mcp_fuzz import fire
from tests.support.mcp_fuzz import Fuzzer
from tests.support.mcp_lab import Caller, refused, rpc
from tests.support.world import World
from workareas.actions.keys import revoke_key

pytestmark = pytest.mark.django_db
PING = json.dumps(rpc("ping")).encode()


@pytest.fixture
def writer(world: World, client: Client) -> Caller:
    return Caller(client.generic, key=world.secret[world.writer])


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_mount__with_or_without_a_trailing_slash__answers_without_a_redirect(writer: Caller, path: str):
    writer.path = path
    assert writer.send(PING).json == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert writer.send(b"", method="GET").status == 405


def test_mount__with_csrf_checks_enforced__needs_no_token(world: World):
    caller = Caller(Client(enforce_csrf_checks=True).generic, key=world.secret[world.writer])
    assert caller.send(PING).status == 200


def test_mount__for_any_request__sets_no_cookie(writer: Caller):
    assert not writer.send(PING).response.cookies


def test_mount__without_a_key__lists_nothing(client: Client, world: World):
    exchange = Caller(client.generic, key=None).legacy("tools/list", {})
    assert exchange.status == 401
    assert "oml_remember" not in exchange.response.content.decode()


def test_mount__key_unknown_malformed_or_revoked__is_one_answer_to_the_byte(world: World, client: Client):
    revoked = world.key("writer")
    revoke_key(world.admin, key=revoked.key_id)
    secrets = ["oml_k_" + "0" * 26, "nonsense", "oml_k_\u00fc", world.secret[revoked], ""]
    answers = {bytes(Caller(client.generic, key=secret).send(PING).response.content) for secret in secrets}
    assert len(answers) == 1
    assert Caller(client.generic, key=world.secret[revoked]).send(PING).status == 401


def test_mount__key_in_another_scheme_or_place__is_refused(world: World, client: Client):
    secret = world.secret[world.writer]
    for headers in ({"Authorization": f"Basic {secret}"}, {"X-Api-Key": secret}, {"Authorization": secret}):
        assert Caller(client.generic, key=None).send(PING, headers=headers).status == 401
    caller = Caller(client.generic, key=None, path=f"/mcp?key={secret}")
    assert caller.send(PING).status == 401


def test_mount__scheme_in_any_case__is_accepted(world: World, client: Client):
    headers = {"Authorization": f"bearer {world.secret[world.writer]}"}
    assert Caller(client.generic, key=None).send(PING, headers=headers).status == 200


def test_mount__foreign_host__is_a_400_in_the_protocol(writer: Caller):
    exchange = writer.send(PING, headers={"Host": "evil.example"})
    assert exchange.status == 400
    assert exchange.error["code"] == 400
    assert exchange.error["data"]["error"]["code"] == "request.validation"


OAUTH_PATHS = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp",
    "/mcp/.well-known/openid-configuration",
    "/register",
]


@pytest.mark.parametrize("path", OAUTH_PATHS)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_discovery__of_an_oauth_server__is_a_404_that_clients_can_read(client: Client, path: str, method: str):
    response = client.generic(method, path, b"{}", content_type="application/json")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/json"
    body = response.json()
    assert isinstance(body["error"], str)
    assert "API key" in body["error_description"]
    assert "WWW-Authenticate" not in response.headers


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_oml_promote__called_with_a_reviewer_s_key__is_unknown(world: World, client: Client, era: str):
    caller = Caller(client.generic, key=world.secret[world.reviewer])
    error = caller.call("oml_promote", {"artifact_id": world.submit()}, era=era).error
    assert error == {
        "code": -32602,
        "message": "Unknown tool: oml_promote. This surface carries no promote, sign, demote, delete or admin verb "
        "(R1); see tools/list for the complete catalog.",
    }


def test_tools__that_are_planned_but_not_built__are_unknown(writer: Caller):
    assert writer.call("oml_attach").error["code"] == -32602


def test_mount__a_tenant_named_in_the_arguments__is_ignored(world: World, client: Client):
    other = World.build("other")
    caller = Caller(client.generic, key=world.secret[world.writer])
    arguments = {"workarea": other.nodes["a"].pk, "tenant": other.writer.tenant_id, "claim_key": "x", "text": "x"}
    refused(caller.call("oml_remember", arguments), "access.not_found")
    work = caller.call("oml_my_work", {"tenant_id": other.writer.tenant_id}).result["structuredContent"]
    assert work == {"items": [], "next_cursor": None}


def test_mount__refused_and_unknown_calls__leave_no_text_in_the_log(writer: Caller, caplog: pytest.LogCaptureFixture):
    secret_text = "the launch code is 0000"
    writer.call("oml_remember", {"workarea": "wa_x", "claim_key": "x", "text": secret_text})
    writer.call("oml_recall", {"scope": "wa_x", "query": secret_text})
    writer.call(secret_text)
    writer.send(secret_text.encode())
    assert secret_text not in caplog.text


def test_mount__a_ping__costs_the_key_lookup_and_nothing_else(writer: Caller):
    writer.send(PING)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        writer.send(PING)
        writer.legacy("tools/list", {})
    assert len(queries) == 2


@pytest.mark.parametrize("seed", [11, 12])
def test_mount__a_thousand_random_requests_each__are_answered_in_the_protocol(writer: Caller, seed: int):
    tools = {
        "oml_remember": ("workarea", "claim_key", "text", "kind", "derives_from", "idempotency_key", "occurred_at"),
        "oml_recall": ("query", "scope", "k", "filters", "max_chars", "explain"),
        "oml_learn": ("workarea", "claim_key", "text", "derives_from"),
        "oml_my_work": ("workarea", "state", "limit", "cursor"),
        "oml_relate_propose": ("kind", "label", "from", "to", "note"),
        "oml_workarea_info": ("workarea",),
        "oml_graph": ("scope", "roots", "depth", "limit", "cursor"),
        "oml_events_tail": ("scope", "after_seq", "limit"),
    }
    seen = fire(writer, Fuzzer(seed, tools), 1000)
    assert seen[200] > 100

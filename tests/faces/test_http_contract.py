"""The contract of /v1: keys, routes, methods, the OpenAPI document, and every real answer held against it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.test import Client
from drf_spectacular.validation import validate_schema

from memory.claims.models import Artifact
from oml.core.actor import Actor
from oml.core.clock import now
from tests.support.api import Api, refused
from tests.support.journal import length
from tests.support.world import World
from workareas import quota
from workareas.actions.keys import revoke_key, set_quota
from workareas.models import Key

pytestmark = pytest.mark.django_db

GOOD = {"workarea": "universe.a", "claim_key": "quote", "text": "A fact."}


def document(client: Client) -> dict[str, Any]:
    loaded: dict[str, Any] = client.get("/v1/schema").json()
    return loaded


def keyed(client: Client) -> dict[str, Any]:
    """The declared paths that take an API key; those of signed-in humans have a table of their own."""
    paths = document(client)["paths"]
    found = {path: ops for path, ops in paths.items() if all("session" not in op["security"][0] for op in ops.values())}
    assert {path for path in paths if path not in found} == set(SIGNED_IN)
    return found


SIGNED_IN = (
    "/api/agents/{scope}/{name}/persistence",
    "/api/agents/{scope}/{name}/persistence/memories/{id}",
    "/api/agents/{scope}/{name}/persistence/pinned/{id}",
)


class TestKeys:
    def test_every_route__without_a_valid_key__is_401_with_one_body(self, world: World, client: Client) -> None:
        expired = world.key("reader")
        Key.objects.filter(pk=expired.key_id).update(expires_at=now() - timedelta(seconds=1))
        revoke_key(world.admin, key=world.writer2.key_id)
        headers: list[dict[str, str]] = [
            {},
            {"Authorization": ""},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer oml_k_" + "0" * 26},
            {"Authorization": f"Bearer {world.secret[expired]}"},
            {"Authorization": f"Bearer {world.secret[world.writer2]}"},
            {"Authorization": f"Basic {world.secret[world.reader]}"},
            {"Authorization": world.secret[world.reader]},
        ]
        before = length(world.admin.tenant_id)
        for path, operations in keyed(client).items():
            for method in operations:
                bodies = set()
                for header in headers:
                    url = path.replace("{", "").replace("}", "")
                    answer = client.generic(method.upper(), url, b"{}", content_type="application/json", headers=header)
                    assert answer.status_code == 401, (method, path)
                    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="oml"')
                    bodies.add(answer.content)
                assert bodies == {
                    b'{"error":{"code":"auth.invalid_key","rule":"every call presents a valid API key as a bearer '
                    b'token (D6)","message":"missing or invalid API key","retryable":false}}'
                }, (method, path)
        assert length(world.admin.tenant_id) == before

    def test_key__before_the_body__an_unreadable_body_without_a_key_is_401(self, world: World, api: Api) -> None:
        assert api.post("memories", "{", key=None).status_code == 401
        assert api.post("memories", "x" * 3_000_000, key="wrong").status_code == 401

    def test_key__in_the_query_or_the_body__is_no_key(self, world: World, api: Api) -> None:
        secret = world.secret[world.writer]
        assert api.client.get(f"/v1/my-work?key={secret}&access_token={secret}").status_code == 401
        assert api.post("memories", {**GOOD, "key": secret}, key=None).status_code == 401


class TestRoutes:
    @pytest.mark.parametrize(
        "path",
        [
            "/v1",
            "/v1/",
            "/v1/nonsense",
            "/v1/memories/",
            "/v1/memories/art_1/promote",
            "/v1/memories/art_1/sign",
            "/v1/promote",
            "/v1/review",
            "/v1/review/queue/",
            "/v1/Memories",
            "/v1/memories/",
            "/api/nope",
            "/api/v2/nope",
            "/v2/memories",
            "/v1/workareas/x/y/z",
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
    def test_unknown_path__is_a_typed_404_with_and_without_a_key(self, world: World, method: str, path: str) -> None:
        client = Client(enforce_csrf_checks=True)
        for headers in ({}, {"Authorization": f"Bearer {world.secret[world.reader]}"}):
            answer = client.generic(method, path, headers=headers)
            assert answer.status_code == 404
            if path.startswith(("/v1", "/api")):
                refused(answer, "request.route", 404)

    def test_every_path__other_methods__are_405_and_say_which_are_allowed(self, world: World, client: Client) -> None:
        headers = {"Authorization": f"Bearer {world.secret[world.admin]}"}
        known = {"get", "post", "put", "patch", "delete"}
        for path, operations in keyed(client).items():
            url = path.replace("{", "").replace("}", "")
            declared = {method for method in operations if method in known}
            for method in [*sorted(known - declared), "options", "trace", "propfind"]:
                answer = client.generic(method.upper(), url, b"{}", content_type="application/json", headers=headers)
                refused(answer, "request.method", 405)
                allowed = {name.strip().lower() for name in answer.headers["Allow"].split(",")}
                assert allowed - {"head"} == declared, (method, path)

    def test_head__on_a_readable_path__is_the_get_without_its_body(self, world: World, client: Client) -> None:
        headers = {"Authorization": f"Bearer {world.secret[world.reader]}"}
        answer = client.head("/v1/workareas/universe.a", headers=headers)
        assert (answer.status_code, answer.content) == (200, b"")

    @pytest.mark.parametrize("accept", ["text/html", "application/xml", "", "*/*", "nonsense", "text/event-stream"])
    def test_accept__whatever_it_says__the_answer_is_json(self, world: World, client: Client, accept: str) -> None:
        headers = {"Authorization": f"Bearer {world.secret[world.reader]}", "Accept": accept}
        answer = client.get("/v1/my-work", headers=headers)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
        bad = client.get("/v1/my-work?limit=x", headers=headers)
        refused(bad, "request.validation", 400)

    def test_answers_and_refusals__are_never_stored_by_caches(self, world: World, api: Api) -> None:
        secret = world.secret[world.reader]
        for answer in (
            api.get("my-work", key=secret),
            api.get("memories/art_x", key=secret),
            api.get("my-work", key=None),
        ):
            assert answer.headers["Cache-Control"] == "no-store"

    def test_no_answer__sets_a_cookie(self, world: World, api: Api) -> None:
        answer = api.get("my-work", key=world.secret[world.reader])
        assert not answer.cookies and "Set-Cookie" not in answer.headers

    def test_session_of_a_signed_in_admin__is_no_key(self, world: World, client: Client) -> None:
        from oml.core.actor import Role
        from workareas.actions.keys import enrol_human

        key = enrol_human(
            world.admin, username="ada", name="Ada", password="correct horse battery", role=Role.ADMIN, staff=True
        )
        client.force_login(key.principal, backend="django.contrib.auth.backends.ModelBackend")
        assert client.get("/v1/my-work").status_code == 401


class TestRetryAfter:
    def test_quota__exhausted__is_429_with_the_wait_in_header_and_object(self, world: World, api: Api) -> None:
        set_quota(world.admin, writes_per_minute=1, reads_per_minute=1)
        quota.forget()
        secret = world.secret[world.writer]
        assert api.post("memories", GOOD, key=secret).status_code == 201
        for answer in (
            api.post("memories", {**GOOD, "claim_key": "second"}, key=secret),
            [api.get("my-work", key=secret), api.get("my-work", key=secret)][1],
        ):
            error = refused(answer, "limit.quota", 429)
            assert error["retryable"] is True
            assert answer.headers["Retry-After"] == str(error["retry_after_seconds"])
            assert int(answer.headers["Retry-After"]) >= 1
        assert Artifact.objects.count() == 1

    def test_refusal_that_no_retry_helps__has_no_retry_after(self, world: World, api: Api) -> None:
        answer = api.get("memories/art_x", key=world.secret[world.reader])
        assert "Retry-After" not in answer.headers
        assert "retry_after_seconds" not in refused(answer, "access.not_found", 404)


class TestOpenApi:
    def test_document__is_valid_openapi_3_1(self, client: Client) -> None:
        loaded = document(client)
        assert loaded["openapi"].startswith("3.1")
        validate_schema(loaded)

    def test_document__every_operation__has_a_name_a_summary_and_the_typed_error(self, client: Client) -> None:
        names = []
        for path, operations in document(client)["paths"].items():
            for method, operation in operations.items():
                names.append(operation["operationId"])
                assert operation.get("summary"), (method, path)
                assert {"4XX", "5XX"} <= set(operation["responses"]), (method, path)
        assert len(names) == len(set(names))

    def test_document__names_no_way_to_promote_or_sign(self, client: Client) -> None:
        paths = set(document(client)["paths"])
        assert not [path for path in paths if "promote" in path or "sign" in path.split("/")]


class Checked:
    """A caller that holds every answer against what the document declares for its path, method and status."""

    def __init__(self, client: Client, world: World) -> None:
        self.client, self.world = client, world
        self.document = document(client)

    def __call__(
        self, method: str, path: str, actor: Actor, body: Any = None, *, url: str | None = None, status: int = 200
    ) -> dict[str, Any]:
        answer = self.client.generic(
            method,
            url or path,
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.world.secret[actor]}"},
        )
        assert answer.status_code == status, answer.content
        declared = self.document["paths"][path][method.lower()]["responses"]
        response = declared.get(str(status)) or declared[f"{status // 100}XX"]
        schema = response["content"]["application/json"]["schema"]
        validator = jsonschema.Draft202012Validator({**schema, "components": self.document["components"]})
        loaded: dict[str, Any] = answer.json()
        errors = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(loaded)]
        assert not errors, errors
        undeclared = set(loaded) - declared_names(schema, self.document)
        assert not undeclared, undeclared
        return loaded


def declared_names(schema: dict[str, Any], whole: dict[str, Any]) -> set[str]:
    if "$ref" in schema:
        return declared_names(whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], whole)
    names = set(schema.get("properties", {}))
    for part in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(part, []):
            names |= declared_names(inner, whole)
    return names


@pytest.fixture
def checked(client: Client, world: World) -> Checked:
    return Checked(client, world)


class TestAnswers:
    """The whole of one claim's life over HTTP; each answer is what OpenAPI says and what the seed shows."""

    def test_submit_scan_serve_ratify_recall_read_tail__are_as_declared(self, checked: Checked, world: World) -> None:
        made = checked("POST", "/v1/memories", world.writer, {**GOOD, "idempotency_key": "run-1"}, status=201)
        assert set(made) == {
            "artifact_id",
            "claim_key",
            "version",
            "state",
            "workarea",
            "attachments_bound",
            "idempotent_replay",
        }
        again = checked("POST", "/v1/memories", world.writer, {**GOOD, "idempotency_key": "run-1"}, status=200)
        assert again == {**made, "idempotent_replay": True}
        pending = checked("POST", "/v1/review/serves", world.reviewer, {"artifact_id": made["artifact_id"]}, status=409)
        assert pending["error"]["code"] == "review.scan_pending"
        world.scan()
        (queued,) = checked("GET", "/v1/review/queue", world.reviewer)["items"]
        assert queued["artifact_id"] == made["artifact_id"] and "text" not in queued
        served = checked("POST", "/v1/review/serves", world.reviewer, {"artifact_id": made["artifact_id"]}, status=201)
        assert served["text"] == GOOD["text"]
        verdict = {"serve_id": served["serve_id"], "content_digest": served["content_digest"], "verdict": "ratify"}
        judged = checked("POST", "/v1/review/verdicts", world.reviewer, verdict)
        assert (judged["state"], judged["artifact_id"]) == ("promoted", made["artifact_id"])
        consumed = checked("POST", "/v1/review/verdicts", world.reviewer, verdict, status=409)
        assert consumed["error"]["code"] == "review.serve_consumed"
        learned = checked(
            "POST",
            "/v1/memories",
            world.writer,
            {
                "verb": "learn",
                "workarea": "universe.a",
                "claim_key": "anchor",
                "text": "Therefore.",
                "derives_from": [made["artifact_id"]],
            },
            status=201,
        )
        assert set(learned) == {
            "artifact_id",
            "claim_key",
            "version",
            "kind",
            "state",
            "lineage_declared",
            "idempotent_replay",
        }
        assert (learned["kind"], learned["lineage_declared"]) == ("derived_fact", 1)
        found = checked("POST", "/v1/recall", world.reader, {"query": "fact", "scope": "universe.a"})
        assert set(found) == {"steering", "hits"}
        assert set(found["hits"][0]) == {
            "artifact_id",
            "claim_key",
            "version",
            "state",
            "score",
            "text",
            "workarea_path",
            "promoted_at",
            "attachments",
        }
        assert 0 <= found["hits"][0]["score"] <= 1
        checked("GET", "/v1/memories/{artifact}", world.reader, url=f"/v1/memories/{made['artifact_id']}")
        checked("GET", "/v1/my-work", world.writer)
        checked("GET", "/v1/workareas/{workarea}", world.reader, url="/v1/workareas/universe.a")
        tail = checked("GET", "/v1/events", world.reader, url="/v1/events?scope=universe.a&after_seq=0")
        assert set(tail) == {"events", "head_seq", "idle"}
        checked("POST", "/v1/graph", world.reader, {"scope": "universe.a"})

    def test_steering__comes_first_and_carries_no_score(self, checked: Checked, world: World) -> None:
        steering = world.promoted(on="a", kind="steering", text="Prefer quotes with an explicit validity date.")
        found = checked("POST", "/v1/recall", world.reader, {"query": "copper", "scope": "universe.a"})
        assert found["steering"] == [
            {
                "artifact_id": steering,
                "kind": "steering",
                "text": "Prefer quotes with an explicit validity date.",
                "workarea_path": "universe.a",
            }
        ]
        assert steering not in [hit["artifact_id"] for hit in found["hits"]]

    def test_explain_max_chars_and_filters__answer_as_declared(self, checked: Checked, world: World) -> None:
        for number in range(3):
            world.promoted(text=f"Fact number {number} about the copper price. " * 20)
        body = {
            "query": "copper price",
            "scope": "universe",
            "explain": True,
            "max_chars": 900,
            "filters": {"kind": "memory", "author_key": world.writer.key_id},
        }
        found = checked("POST", "/v1/recall", world.reader, body)
        assert found["hits"] and set(found["hits"][0]["explain"]) == {"lexical", "vector", "neighbours"}
        assert "truncated_hits" in found or any("text_truncated" in hit for hit in found["hits"])

    def test_refusals__are_the_declared_error(self, checked: Checked, world: World) -> None:
        cases: list[tuple[str, str, Actor, Any, int]] = [
            ("POST", "/v1/memories", world.reader, GOOD, 403),
            ("POST", "/v1/memories", world.writer, {**GOOD, "workarea": "universe"}, 409),
            ("POST", "/v1/memories", world.writer, {**GOOD, "verb": "learn"}, 422),
            ("POST", "/v1/memories", world.writer, {**GOOD, "text": "x" * 32_769}, 413),
            ("POST", "/v1/recall", world.reader, {"query": "x", "scope": "wa_x"}, 404),
            ("POST", "/v1/recall", world.reader, {"query": "x", "scope": "universe", "k": 51}, 400),
        ]
        for method, path, actor, body, status in cases:
            error = checked(method, path, actor, body, status=status)["error"]
            assert set(error) <= {"code", "rule", "message", "retryable", "retry_after_seconds", "param"}

    def test_administration__answers_as_declared(self, checked: Checked, world: World) -> None:
        admin = world.admin
        node = checked("POST", "/v1/workareas", admin, {"parent": "universe.a", "leaf": "q1"}, status=201)["id"]
        at = f"/v1/workareas/{node}"
        checked(
            "POST",
            "/v1/workareas/{workarea}/status",
            admin,
            {"status": "committed", "reason": "ready"},
            url=f"{at}/status",
        )
        checked("POST", "/v1/workareas/{workarea}/policy", admin, {"min_verdicts": 2}, url=f"{at}/policy")
        checked("POST", "/v1/workareas/{workarea}/crew", admin, {"name": "crew"}, url=f"{at}/crew")
        move = {"parent": "universe.b", "reason": "belongs there"}
        for dry_run in (True, False):
            checked(
                "POST",
                "/v1/workareas/{workarea}/reassign",
                admin,
                {**move, "dry_run": dry_run},
                url=f"{at}/reassign",
            )
        made = checked(
            "POST",
            "/v1/keys",
            admin,
            {
                "principal": {"name": "crew member", "kind": "agent"},
                "role": "writer",
                "grants": [{"workarea": "universe.b", "capability": "reader", "effect": "allow"}],
            },
            status=201,
        )
        key = made["key_id"]
        checked("GET", "/v1/keys", admin)
        checked("POST", "/v1/keys/{key}/rotate", admin, {"overlap_s": 60}, url=f"/v1/keys/{key}/rotate")
        grant = checked(
            "POST",
            "/v1/grants",
            admin,
            {"key": key, "workarea": "universe.b", "capability": "writer", "effect": "allow", "reason": "writes"},
            status=201,
        )["grant_id"]
        checked(
            "GET",
            "/v1/access/explain",
            admin,
            url=f"/v1/access/explain?key={key}&verb=remember&workarea=universe.b",
        )
        checked("DELETE", "/v1/grants/{grant}", admin, url=f"/v1/grants/{grant}")
        checked("POST", "/v1/keys/{key}/revoke", admin, {"reason": "left"}, url=f"/v1/keys/{key}/revoke")
        ban = checked("POST", "/v1/bans", admin, {"kind": "key", "value": key, "reason": "left"}, status=201)["ban_id"]
        checked("GET", "/v1/bans", admin)
        checked("DELETE", "/v1/bans/{ban}", admin, url=f"/v1/bans/{ban}")
        checked("GET", "/v1/deployment-keys", world.reader)


def test_paths__every_declared_one__is_called_by_this_file_or_named_with_a_reason(client: Client) -> None:
    """A new route must get its answer checked here, or a reason why elsewhere."""
    elsewhere = {
        "/v1/memories/{artifact}/versions": "tests/actions/test_versions.py",
        "/v1/memories/{artifact}/withdraw": "tests/actions/test_versions.py",
        "/v1/memories/{artifact}/demote": "tests/faces/test_held_is_invisible.py",
        "/v1/memories/{artifact}/erase": "tests/faces/test_held_is_invisible.py",
        "/v1/edges": "tests/faces/test_parity.py",
        "/v1/review/edges": "tests of edges",
        "/v1/simulations": "the simulations issue",
        "/v1/simulations/{simulation}/audience": "the simulations issue",
        "/v1/simulations/{simulation}/close": "the simulations issue",
        "/v1/journal/checkpoint": "tests/faces/test_journal_api.py",
        "/v1/journal/proof": "tests/faces/test_journal_api.py",
        "/v1/evidence": "tests/actions/test_evidence_mutation.py",
        "/v1/review/serves/{serve_id}/parts/{part}": "tests/actions/test_claim_evidence.py",
        "/v1/agents": "tests/faces/test_run_api.py",
        "/v1/agents/{scope}/{name}": "tests/faces/test_run_api.py",
        "/v1/runs": "tests/faces/test_run_api.py",
        "/v1/runs/{run}": "tests/faces/test_run_api.py",
        "/v1/runs/{run}/context": "tests/faces/test_run_api.py",
        "/v1/runs/{run}/finish": "tests/faces/test_run_api.py",
        "/v1/lanes": "tests/actions/test_records.py",
        "/v1/principals/{principal}/remove": "tests/faces/test_removal_api.py",
        "/v1/workareas/{workarea}/space-roles/{principal}": "tests/faces/test_space_roles.py",
        **dict.fromkeys(SIGNED_IN, "tests/faces/test_persistence.py"),
        "/v1/records": "tests/actions/test_records.py",
        "/v1/records/intake": "tests/actions/test_record_intake.py",
        "/api/v2/ingest/batch": "tests/actions/test_records.py",
    }
    # Every other route of source records is held against its tool in the parity test of its mount.
    twins = ("/v1/records/{sr_id}", "/v1/records/gather", "/v1/records/timeline", "/v1/record-groups")
    source = Path(__file__).read_text()
    missing = [path for path in document(client)["paths"] if f'"{path}"' not in source and path not in elsewhere]
    missing = [path for path in missing if not path.startswith(twins)]
    assert not missing

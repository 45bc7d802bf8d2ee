"""``POST /v1/evidence``: a file on success, typed JSON on refusal, whatever the client said it accepts."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from oml.journal import note, outside
from tests.support import verifier
from tests.support.api import Api, refused
from tests.support.journal import journalled
from tests.support.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _outside(tmp_path: Path, settings: Any) -> None:
    settings.OML_CHECKPOINT_DIR = tmp_path / "kept"


def post(api: Api, body: Any, *, key: str | None, accept: str = "application/zip") -> Any:
    headers = {"Accept": accept} | ({"Authorization": f"Bearer {key}"} if key else {})
    return api.client.post("/v1/evidence", json.dumps(body), content_type="application/json", headers=headers)


def test_post_evidence__by_an_admin__is_a_zip_to_keep_and_verifies(world: World, api: Api, tmp_path: Path) -> None:
    world.promoted()
    response = post(api, {"scope": "universe", "from_seq": 1}, key=world.secret[world.admin])
    body = b"".join(response.streaming_content)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"].startswith(f'attachment; filename="oml-evidence-{world.admin.tenant_id}-1-')
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert int(response["Content-Length"]) == len(body)
    digest = hashlib.sha256(body)
    assert response["Repr-Digest"] == f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"
    assert journalled("evidence.exported", once=True)[0]["payload"]["bundle_sha256"] == digest.hexdigest()
    bundle, keys = tmp_path / "bundle.zip", tmp_path / "keys.json"
    bundle.write_bytes(body)
    keys.write_bytes(api.get("deployment-keys", key=world.secret[world.admin]).content)
    code, printed = verifier.run("bundle", bundle, "--keys", keys)
    assert (code, printed.splitlines()[-1]) == (0, "VERIFIED")


@pytest.mark.parametrize("accept", ["application/zip", "*/*", "application/json", "text/html"])
def test_post_evidence__refusals__are_typed_json_whatever_is_accepted(world: World, api: Api, accept: str) -> None:
    admin = world.secret[world.admin]
    refused(post(api, {}, key=None, accept=accept), "auth.invalid_key", 401)
    refused(post(api, {}, key=world.secret[world.writer], accept=accept), "access.verb_ceiling", 403)
    refused(post(api, {"scope": "universe.nowhere"}, key=admin, accept=accept), "access.not_found", 404)
    error = refused(post(api, {"from_seq": 0}, key=admin, accept=accept), "request.validation", 400)
    assert error["param"] == "from_seq"
    error = refused(post(api, {"until": 3}, key=admin, accept=accept), "request.validation", 400)
    assert error["param"] == "until"


def test_post_evidence__journal_that_contradicts_its_checkpoint__is_unavailable_and_says_no_more(
    world: World, api: Api
) -> None:
    tenant = world.admin.tenant_id
    outside.keep(tenant, note.sign(f"oml/{tenant}", 10_000, bytes(32)).text)
    response = post(api, {}, key=world.secret[world.admin])
    error = refused(response, "internal.unavailable", 503)
    assert error["retryable"] is True and "10000" not in response.content.decode()


def test_post_evidence__other_methods_and_bodies__are_refused(world: World, api: Api) -> None:
    admin = world.secret[world.admin]
    refused(api.get("evidence", key=admin), "request.method", 405)
    refused(api.post("evidence", "scope=universe", key=admin, content_type="text/plain"), "request.media_type", 415)
    refused(api.post("evidence", "[]", key=admin), "request.validation", 400)


def test_post_evidence__tenant_field__is_ignored_as_everywhere(world: World, api: Api) -> None:
    other = World.build("besra")
    response = post(api, {"tenant": other.admin.tenant_id}, key=world.secret[world.admin])
    assert world.admin.tenant_id in response["Content-Disposition"]
    response.close()


def test_evidence__in_openapi__is_a_binary_answer(api: Api) -> None:
    schema = api.client.get("/v1/schema").json()
    operation = schema["paths"]["/v1/evidence"]["post"]
    assert set(operation["responses"]["200"]["content"]) == {"application/zip"}
    assert operation["operationId"] == "evidence_export"

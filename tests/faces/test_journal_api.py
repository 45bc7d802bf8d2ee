"""``/v1/journal``: what a reader gets suffices to check the journal without trusting the server's own word."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from oml.core.actor import Role
from oml.crypto.notes import Verifier, open_note
from oml.journal import merkle
from oml.journal.checkpoint import make_checkpoint
from oml.journal.hashing import leaf_hash
from oml.journal.models import JournalEntry
from tests.support.api import Api, refused
from tests.support.world import World
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _outside(tmp_path: Path, settings: Any) -> None:
    settings.OML_CHECKPOINT_DIR = tmp_path


def decoded(steps: list[str]) -> list[bytes]:
    return [base64.b64decode(step) for step in steps]


def test_get_checkpoint__by_a_reader__is_a_signed_note_under_a_published_key(world: World, api: Api) -> None:
    made = make_checkpoint(world.admin.tenant_id)
    assert made is not None
    key = world.secret[world.reader]
    body = api.get("journal/checkpoint", key=key).json()
    assert (body["note"], body["size"]) == (made.note, made.size)
    published = [
        row["public_key"]
        for row in api.get("deployment-keys", key=key).json()["items"]
        if row["purpose"] == "checkpoint"
    ]
    verifiers = [Verifier(body["origin"], base64.b64decode(row)) for row in published]
    assert open_note(body["note"], verifiers) == f"{body['origin']}\n{body['size']}\n{body['root']}\n"
    assert body["verifier_keys"] == [verifier.encoded for verifier in verifiers]


def test_get_checkpoint__before_the_first__is_not_found(world: World, api: Api) -> None:
    refused(api.get("journal/checkpoint", key=world.secret[world.reader]), "access.not_found", 404)


def test_get_checkpoint__another_tenants__is_never_answered(world: World, api: Api) -> None:
    other = World.build("besra")
    make_checkpoint(world.admin.tenant_id)
    make_checkpoint(other.admin.tenant_id)
    body = api.get("journal/checkpoint", key=other.secret[other.reader]).json()
    assert body["origin"] == f"oml/{other.admin.tenant_id}"


def test_get_proof__of_an_entry__verifies_against_the_checkpoint(world: World, api: Api) -> None:
    tenant = world.admin.tenant_id
    made = make_checkpoint(tenant)
    assert made is not None
    key = world.secret[world.writer]
    for seq in (1, made.size // 2, made.size):
        body = api.get("journal/proof", key=key, seq=seq).json()
        row = JournalEntry.objects.get(tenant_id=tenant, seq=seq)
        leaf = leaf_hash(row.canonical.encode())
        assert base64.b64decode(body["leaf_hash"]) == leaf
        assert (body["kind"], body["seq"], body["size"]) == ("inclusion", seq, made.size)
        assert merkle.verify_inclusion(leaf, seq - 1, made.size, decoded(body["proof"]), bytes(made.root))


def test_get_proof__from_a_kept_size__verifies_against_both_checkpoints(world: World, api: Api) -> None:
    tenant = world.admin.tenant_id
    kept = make_checkpoint(tenant)
    world.submit()
    now = make_checkpoint(tenant)
    assert kept is not None and now is not None
    body = api.get("journal/proof", key=world.secret[world.reader], **{"from": kept.size}).json()
    assert (body["kind"], body["from"], body["to"]) == ("consistency", kept.size, now.size)
    assert decoded([body["from_root"], body["to_root"]]) == [bytes(kept.root), bytes(now.root)]
    assert merkle.verify_consistency(kept.size, now.size, decoded(body["proof"]), bytes(kept.root), bytes(now.root))


@pytest.mark.parametrize(
    "query, param",
    [
        ({}, None),
        ({"seq": 1, "from": 1}, None),
        ({"size": 3}, None),
        ({"to": 3}, None),
        ({"seq": 0}, "seq"),
        ({"seq": 10_000}, "seq"),
        ({"seq": 1, "size": 10_000}, "size"),
        ({"from": 0}, "from"),
        ({"from": 5, "to": 4}, "from"),
        ({"from": 1, "to": 10_000}, "to"),
        ({"seq": "one"}, "seq"),
        ({"seq": 1, "leaf": "x"}, "leaf"),
    ],
)
def test_get_proof__what_cannot_be_proved__is_a_validation_error(
    world: World, api: Api, query: dict[str, Any], param: str | None
) -> None:
    make_checkpoint(world.admin.tenant_id)
    error = refused(api.get("journal/proof", key=world.secret[world.reader], **query), "request.validation", 400)
    assert error.get("param") == param


def test_get_proof__beyond_what_was_signed__is_refused(world: World, api: Api) -> None:
    made = make_checkpoint(world.admin.tenant_id)
    assert made is not None
    key = world.secret[world.reader]
    refused(api.get("journal/proof", key=key, seq=made.size + 1, size=made.size + 1), "request.validation", 400)


@pytest.mark.parametrize("path", ["journal/checkpoint", "journal/proof?seq=1", "deployment-keys"])
def test_journal__by_whoever_reads_anywhere_and_by_operators__is_answered(world: World, api: Api, path: str) -> None:
    make_checkpoint(world.admin.tenant_id)
    reader = world.bare_key(Role.READER)
    refused(api.get(path, key=None), "auth.invalid_key", 401)
    error = refused(api.get(path, key=world.secret[reader]), "access.forbidden", 403)
    assert error["message"] == "this key holds no reader access on any workarea"
    assert api.get(path, key=world.secret[world.operator]).status_code == 200
    world.grant(reader, Capability.READER, on="a.team")
    assert api.get(path, key=world.secret[reader]).status_code == 200
    world.deny(reader, Capability.READER, on="a")
    refused(api.get(path, key=world.secret[reader]), "access.forbidden", 403)


def test_journal__in_openapi__is_documented_with_its_fields(api: Api) -> None:
    schema = api.client.get("/v1/schema").json()
    names = {row["name"] for row in schema["paths"]["/v1/journal/proof"]["get"]["parameters"]}
    assert names == {"seq", "size", "from", "to"}
    answer = schema["paths"]["/v1/journal/checkpoint"]["get"]["responses"]["200"]["content"]["application/json"]
    assert "note" in answer["schema"]["properties"]

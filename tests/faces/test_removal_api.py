"""Removing an actor over ``/v1`` and from the command line."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from memory.runs.models import AgentMemory
from tests.support.api import Api, refused
from tests.support.runs import begin, register
from tests.support.world import World
from workareas.models import Principal

pytestmark = pytest.mark.django_db


def test_route__removes_and_says_which_keys_went(world: World, api: Api) -> None:
    register(world)
    begin(world).note("private")
    path = f"principals/{world.writer.principal_id}/remove"
    answer = api.post(path, {"reason": "left"}, key=world.secret[world.admin])
    assert answer.json() == {
        "principal": world.writer.principal_id,
        "removed": True,
        "keys_revoked": [world.writer.key_id],
    }
    assert not AgentMemory.objects.exists()
    assert api.get("my-work", key=world.secret[world.writer]).status_code == 401
    again = api.post(path, {"reason": "left"}, key=world.secret[world.admin])
    assert (again.status_code, again.json()["keys_revoked"]) == (200, [])


def test_route__without_a_reason_or_by_somebody_else__is_refused(world: World, api: Api) -> None:
    path = f"principals/{world.writer.principal_id}/remove"
    assert refused(api.post(path, {}, key=world.secret[world.admin]), "request.validation", 400)["param"] == "reason"
    refused(api.post(path, {"reason": "no"}, key=world.secret[world.reader]), "access.verb_ceiling", 403)
    unknown = api.post("principals/pri_x/remove", {"reason": "no"}, key=world.secret[world.admin])
    refused(unknown, "access.not_found", 404)
    assert Principal.objects.get(pk=world.writer.principal_id).is_active


def test_command__removes_and_says_so(world: World) -> None:
    out = StringIO()
    call_command("remove_principal", world.writer.principal_id, "--reason", "left", stdout=out)
    assert f"Keys revoked: {world.writer.key_id}." in out.getvalue()
    assert not Principal.objects.get(pk=world.writer.principal_id).is_active
    with pytest.raises(CommandError, match=r"access\.not_found"):
        call_command("remove_principal", "pri_x", "--reason", "no", stdout=out)

"""``manage.py quota`` and ``issue_key`` as a newcomer runs them."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.support.journal import journalled
from tests.support.world import World

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_quota__set_for_writes__leaves_reads_and_is_journalled(world: World) -> None:
    assert run("quota") == "writes per minute: no limit\nreads per minute:  no limit\n"
    assert run("quota", "--writes", "600") == "writes per minute: 600\nreads per minute:  no limit\n"
    assert journalled("quota.set", once=True)[0]["payload"]["writes_per_minute"] == 600
    assert "no limit" in run("quota", "--writes", "none")


def test_quota__of_nonsense__says_what_it_takes(world: World) -> None:
    with pytest.raises(CommandError, match="whole number, or none"):
        run("quota", "--writes", "many")


def test_issue_key__above_the_roles_ceiling__names_code_and_rule(world: World) -> None:
    with pytest.raises(CommandError, match=r"request\.validation"):
        run("issue_key", "--name", "X", "--role", "reader", "--grant", "universe.a:writer")


def test_issue_key__with_two_tenants_and_none_named__asks_which(world: World) -> None:
    World.build("other")
    with pytest.raises(CommandError, match="--tenant"):
        run("issue_key", "--name", "X", "--role", "reader")
    assert "oml_k_" in run("issue_key", "--name", "X", "--role", "reader", "--tenant", "acme")

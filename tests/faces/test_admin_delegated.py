"""Somebody who administers a part of the tree sees that part in the console, and nothing of the rest (ui: Admin, 7)."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory import reads
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from memory.runs.rules import Scope
from oml.jobs import heartbeat
from review.actions.edge_serve import serve_edge
from tests.support.people import Human, human, said
from tests.support.runs import begin, register
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.nodes import set_policy
from workareas.models import Grant, Key
from workareas.verbs import Capability

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
LISTS = [f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist" for model in MODELS]
#: What a part of the tenant has rows of; of everything else a delegated administrator sees none.
IN_A_PART = {
    "agentmemory",
    "artifact",
    "edge",
    "edgeserve",
    "grant",
    "journalentry",
    "key",
    "lineage",
    "principal",
    "readlog",
    "reviewpolicy",
    "run",
    "scanreport",
    "serve",
    "servingrow",
    "verdict",
    "workarea",
}


@pytest.fixture
def part(world: World) -> Human:
    """An administrator of universe.b alone, on the staff."""
    return human(world, "admin", name="part", on="b", staff=True)


_numbers = itertools.count(1)


def _life(world: World, where: str) -> None:
    """Something of everything at one place."""
    world.key("reader", on=where)
    source = world.promoted(on=where, claim_key=f"key-of-{where}-{next(_numbers)}", text=f"Text of {where}.")
    world.learn(sources=[source], on=where, claim_key=f"derived-of-{where}-{next(_numbers)}")
    other = world.promoted(on=where, claim_key=f"other-of-{where}-{next(_numbers)}")
    edge = propose_edge(world.key("proposer"), command=ProposeCommand(EdgeKind.CLAIM, "supports", source, other))
    serve_edge(world.reviewer, edge=edge["edge_id"])
    set_policy(world.admin, workarea=world.nodes[where].pk, settings={"serve_ttl_s": 600})
    reads.workarea(world.reader, reference=world.nodes[where].path)
    begin(world, on=where).pin("tone", "Kind", scope=Scope.ACTOR)


@pytest.fixture
def lives(world: World) -> World:
    register(world)
    for where in ("a", "b"):
        _life(world, where)
    add_ban(world.admin, kind="key", value=world.writer2.key_id, reason=None)
    heartbeat.beat()
    return world


def _rows(person: Human, route: str) -> Any:
    page = person.get(reverse(route))
    assert page.status_code == 200, route
    return page.context["cl"].queryset


def test_delegated__every_list_and_page__holds_ones_own_part_alone(lives: World, part: Human) -> None:
    seen = set()
    for route in LISTS:
        rows = list(_rows(part, route))
        if rows:
            seen.add(route.split("_")[1])
        change = route.replace("_changelist", "_change")
        pages = [part.get(reverse(change, args=[row.pk])) for row in rows[:40]]
        for page in (part.get(reverse(route)), *pages):
            assert page.status_code == 200
            body = page.content.decode()
            assert not re.search(r"universe\.a\b|-of-a-", body), page.request["PATH_INFO"]
            assert lives.nodes["a"].pk not in body, page.request["PATH_INFO"]
    assert seen == IN_A_PART | {"workerheartbeat"}


def test_delegated__a_row_of_elsewhere__has_no_page_and_no_action(lives: World, part: Human) -> None:
    grant = Grant.objects.filter(workarea=lives.nodes["a"]).earliest("pk")
    for path in (
        f"workareas/workarea/{lives.nodes['a'].pk}/",
        f"workareas/grant/{grant.pk}/",
        f"workareas/key/{lives.reader.key_id}/",
        f"workareas/tenant/{lives.admin.tenant_id}/",
    ):
        assert part.get(f"/admin/{path}change/").status_code == 302  # Django's way to say that there is none
    for path in (
        f"workareas/workarea/{lives.nodes['a'].pk}/reassign/",
        f"workareas/grant/{grant.pk}/take-back/",
        f"workareas/key/{lives.reader.key_id}/revoke/",
        f"workareas/tenant/{lives.admin.tenant_id}/quota/",
    ):
        assert part.get(f"/admin/{path}").status_code == 404
        assert part.client.post(f"/admin/{path}").status_code == 404
    assert Key.objects.get(pk=lives.reader.key_id).revoked_at is None


def test_delegated__the_start_page__counts_ones_own_part(lives: World, part: Human) -> None:
    lives.submit(on="a")
    lives.submit(on="b")
    words = said(part.get("/admin/"))
    # The learned claim of b and the one just now; those of a are not counted.
    assert "Held 2" in words
    assert "newest entry" not in words  # the journal's head is the whole tenant's
    ada = human(lives, "admin", name="ada", staff=True)
    assert "Held 4" in said(ada.get("/admin/")) and "newest entry" in said(ada.get("/admin/"))


def test_delegated__suggestions__name_no_key_of_elsewhere(lives: World, part: Human) -> None:
    page = part.get(f"/admin/workareas/workarea/{lives.nodes['b'].pk}/grant/").content.decode()
    assert lives.reader.key_id not in page  # granted on the root
    assert str(part.actor.key_id) in page
    issue = part.get("/admin/workareas/key/issue/").content.decode()
    assert lives.writer.principal_id not in issue and 'value="universe.b"' in issue


def test_delegated__grants_in_ones_own_part__are_given_and_taken_back(lives: World, part: Human) -> None:
    stranger = lives.bare_key(lives.reader.role)
    page = f"/admin/workareas/workarea/{lives.nodes['b'].pk}/grant/"
    fields = {"key": stranger.key_id, "capability": "reader", "effect": "allow"}
    look = part.client.post(page, fields)
    seen = re.search(r'name="seen" value="(\w+)"', look.content.decode())
    assert seen
    assert part.client.post(page, {**fields, "seen": seen[1]}).status_code == 302
    grant = Grant.objects.get(key_id=stranger.key_id)
    assert "Take this grant back" in said(part.get(f"/admin/workareas/grant/{grant.pk}/change/"))


def test_root__with_a_deny_below__sees_what_is_left(lives: World) -> None:
    most = human(lives, "admin", name="most", staff=True)
    lives.deny(most.actor, Capability.ADMIN, on="a")
    paths = {row.path for row in _rows(most, "admin:workareas_workarea_changelist")}
    assert paths == {"universe", "universe.ab", "universe.b"}
    keys = [row.claim_key for row in _rows(most, "admin:memory_artifact_changelist")]
    assert keys and not [key for key in keys if "-of-a-" in key]


def test_delegated__more_rows__ask_the_database_as_often(lives: World, part: Human) -> None:
    def asked() -> dict[str, int]:
        counts = {}
        for route in LISTS:
            with CaptureQueriesContext(connection) as queries:
                assert part.get(reverse(route)).status_code == 200
            counts[route] = len(queries)
        return counts

    asked()
    few = asked()
    _life(lives, "b")
    assert asked() == few
    assert max(few.values()) <= 14

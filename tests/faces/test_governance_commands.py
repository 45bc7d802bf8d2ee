"""The commands of administration: the same acts as their routes, in words, refused in words."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from oml.journal.selectors import permission_epoch
from tests.support.journal import journalled, length
from tests.support.people import human
from tests.support.world import World
from workareas import access
from workareas.models import Ban, Grant, Simulation, Workarea
from workareas.verbs import Capability, Verb

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def refusal(*words: str) -> str:
    with pytest.raises(CommandError) as caught:
        run(*words)
    return str(caught.value)


def last_channel(world: World, event_type: str) -> str:
    return str(journalled(event_type, tenant_id=world.admin.tenant_id)[-1]["channel"])


# --- workarea ------------------------------------------------------------------------------------


def test_workarea__created_staffed_advanced_and_shown__reads_as_sentences(world: World) -> None:
    made = run("workarea", "create", "universe.a", "q1-2027", "--crew", "planners")
    node = Workarea.objects.get(path="universe.a.q1-2027")
    assert made == f"universe.a.q1-2027 ({node.pk}) is there, in development.\n"
    assert run("workarea", "status", node.pk, "committed", "--reason", "ready") == (
        f"universe.a.q1-2027 ({node.pk}) is committed.\n"
    )
    assert run("workarea", "crew", node.pk, "night shift") == "universe.a.q1-2027: crew night shift.\n"
    run("workarea", "create", "universe", "a-b")
    tree = run("workarea", "tree")
    assert tree.splitlines() == [
        "universe  development",
        "  a  committed",
        "    q1-2027  committed  crew night shift",
        "    team  committed",
        "  a-b  development",
        "  ab  committed",
        "  b  committed",
    ]
    for event in ("workarea.created", "workarea.status_changed", "workarea.crew_updated"):
        assert last_channel(world, event) == "cli"


def test_workarea_move__dry_run_then_real__names_who_gains_and_loses(world: World) -> None:
    of_b = world.key("reader", on="b")
    before = length(world.admin.tenant_id)
    dry = run("workarea", "move", "universe.a", "universe.b", "--dry-run")
    assert "universe.a would become universe.b.a, 2 nodes." in dry
    assert f"  {of_b.key_id} gains reader at universe.a.team" in dry
    assert length(world.admin.tenant_id) == before
    assert "universe.a is now universe.b.a, 2 nodes." in run("workarea", "move", "universe.a", "universe.b")
    assert Workarea.objects.get(pk=world.nodes["a.team"].pk).path == "universe.b.a.team"


def test_workarea_policy__set_and_left_alone__prints_what_then_holds(world: World) -> None:
    told = run("workarea", "policy", "universe.a", "--min-verdicts", "2", "--reason-required", "yes")
    assert "  min_verdicts: 2\n" in told
    assert "  reason_required: True\n" in told
    assert "  serve_ttl_s: 900\n" in told


# --- grant ---------------------------------------------------------------------------------------


def test_grant__added_denied_and_taken_back__is_what_the_authorizer_then_says(world: World) -> None:
    def may() -> bool:
        return access.authorize(world.reader, Verb.READ, "universe.a").allowed

    told = run("grant", "add", world.reader.key_id, "universe.a", "reader", "--deny", "--reason", "left the crew")
    grant = Grant.objects.get(key=world.reader.key_id, effect="deny")
    assert told == f"{grant.pk}: {world.reader.key_id} may not reader from universe.a down.\n"
    assert not may()
    assert run("grant", "remove", grant.pk) == f"{grant.pk} is taken back.\n"
    assert may()


def test_grant__to_humans_and_groups__reaches_the_browser_key(world: World) -> None:
    rosa = human(world, name="rosa", on=None)

    def may(node: str) -> bool:
        return access.authorize(rosa.actor, Verb.REVIEW_SERVE, node).allowed

    assert run("grant", "human", "rosa", "universe.a", "review") == "rosa has review on universe.a.\n"
    run("grant", "group", "reviewers", "universe.b", "review")
    assert (may("universe.a"), may("universe.b")) == (True, False)
    assert run("grant", "member", "reviewers", "rosa") == "rosa is in reviewers.\n"
    assert may("universe.b")
    run("grant", "member", "reviewers", "rosa", "--take-back")
    run("grant", "human", "rosa", "universe.a", "review", "--take-back")
    assert (may("universe.a"), may("universe.b")) == (False, False)


# --- explain -------------------------------------------------------------------------------------


def test_explain_access__now_and_then__names_the_rules_and_which_won(world: World) -> None:
    before = permission_epoch(world.admin.tenant_id)
    world.deny(world.writer, Capability.WRITER, on="a")
    deny = Grant.objects.get(key=world.writer.key_id, effect="deny")
    allow = Grant.objects.get(key=world.writer.key_id, effect="allow", capability="writer")
    now = run("explain_access", world.writer.key_id, "remember", "universe.a")
    assert now.splitlines() == [
        f"{world.writer.key_id} (writer) may not remember at universe.a: effective access: union of grants minus "
        "denies, deny wins (D7) (access.forbidden)",
        f"  denied by  grant {deny.pk}, writer from universe.a down",
        f"  allowed by grant {allow.pk}, writer from universe down",
        f"  at permission epoch {before + 1}",
    ]
    then = run("explain_access", world.writer.key_id, "remember", "universe.a", "--at-epoch", str(before))
    assert then.splitlines()[:2] == [
        f"{world.writer.key_id} (writer) may remember at universe.a",
        f"  allowed by grant {allow.pk}, writer from universe down",
    ]
    assert re.fullmatch(rf"  at permission epoch {before}, journal up to \d+", then.splitlines()[2])
    assert "the key had not been issued" in run(
        "explain_access", world.writer.key_id, "remember", "universe.a", "--at-epoch", "0"
    )
    assert "the permission epoch is from 0 to" in refusal(
        "explain_access", world.writer.key_id, "remember", "universe.a", "--at-epoch", "999"
    )


# --- bans, simulations, lifecycle ----------------------------------------------------------------


def test_ban__added_listed_and_lifted__is_the_routes_ban(world: World) -> None:
    assert run("ban", "list") == "No bans.\n"
    told = run("ban", "add", "key", world.writer.key_id, "--reason", "poisoned")
    ban = Ban.objects.get()
    assert told == f"{ban.pk}: key {world.writer.key_id} is banned.\n"
    assert ban.pk in run("ban", "list")
    assert run("ban", "lift", ban.pk) == f"{ban.pk} is lifted.\n"
    assert not Ban.objects.exists()
    assert last_channel(world, "ban.removed") == "cli"


def test_simulate__opened_changed_and_closed__says_who_is_inside(world: World) -> None:
    told = run("simulate", "open", "price shock", "--key", world.writer.key_id)
    simulation = Simulation.objects.get()
    assert told == f"{simulation.pk}: price shock, open\n  audience: {world.writer.key_id}\n"
    told = run("simulate", "audience", simulation.pk, "--remove", world.writer.key_id)
    assert told.endswith("  audience: nobody\n")
    assert "price shock, closed 20" in run("simulate", "close", simulation.pk)
    assert "is closed" in refusal("simulate", "close", simulation.pk)


def test_demote_and_erase__by_command__are_the_routes_acts(world: World) -> None:
    claim = world.promoted(text="Accra Metals quoted 412 USD/t.")
    key = world.row(claim).claim_key
    assert run("demote", claim, "--reason", "ran out") == f"{claim} ({key}, version 1) is demoted.\n"
    before = length(world.admin.tenant_id)
    preview = run("erase", claim, "--reason", "asked", "--preview")
    assert f"{claim} ({key}, version 1), demoted: would go" in preview
    assert "        30  text characters" in preview
    assert length(world.admin.tenant_id) == before
    told = run("erase", claim, "--reason", "asked")
    assert f"{claim} ({key}, version 1) is erased; gone are" in told
    assert world.row(claim).text is None
    for event in ("lifecycle.demote", "lifecycle.erase"):
        assert last_channel(world, event) == "cli"
    assert "review.stale" in refusal("erase", claim, "--reason", "again")


@pytest.mark.parametrize(
    "words",
    [
        ("workarea", "create", "universe.nowhere", "x"),
        ("workarea", "move", "universe.a", "universe.nowhere"),
        ("grant", "remove", "gr_unknown"),
        ("grant", "add", "key_unknown", "universe.a", "reader"),
        ("grant", "human", "nobody", "universe.a", "read"),
        ("grant", "member", "reviewers", "nobody"),
        ("explain_access", "key_unknown", "read", "universe.a"),
        ("ban", "add", "key", "key_unknown"),
        ("ban", "lift", "ban_unknown"),
        ("simulate", "close", "sim_unknown"),
        ("demote", "art_unknown", "--reason", "x"),
        ("erase", "art_unknown", "--reason", "x"),
    ],
    ids=" ".join,
)
def test_command__about_something_unknown__is_refused_with_code_and_rule_and_changes_nothing(
    world: World, words: tuple[str, ...]
) -> None:
    before = length(world.admin.tenant_id)
    assert "(access.not_found: " in refusal(*words)
    assert length(world.admin.tenant_id) == before


def test_command__acting_as_a_key_without_the_right__is_refused(world: World) -> None:
    reader = world.reader.key_id
    assert "(access.verb_ceiling: " in refusal("ban", "list", "--by", reader)
    assert "(access.verb_ceiling: " in refusal("workarea", "tree", "--by", reader)
    subtree = world.key("admin", on="a").key_id
    assert run("workarea", "tree", "--by", subtree).splitlines() == ["  a  committed", "    team  committed"]
    assert "(access.forbidden: " in refusal("ban", "list", "--by", subtree)


def test_command__with_two_tenants__asks_which(world: World) -> None:
    stranger: Any = World.build("stranger")
    assert "--tenant" in refusal("ban", "list")
    assert run("ban", "list", "--tenant", "acme") == "No bans.\n"
    claim = stranger.promoted()
    assert "(access.not_found: " in refusal("erase", claim, "--reason", "x", "--tenant", "acme")

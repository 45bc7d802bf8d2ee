"""An administrator issues a key in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Error, expect

from oml.core.actor import Role
from tests.browser.conftest import Visit
from tests.support.world import World
from workareas.authentication import digest_of
from workareas.models import Ban, Grant, Key, StatedReason


def test_issue_key__in_the_browser__shows_the_secret_once(world: World, ada: Key, visit: Visit) -> None:
    page = visit("ada")
    page.get_by_role("link", name="Issue a key").click()
    page.get_by_label("New principal's name").fill("Metals writer")
    page.get_by_label("Role").select_option("writer")
    page.get_by_label("Workarea").fill("universe.a")
    page.get_by_label("writer", exact=True).check()
    page.get_by_role("button", name="Issue a key").click()
    secret = page.get_by_label("Secret").input_value()
    assert re.fullmatch(r"oml_k_[0-9A-Z]{26}", secret)
    assert Key.objects.filter(secret_digest=digest_of(secret)).exists()
    page.get_by_role("link", name="I have stored it").click()
    # The answer may not be stored, so going back finds nothing instead of showing the secret again.
    with pytest.raises(Error, match="ERR_CACHE_MISS"):
        page.go_back()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_move__in_the_browser__is_seen_before_it_is_done(world: World, ada: Key, visit: Visit, scripts: bool) -> None:
    there = world.key("reader", on="b")
    page = visit("ada", java_script_enabled=scripts)
    page.goto(f"/admin/workareas/workarea/{world.nodes['a.team'].pk}/change/")
    page.get_by_role("link", name="Move this workarea").click()
    page.get_by_label("New parent").fill("universe.a.team")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("alert")).to_contain_text("a workarea cannot move into its own subtree")
    page.get_by_label("New parent").fill("universe.b")
    page.get_by_label("Reason").fill("It belongs there.")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_text("universe.a.team becomes universe.b.team.")).to_be_visible()
    expect(page.get_by_role("row", name=there.key_id)).to_contain_text("reader")
    page.get_by_role("button", name="Change what I asked for").click()
    expect(page.get_by_label("New parent")).to_have_value("universe.b")
    page.get_by_role("button", name="Show what would change").click()
    page.get_by_role("button", name="Move this workarea").click()
    expect(page.get_by_text("Moved: universe.a.team is universe.b.team now")).to_be_visible()
    assert StatedReason.objects.get().text == "It belongs there."


def test_grant__in_the_browser__is_given_and_taken_back(world: World, ada: Key, visit: Visit) -> None:
    stranger = world.bare_key(Role.READER)
    page = visit("ada")
    page.goto(f"/admin/workareas/key/{stranger.key_id}/change/")
    page.get_by_role("link", name="Grant something").click()
    page.get_by_label("Workarea").fill("universe.a")
    page.get_by_label("Capability").select_option("writer")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("alert")).to_contain_text("a role is a ceiling")
    page.get_by_label("Capability").select_option("reader")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("row", name="universe.a.team")).to_contain_text("reader")
    page.get_by_role("button", name="Grant something").click()
    expect(page.get_by_text("allow reader on universe.a for")).to_be_visible()
    page.get_by_role("table").get_by_role("link", name="Open").click()
    page.get_by_role("link", name="Take this grant back").click()
    expect(page.get_by_text("Nothing has been changed yet.")).to_be_visible()
    page.get_by_role("button", name="Take this grant back").click()
    expect(page.get_by_text("is taken back.")).to_be_visible()
    assert not Grant.objects.filter(key_id=stranger.key_id).exists()


def test_ban_and_simulation__in_the_browser__from_the_start_page(world: World, ada: Key, visit: Visit) -> None:
    page = visit("ada")
    page.get_by_role("link", name="Ban something").click()
    page.get_by_label("Which").fill(world.writer.key_id)
    page.get_by_role("button", name="Ban something").click()
    expect(page.get_by_text(f"admission refuses key {world.writer.key_id}")).to_be_visible()
    page.get_by_role("link", name=Ban.objects.get().pk).click()
    page.get_by_role("link", name="Lift this ban").click()
    page.get_by_role("button", name="Lift this ban").click()
    expect(page.get_by_text("is lifted")).to_be_visible()
    page.get_by_role("link", name="Home").click()
    page.get_by_role("link", name="Open a simulation").click()
    page.get_by_label("Name").fill("Drill")
    page.get_by_label("Audience").fill(f"{world.reader.key_id}\n{world.writer.key_id}")
    page.get_by_role("button", name="Open a simulation").click()
    expect(page.get_by_text("is open; keys in its audience: 2.")).to_be_visible()


def test_erase__in_the_browser__says_what_goes_and_never_what_it_said(world: World, ada: Key, visit: Visit) -> None:
    artifact = world.promoted(text="Nobody shall read this again.", claim_key="tin-days")
    page = visit("ada")
    page.goto(f"/admin/memory/artifact/{artifact}/change/")
    page.get_by_role("link", name="Erase", exact=True).click()
    page.get_by_label("Reason").fill("A person asked.")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_text("What tin-days, version 1, says is destroyed for good.")).to_be_visible()
    expect(page.get_by_text("Nobody shall read this again.")).to_have_count(0)
    page.get_by_role("button", name="Erase", exact=True).click()
    expect(page.get_by_text("Erased: tin-days, version 1.")).to_be_visible()
    assert world.row(artifact).text is None


def test_revoke_key__in_the_browser__asks_first(world: World, ada: Key, visit: Visit) -> None:
    page = visit("ada")
    page.goto(f"/admin/workareas/key/{world.reader.key_id}/change/")
    page.get_by_role("link", name="Revoke this key").click()
    expect(page.get_by_text("It cannot be taken back")).to_be_visible()
    page.get_by_role("button", name="Revoke this key").click()
    expect(page.get_by_text("is revoked. Its next call is refused.")).to_be_visible()
    assert Key.objects.get(pk=world.reader.key_id).revoked_at is not None

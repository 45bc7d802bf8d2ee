"""An administrator issues a key in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Error, expect

from tests.browser.conftest import Visit
from tests.support.world import World
from workareas.authentication import digest_of
from workareas.models import Key


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


def test_revoke_key__in_the_browser__asks_first(world: World, ada: Key, visit: Visit) -> None:
    page = visit("ada")
    page.goto(f"/admin/workareas/key/{world.reader.key_id}/change/")
    page.get_by_role("link", name="Revoke this key").click()
    expect(page.get_by_text("It cannot be taken back")).to_be_visible()
    page.get_by_role("button", name="Revoke this key").click()
    expect(page.get_by_text("is revoked. Its next call is refused.")).to_be_visible()
    assert Key.objects.get(pk=world.reader.key_id).revoked_at is not None

"""The agents' pages in a real browser: clicked through, on a telephone, in both themes, without JavaScript."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from memory.runs.models import AgentMemory
from memory.runs.rules import Scope
from tests.browser.conftest import Visit
from tests.browser.test_browser_everyone import _EVERYTHING, _axe_in_both_themes, _sideways, _small_targets
from tests.support.inspecting import Inspector, fill, inspector, share, writing_as
from tests.support.runs import begin, register
from tests.support.world import World
from workareas.space_roles import SpaceRole

PAGES = (
    "agents",
    "memory",
    "of an actor",
    "nothing of that",
    "second page",
    "about",
    "delete",
    "delete all",
    "refused",
)


@pytest.fixture
def vera(world: World) -> Inspector:
    """A builder in ``universe.a`` with something of everything to look at."""
    register(world)
    vera = inspector(world, SpaceRole.BUILDER)
    fill(world, vera)
    own = begin(world, writing_as(world, vera))
    own.pin("goals", {"quarter": "2026-Q4", "list": ["answer within a day", "ask before refunds"], "limit": 250})
    own.note("The north gate's intercom says “deliveries only”\u200b after 18:00. " * 12)
    own.note("https://example.org/" + "a-very-long-address/" * 12)
    own.pin("shared_" + "inbox_" * 9, "Folder 3 holds last year's complaints.", scope=Scope.SHARED)
    share(world, "api_quirk", "The supplier's API pages by 50.")
    run = begin(world, vera.human.actor)
    for number in range(50):
        run.note(f"Finding {number}")
    return vera


def show(page: Page, vera: Inspector, name: str) -> None:
    """Go to a page by its name here."""
    memory = f"/agents/@acme/support-triage/{vera.world.nodes['a'].pk}/memory"
    page.goto(
        {
            "agents": "/agents/",
            "memory": memory,
            "of an actor": f"{memory}?show={vera.world.writer.principal_id}",
            "nothing of that": f"{memory}?show=pri_nobody",
            "second page": f"{memory}?page=2",
            "about": memory.removesuffix("/memory"),
            "delete": f"{memory}/pinned/{AgentMemory.objects.get(key='api_quirk').pk}/delete",
            "delete all": f"{memory}/delete?whose={vera.world.writer.principal_id}",
            "refused": "/agents/@acme/unknown/wa_0/memory",
        }[name]
    )


def test_agents_pages__axe_in_both_themes_and_320_pixels__find_nothing(vera: Inspector, visit: Visit) -> None:
    page = visit("vera")
    complaints = []
    for name in PAGES:
        page.set_viewport_size({"width": 1280, "height": 800})
        show(page, vera, name)
        complaints += _axe_in_both_themes(page, name, _EVERYTHING)
        _picture(page, name, 1280)
        page.set_viewport_size({"width": 320, "height": 640})
        complaints += [f"{name} scrolls sideways: {one}" for one in _sideways(page)]
        complaints += [f"{name} has a small target: {one}" for one in _small_targets(page)]
        _picture(page, name, 320)
    assert complaints == []


@pytest.mark.parametrize("javascript", [True, False])
def test_memory_tab__clicked_through__deletes_a_slot_after_asking(
    vera: Inspector, visit: Visit, javascript: bool
) -> None:
    page = visit("vera", java_script_enabled=javascript)
    page.get_by_role("link", name="Agents").click()
    page.get_by_role("link", name="@acme/support-triage").click()
    expect(page.get_by_role("heading", name="api_quirk")).to_be_visible()
    page.get_by_role("link", name="Delete api_quirk").click()
    expect(page.get_by_text("deleting it is a demotion")).to_be_visible()
    page.get_by_role("link", name="Keep it").click()
    page.get_by_label("Show").select_option("shared")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Delete api_quirk").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_have_text("Deleted.")
    expect(page.get_by_role("heading", name="api_quirk")).to_have_count(0)
    page.get_by_role("link", name="About").click()
    expect(page.get_by_text("You may inspect and delete")).to_be_visible()


def test_memory_tab__by_keyboard_alone__a_long_note_opens(vera: Inspector, visit: Visit) -> None:
    page = visit("vera")
    show(page, vera, "second page")
    summary = page.locator("summary").first
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details[open] .sent").first).to_be_visible()


def _picture(page: Page, name: str, width: int) -> None:
    """For people to look at, where somebody asks for pictures."""
    folder = os.environ.get("OML_PICTURES")
    if folder is None:
        return
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.screenshot(path=Path(folder) / f"agents-{name.replace(' ', '-')}-{width}-{scheme}.png", full_page=True)

"""Pages for everyone: axe, small screens, both themes, forced colours, reach by keyboard (WCAG 2.2 AA)."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from review.models import Serve
from tests.browser.conftest import Visit, enrol
from tests.support.world import World
from workareas.actions.nodes import set_policy
from workareas.models import Key

_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}

REVIEW_PAGES = (
    "sign-in",
    "sign-in refused",
    "queue",
    "queue of others",
    "queue empty",
    "item",
    "item with problem",
    "decided",
    "not counted",
    "refused",
    "not found",
    "keys",
)
ADMIN_PAGES = (
    "admin",
    "admin keys",
    "admin key",
    "admin issue",
    "admin issue refused",
    "admin journal",
    "admin explain",
)


@pytest.fixture
def pages(world: World, rita: Key, visit: Visit) -> Any:
    """Go to a page by name, as whoever sees it."""
    source = world.promoted(text="Tin is delivered on Fridays.", claim_key="tin-days")
    world.learn(
        sources=[source],
        claim_key="a-long-claim-key/which.does.not-end/soon/because-agents-like/long-names-of-everything.2026",
        text="Deliveries of tin\u200b need the north gate\u00ad open. " * 20 + "https://example.org/" + "x" * 200,
    )
    world.submit(claim_key="unscanned", text="Not yet.")
    world.scan()
    world.submit(claim_key="unscanned-2", text="Not yet.")

    def go(name: str, **options: Any) -> Page:
        if name.startswith("admin"):
            return _admin(world, visit, name, options)
        page = visit(None if name.startswith("sign-in") else "rita", **options)
        if name.startswith("sign-in"):
            page.goto("/accounts/login/")
        if name == "sign-in refused":
            page.get_by_label("Name").fill("rita")
            page.get_by_label("Password").fill("wrong")
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("alert")).to_be_visible()
        elif name == "queue of others":
            page.goto("/review/?turn=others")
        elif name == "queue empty":
            page.goto("/review/?claim_key=zinc")
        elif name == "refused":
            page.goto("/review/?kind=opinion")
        elif name == "not found":
            page.goto("/review/nothing-here")
        elif name == "keys":
            page.get_by_role("button", name="Keyboard shortcuts").click()
        elif name in ("item", "item with problem", "decided", "not counted"):
            page.get_by_role("button", name="Open a-long").click()
            if name == "item with problem":
                page.get_by_role("button", name="Reject").click()
                expect(page.get_by_role("alert")).to_be_visible()
            elif name == "decided":
                page.get_by_role("button", name="Ratify").click()
                expect(page.get_by_role("heading", name="Next for you")).to_be_visible()
            elif name == "not counted":
                page.get_by_label("In your words").fill("These words stay.")
                Serve.objects.update(expires_at="2026-01-01T00:00:00Z")
                page.get_by_role("button", name="Reject").click()
                expect(page.get_by_role("alert")).to_be_visible()
        return page

    return go


def _admin(world: World, visit: Visit, name: str, options: dict[str, Any]) -> Page:
    if not Key.objects.filter(principal__username="ada").exists():
        enrol(world, "ada", role=world.admin.role, staff=True)
        set_policy(world.admin, workarea="universe.a", settings={"serve_ttl_s": 600})
    page = visit("ada", **options) if "admin" in name else visit()
    where = {
        "admin": "/admin/",
        "admin keys": "/admin/workareas/key/",
        "admin key": f"/admin/workareas/key/{world.writer.key_id}/change/",
        "admin issue": "/admin/workareas/key/issue/",
        "admin issue refused": "/admin/workareas/key/issue/",
        "admin journal": "/admin/journal/journalentry/",
        "admin explain": f"/admin/explain/?key={world.writer.key_id}&verb=recall&workarea=universe.a",
    }
    page.goto(where[name])
    if name == "admin issue refused":
        page.get_by_role("button", name="Issue a key").click()
        expect(page.get_by_role("alert")).to_be_visible()
    return page


def _complaints(page: Page, **without: Any) -> list[str]:
    found = Axe().run(page, options={**_RULES, **without}).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:240]}" for one in found for node in one["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", REVIEW_PAGES)
def test_axe__review_pages__find_nothing(pages: Any, name: str, scheme: str) -> None:
    assert _complaints(pages(name, color_scheme=scheme)) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ADMIN_PAGES)
def test_axe__admin_pages__find_nothing(pages: Any, name: str, scheme: str) -> None:
    assert _complaints(pages(name, color_scheme=scheme)) == []


@pytest.mark.parametrize("name", REVIEW_PAGES)
def test_small_screen__review_pages__never_scroll_sideways(pages: Any, name: str) -> None:
    page = pages(name, width=320)
    wide = page.evaluate(
        """() => {
            const width = document.documentElement.clientWidth;
            const out = [...document.querySelectorAll('body *')].filter((one) => {
                const box = one.getBoundingClientRect();
                return box.right > width + 0.5 && getComputedStyle(one).visibility !== 'hidden';
            }).map((one) => one.outerHTML.slice(0, 120));
            return document.documentElement.scrollWidth > width ? out : [];
        }"""
    )
    assert wide == []


@pytest.mark.parametrize("name", REVIEW_PAGES)
def test_targets__review_pages__are_large_enough(pages: Any, name: str) -> None:
    """WCAG 2.5.8: 24 by 24 CSS pixels for everything that is not a link in a sentence."""
    small = pages(name, width=320).evaluate(
        """() => [...document.querySelectorAll('button, select, input:not([type=hidden]), textarea, nav a, .button')]
            .map((one) => [one, one.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)"""
    )
    assert small == []


def test_forced_colours__item__keeps_its_marks(pages: Any) -> None:
    page = pages("item", forced_colors="active")
    marks = page.locator("#text mark.finding")
    assert marks.count() > 0
    assert marks.first.evaluate("one => getComputedStyle(one).textDecorationLine") == "underline"


def test_skip_link__first_stop__leads_to_the_content(pages: Any) -> None:
    page = pages("queue")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_print__item__shows_the_text_and_no_controls(pages: Any) -> None:
    page = pages("item")
    page.emulate_media(media="print")
    expect(page.locator("#text")).to_be_visible()
    expect(page.get_by_role("button", name="Ratify")).not_to_be_visible()

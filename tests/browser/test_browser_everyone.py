"""Pages for everyone: axe, small screens, both themes, forced colours, reach by keyboard (WCAG 2.2 AA)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from memory.claims.actions.lifecycle import demote_memory
from memory.claims.commands import EvidenceRef
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from memory.runs.rules import Scope
from oml.core.actor import Actor
from oml.core.clock import now
from review.models import Serve
from tests.browser.conftest import Visit
from tests.support.people import PASSWORD
from tests.support.records import Records
from tests.support.runs import begin, register
from tests.support.world import World
from workareas.actions.nodes import set_policy
from workareas.models import Grant, Key

_WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
_EVERYTHING = {"runOnly": [*_WCAG["runOnly"], "best-practice"]}

# In this order: the last ones use up what the first ones show.
REVIEW_PAGES = (
    "sign-in",
    "sign-in refused",
    "queue",
    "queue of others",
    "queue empty",
    "refused",
    "not found",
    "keys",
    "item",
    "item with problem",
    "not counted",
    "decided",
    "edges",
    "edges of others",
    "edges empty",
    "edge",
    "edge with problem",
    "edge decided",
    "edge between workareas",
    "item with evidence",
    "evidence",
    "shared slot",
)
ADMIN_PAGES = {
    "start": "/admin/",
    "keys": "/admin/workareas/key/",
    "key": "/admin/workareas/key/{key}/change/",
    "issue": "/admin/workareas/key/issue/",
    "issue, refused": "/admin/workareas/key/issue/",
    "artifacts": "/admin/memory/artifact/",
    "journal": "/admin/journal/journalentry/",
    "explain": "/admin/explain/?key={key}&verb=recall&workarea=universe.a",
    "ban": "/admin/workareas/ban/ban/",
    "ban, refused": "/admin/workareas/ban/ban/",
    "simulation": "/admin/workareas/simulation/open/",
    "workarea": "/admin/workareas/workarea/{node}/change/",
    "move": "/admin/workareas/workarea/{node}/reassign/",
    "move, looked at": "/admin/workareas/workarea/{node}/reassign/",
    "people": "/admin/workareas/workarea/{node}/people/",
    "policy": "/admin/workareas/workarea/{node}/policy/",
    "grant": "/admin/workareas/key/{key}/grant/",
    "rotate": "/admin/workareas/key/{key}/rotate/",
    "revoke": "/admin/workareas/key/{key}/revoke/",
    "take back": "/admin/workareas/grant/{grant}/take-back/",
    "quota": "/admin/workareas/tenant/{tenant}/quota/",
}
# Of the console's pages those that are ours alone; lists and rows are Django's, which let a wide table scroll.
NARROW_ADMIN_PAGES = [name for name, path in ADMIN_PAGES.items() if not path.endswith(("key/", "entry/", "change/"))]
LONG_KEY = "a-long-claim-key/which.does.not-end/soon/because-agents-like/long-names-of-everything.2026"


@pytest.fixture
def work(world: World, rita: Key) -> World:
    """Something of everything that a page can show."""
    source = world.promoted(text="Tin is delivered on Fridays.", claim_key="tin-days")
    text = "Deliveries of tin\u200b need the north gate\u00ad open. " * 20 + "https://example.org/" + "x" * 200
    world.learn(sources=[source], claim_key=LONG_KEY, text=text)
    world.submit(claim_key="another", text="Another one.")
    world.scan()
    world.submit(claim_key="unscanned", text="Not yet.")
    set_policy(world.admin, workarea="universe.a", settings={"serve_ttl_s": 600})
    proposer = world.key("proposer")
    far = world.promoted(on="b", text="Tin is delivered on Thursdays.", claim_key=f"far/{LONG_KEY}")
    _propose(proposer, EdgeKind.CLAIM, "contradicts", source, far, note="One of​ them is wrong. " + "x" * 200)
    _propose(proposer, EdgeKind.WORKAREA, "continues", "universe.a", "universe.b")
    gone = world.promoted(on="b", claim_key="gone")
    _propose(proposer, EdgeKind.CLAIM, "supports", gone, source)
    demote_memory(world.admin, artifact=gone, reason="Wrong.")
    record = Records(world).ingest("From the gate's log: " + "y" * 300, properties=["gate:north"])
    world.submit(claim_key="with-evidence", evidence=(EvidenceRef(record),))
    world.key("reader", on="b")
    register(world)
    begin(world).pin("tone", {"tone": "kind"}, scope=Scope.SHARED)
    world.scan()
    return world


def _propose(by: Actor, kind: EdgeKind, label: str, start: str, end: str, *, note: str = "") -> None:
    propose_edge(by, command=ProposeCommand(kind, label, start, end, note=note))


def _show(page: Page, name: str) -> None:
    """Go to a review page by its name here."""
    if name.startswith("sign-in"):
        page.context.clear_cookies()
        page.goto("/accounts/login/")
        page.get_by_label("Name").fill("rita")
        page.get_by_label("Password").fill("wrong")
        if name == "sign-in refused":
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("alert")).to_be_visible()
        return
    if name == "queue":
        page.goto("/review/")
        page.get_by_label("Name").fill("rita")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Review queue")).to_be_visible()
        return
    others = {
        "queue of others": "/review/?turn=others",
        "queue empty": "/review/?claim_key=zinc",
        "refused": "/review/?kind=opinion",
        "not found": "/review/nothing-here",
        "edges of others": "/review/edges/?turn=others",
        "edges empty": "/review/edges/?kind=claim&workarea=universe.a.team",
    }
    page.goto(others.get(name, "/review/edges/" if name.startswith("edge") else "/review/"))
    if name == "keys":
        page.get_by_role("button", name="Keyboard shortcuts").click()
    opens = {
        "edge": "Open tin-days contradicts",
        "edge with problem": "Open tin-days contradicts",
        "edge decided": "Open tin-days contradicts",
        "edge between workareas": "Open universe.a continues",
        "item with evidence": "Open with-evidence",
        "evidence": "Open with-evidence",
        "shared slot": "Open Slot tone",
    }
    if name in opens:
        page.get_by_role("button", name=opens[name]).click()
        expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
    if name == "edge with problem":
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("alert")).to_be_visible()
    elif name == "edge decided":
        page.get_by_role("button", name="Ratify").click()
        expect(page.get_by_text("You ratified it.")).to_be_visible()
    elif name == "evidence":
        page.get_by_role("link", name="version 0").click()
        expect(page.get_by_role("heading", name="Content as sent")).to_be_visible()
    if name not in ("item", "item with problem", "decided", "not counted"):
        return
    page.get_by_role("button", name="Open a-long").click()
    if name == "item with problem":
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("alert")).to_be_visible()
    elif name == "not counted":
        page.get_by_label("In your words").fill("These words stay.")
        Serve.objects.update(expires_at=now() - timedelta(minutes=1))
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("alert")).to_be_visible()
    elif name == "decided":
        page.get_by_role("button", name="Ratify").click()
        expect(page.get_by_role("heading", name="Next for you")).to_be_visible()


def _complaints(page: Page, rules: dict[str, Any]) -> list[str]:
    found = Axe().run(page, options=rules).response["violations"]
    nodes = [(one["id"], node) for one in found for node in one["nodes"]]
    return [f"{rule}: {node['html'][:160]} {node['failureSummary'][:240]}" for rule, node in nodes]


def _axe_in_both_themes(page: Page, name: str, rules: dict[str, Any]) -> list[str]:
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found += [f"{name}, {scheme}: {complaint}" for complaint in _complaints(page, rules)]
    return found


def _sideways(page: Page) -> list[str]:
    """What reaches beyond the right edge of a page that scrolls sideways."""
    out: list[str] = page.evaluate(
        """() => {
            const width = document.documentElement.clientWidth;
            const out = [...document.querySelectorAll('body *')]
                .filter((one) => one.getBoundingClientRect().right > width + 0.5)
                .map((one) => one.outerHTML.slice(0, 120));
            return document.documentElement.scrollWidth > width ? out : [];
        }"""
    )
    return out


def _small_targets(page: Page) -> list[str]:
    """Controls below 24 by 24 CSS pixels (WCAG 2.5.8); links in sentences are exempt."""
    small: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input:not([type=hidden]), textarea, nav a, .button')]
            .map((one) => [one, one.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)"""
    )
    return small


def test_review_pages__axe_in_both_themes_and_320_pixels__find_nothing(work: World, visit: Visit) -> None:
    page = visit()
    complaints = []
    for name in REVIEW_PAGES:
        page.set_viewport_size({"width": 1280, "height": 800})
        _show(page, name)
        complaints += _axe_in_both_themes(page, name, _EVERYTHING)
        page.set_viewport_size({"width": 320, "height": 640})
        complaints += [f"{name} scrolls sideways: {one}" for one in _sideways(page)]
        complaints += [f"{name} has a small target: {one}" for one in _small_targets(page)]
    assert complaints == []


def test_admin_pages__axe_in_both_themes__finds_nothing(work: World, ada: Key, visit: Visit) -> None:
    # axe copies elements with the styles that Django's scripts gave them, which our policy would refuse; what the
    # pages themselves do under the policy is the next test's subject.
    page = visit("ada", bypass_csp=True)
    complaints = []
    for name in ADMIN_PAGES:
        page.set_viewport_size({"width": 1280, "height": 800})
        _show_admin(page, work, name)
        complaints += _axe_in_both_themes(page, name, _WCAG)
        if name in NARROW_ADMIN_PAGES:
            page.set_viewport_size({"width": 320, "height": 640})
            complaints += [f"{name} scrolls sideways: {one}" for one in _sideways(page)]
    assert complaints == []


def _show_admin(page: Page, work: World, name: str) -> None:
    """Go to a page of the console by its name here."""
    page.goto(_admin_path(work, name), wait_until="networkidle")
    if name == "issue, refused":
        page.get_by_role("button", name="Issue a key").click()
        expect(page.get_by_role("alert")).to_be_visible()
    elif name == "ban, refused":
        page.get_by_label("Which").fill("key_unknown")
        page.get_by_role("button", name="Ban something").click()
        expect(page.get_by_role("alert")).to_contain_text("access.not_found")
    elif name == "move, looked at":
        page.get_by_label("New parent").fill("universe.b")
        page.get_by_role("button", name="Show what would change").click()
        expect(page.get_by_text("Nothing has been changed yet.")).to_be_visible()


def _admin_path(work: World, name: str) -> str:
    grant = Grant.objects.filter(key_id=work.writer.key_id).earliest("pk")
    return ADMIN_PAGES[name].format(
        key=work.writer.key_id, node=work.nodes["a.team"].pk, grant=grant.pk, tenant=work.admin.tenant_id
    )


def test_admin_pages__under_the_content_security_policy__run_without_a_complaint(
    work: World, ada: Key, visit: Visit
) -> None:
    page = visit("ada")
    for name in ADMIN_PAGES:
        _show_admin(page, work, name)


def test_forced_colours__item__keeps_its_marks(work: World, visit: Visit) -> None:
    page = visit("rita", forced_colors="active")
    page.get_by_role("button", name="Open a-long").click()
    marks = page.locator("#text mark.finding")
    assert marks.count() > 0
    assert marks.first.evaluate("one => getComputedStyle(one).textDecorationLine") == "underline"


def test_skip_link__first_stop__leads_to_the_content(work: World, visit: Visit) -> None:
    page = visit("rita")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_print__item__shows_the_text_and_no_controls(work: World, visit: Visit) -> None:
    page = visit("rita")
    page.get_by_role("button", name="Open a-long").click()
    page.emulate_media(media="print")
    expect(page.locator("#text")).to_be_visible()
    expect(page.get_by_role("button", name="Ratify")).not_to_be_visible()

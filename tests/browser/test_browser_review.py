"""A reviewer's day in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from memory.claims.commands import EvidenceRef
from memory.claims.models import Artifact
from memory.claims.states import State
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind, EdgeState
from memory.graph.models import Edge
from memory.runs.rules import Scope
from oml.core.actor import Actor, Channel
from review.models import Verdict
from tests.browser.conftest import Visit
from tests.support.records import Records
from tests.support.runs import AGENT, begin, register
from tests.support.world import World
from workareas.actions.nodes import set_policy
from workareas.authentication import actor_of_key
from workareas.models import Key
from workareas.verbs import Capability


def _waiting(world: World, count: int = 2) -> list[str]:
    made = [world.submit(claim_key=f"claim-{number}", text=f"Fact {number}.") for number in range(count)]
    world.scan()
    return made


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_review__from_sign_in_to_two_verdicts(world: World, rita: Key, visit: Visit, scripts: bool) -> None:
    first, second = _waiting(world)
    page = visit("rita", java_script_enabled=scripts)
    expect(page.get_by_role("heading", name="Review queue")).to_be_visible()
    expect(page.get_by_role("link", name="Your turn 2")).to_have_attribute("aria-current", "page")

    page.get_by_role("button", name="Open claim-0").click()
    expect(page.get_by_role("heading", name="Text as sent")).to_be_visible()
    assert page.locator("#text").inner_text() == "Fact 0."
    expect(page.get_by_text(re.compile(r"becomes readable to \d+ keys? in \d+ workareas?"))).to_be_visible()
    page.get_by_role("button", name="Ratify").click()
    expect(page.get_by_text("You ratified it. It is promoted and readable in universe.a.")).to_be_visible()

    page.get_by_role("button", name="Open the next item").click()
    assert page.locator("#text").inner_text() == "Fact 1."
    page.get_by_label("Reason", exact=True).select_option("wrong")
    page.get_by_label("In your words").fill("It is Thursdays.")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("You rejected it. It is never readable. Reason: Wrong.")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing else waits for you")).to_be_visible()

    page.reload()
    assert world.row(first).state == State.PROMOTED
    assert world.row(second).state == State.REJECTED
    assert Verdict.objects.get(artifact_id=second).reason == "It is Thursdays."
    assert Verdict.objects.count() == 2

    page.get_by_role("button", name="Sign out").click()
    page.goto("/review/")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_edges__from_the_queue_to_two_verdicts(world: World, rita: Key, visit: Visit, scripts: bool) -> None:
    proposer = world.key("proposer")
    first = world.promoted(text="Tin is cheap on Fridays.", claim_key="cheap")
    second = world.promoted(on="b", text="Tin is dear on Fridays.", claim_key="dear")
    claims = _propose(proposer, EdgeKind.CLAIM, "contradicts", first, second)
    workareas = _propose(proposer, EdgeKind.WORKAREA, "continues", "universe.a", "universe.b")
    page = visit("rita", java_script_enabled=scripts)
    page.get_by_role("link", name="Edges 2 for you").click()
    expect(page.get_by_role("link", name="Your turn 2")).to_have_attribute("aria-current", "page")
    expect(page.get_by_text("The two cannot both hold.")).not_to_be_visible()

    page.get_by_role("button", name="Open cheap contradicts dear").click()
    assert page.locator("#note").inner_text() == "The two cannot both hold."
    assert page.locator("#from-text").inner_text() == "Tin is cheap on Fridays."
    assert page.locator("#to-text").inner_text() == "Tin is dear on Fridays."
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("alert")).to_contain_text("a rejection needs a reason_code or a reason")
    page.get_by_label("Reason", exact=True).select_option("wrong")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("You rejected it. The link is not made. Reason: Wrong.")).to_be_visible()

    page.get_by_role("button", name="Open the next item").click()
    expect(page.get_by_role("heading", name="universe.a continues universe.b")).to_be_visible()
    page.get_by_role("button", name="Ratify").click()
    expect(page.get_by_text("You ratified it. Whoever reads both workareas sees the link.")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing else waits for you")).to_be_visible()
    states = dict(Edge.objects.values_list("pk", "state"))
    assert states == {claims: EdgeState.REJECTED, workareas: EdgeState.RATIFIED}


def test_edges__own_proposal__has_no_button_and_says_why(world: World, rita: Key, visit: Visit) -> None:
    me = actor_of_key(rita.pk, channel=Channel.CONSOLE)
    world.grant(me, Capability.PROPOSE, on="a")
    edge = _propose(me, EdgeKind.WORKAREA, "continues", "universe.a", "universe.b")
    page = visit("rita")
    page.get_by_role("link", name="Edges 0 for you").click()
    expect(page.get_by_role("heading", name="No edge waits for you")).to_be_visible()
    page.get_by_role("link", name="Waiting on others 1").click()
    expect(page.get_by_text("You proposed it, R2: another reviewer decides")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("Open|Ratify|Reject")).count() == 0
    page.goto(f"/review/edges/{edge}")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("you proposed this edge, so you may not ratify it")).to_be_visible()


def test_edges__the_second_page__shows_what_the_first_does_not(world: World, rita: Key, visit: Visit) -> None:
    first = _propose(world.key("proposer"), EdgeKind.WORKAREA, "continues", "universe.a", "universe.b")
    row = Edge.objects.get(pk=first)
    names = [field.attname for field in Edge._meta.concrete_fields if field.attname not in ("id", "label")]
    values = {name: getattr(row, name) for name in names}
    Edge.objects.bulk_create(
        Edge(id=f"{first[:-3]}{number:03}", label=f"label-{number}", **values) for number in range(51)
    )
    page = visit("rita")
    page.goto("/review/edges/")
    shown = set(page.locator("[data-row] h3").all_inner_texts())
    page.get_by_role("link", name="Next page").click()
    rest = set(page.locator("[data-row] h3").all_inner_texts())
    assert (len(shown), len(rest), shown & rest) == (50, 2, set())
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.get_by_role("heading", name="The proposer’s note")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_item__that_cites_a_record__takes_no_verdict_before_its_version_was_read(
    world: World, rita: Key, visit: Visit, scripts: bool
) -> None:
    records = Records(world)
    record = records.ingest("The log of the north gate, first version.")
    records.update(record, content="The log of the north gate, as corrected.\r\nSecond line \u200bends.")
    records.update(record, content="What nobody cited.")
    artifact = world.submit(text="Tin comes on Fridays.", evidence=(EvidenceRef(record, 1),))
    world.scan()
    page = visit("rita", java_script_enabled=scripts)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("1 of 1 part not opened.")).to_be_visible()
    for verdict in ("Ratify", "Reject"):
        expect(page.get_by_role("button", name=verdict)).to_be_disabled()

    # Somebody who sends the form all the same is refused by the ceremony, and the view is still good.
    at = page.url
    digest = page.locator("input[name=content_digest]").first.input_value()
    token = page.locator("input[name=csrfmiddlewaretoken]").first.input_value()
    form = {"content_digest": digest, "verdict": "ratify", "reason": "keep me", "csrfmiddlewaretoken": token}
    refused = page.request.post(f"{at}/verdict", form=form, headers={"Referer": at})
    assert refused.status == 409
    assert "review.parts_unserved" in refused.text() and "keep me" in refused.text()
    assert not Verdict.objects.exists()

    page.get_by_role("link", name=f"Record {record}, version 1").click()
    expect(page.get_by_text(f"{record}, version 1")).to_be_visible()
    content = page.locator("#content").evaluate("element => element.textContent")
    assert content == "The log of the north gate, as corrected.\r\nSecond line \u200bends."
    page.get_by_role("link", name="Back to the item").click()
    expect(page.get_by_text("not opened")).to_have_count(0)
    page.get_by_role("button", name="Ratify").click()
    expect(page.get_by_text("You ratified it.")).to_be_visible()
    assert world.row(artifact).state == State.PROMOTED


def test_item__a_slot_that_an_agent_shares__says_who_will_see_it(world: World, rita: Key, visit: Visit) -> None:
    register(world)
    begin(world).pin("tone", "Answer in the customer's language", scope=Scope.SHARED)
    world.scan()
    page = visit("rita")
    sees = f"every actor of agent {AGENT} in universe.a will see this in its prompt, as pinned slot tone"
    expect(page.get_by_text(sees)).to_be_visible()
    page.get_by_role("button", name="Open Slot tone").click()
    expect(page.get_by_text(f"From then on {sees}.")).to_be_visible()
    page.get_by_role("button", name="Ratify").click()
    expect(page.get_by_text(f"It is promoted: {sees}.")).to_be_visible()
    assert "Answer in the customer's language" in begin(world, world.writer2).context


def _propose(by: Actor, kind: EdgeKind, label: str, start: str, end: str) -> str:
    command = ProposeCommand(kind, label, start, end, note="The two cannot both hold.")
    return str(propose_edge(by, command=command)["edge_id"])


def test_review__own_item__offers_no_verdict(world: World, rita: Key, visit: Visit) -> None:
    (mine,) = _waiting(world, 1)
    Artifact.objects.filter(pk=mine).update(author_principal_id=rita.principal_id)
    page = visit("rita")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    page.get_by_role("link", name="Waiting on others 1").click()
    expect(page.get_by_text("You wrote it, R2: another reviewer decides")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("Open|Ratify|Reject")).count() == 0
    page.goto(f"/review/items/{mine}")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("you wrote this item, so you may not judge it")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("Ratify|Reject")).count() == 0


def test_item__the_text_on_the_page__is_the_text_as_sent(world: World, rita: Key, visit: Visit) -> None:
    text = (
        "First line\r\n\n  indented\ttab <b>&amp;</b>\rlone return\n"
        "pay\u200bment \u00ad \u2066isolated\u2069 \u202bembedded\u202c 👩\u200d💻 שלום end\n"
    )
    artifact = world.submit(text=text)
    world.scan()
    page = visit("rita")
    page.get_by_role("button", name="Open").click()
    assert page.locator("#text").evaluate("element => element.textContent") == text
    assert world.row(artifact).text == text
    labels = page.locator("#text .unseen").evaluate_all("all => all.map(one => one.dataset.label)")
    assert {"CR", "ZWSP", "SHY", "LRI", "PDI", "RLE", "PDF"} <= set(labels)
    drawn = page.locator("#text .unseen").first.evaluate("one => getComputedStyle(one, '::before').content")
    assert drawn == '"CR"'


def test_item__when_the_time_is_over__the_words_move_to_a_new_view(world: World, rita: Key, visit: Visit) -> None:
    set_policy(world.admin, workarea="universe", settings={"serve_ttl_s": 3})
    _waiting(world, 1)
    page = visit("rita")
    page.get_by_role("button", name="Open").click()
    page.get_by_label("In your words").fill("It is Thursdays.")
    expect(page.get_by_text("Time is over", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Reject")).to_be_disabled()
    expect(page.locator("[data-announce]")).to_have_text(
        "The time for this view is over. Open it again; your words stay."
    )
    set_policy(world.admin, workarea="universe", settings={"serve_ttl_s": 600})
    page.get_by_role("button", name="Open again, keep my words").click()
    expect(page.get_by_label("In your words")).to_have_value("It is Thursdays.")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("You rejected it.")).to_be_visible()


def test_item__countdown__counts_down_and_is_not_announced_every_second(world: World, rita: Key, visit: Visit) -> None:
    _waiting(world, 1)
    page = visit("rita")
    page.get_by_role("button", name="Open").click()
    clock = page.locator("[data-clock]")
    expect(clock).to_have_text(re.compile(r"^14:5\d left$"))
    before = clock.inner_text()
    expect(clock).not_to_have_text(before)
    assert page.locator("[data-announce]").inner_text() == ""


def test_keyboard__moves_opens_and_never_sends_a_verdict(world: World, rita: Key, visit: Visit) -> None:
    _waiting(world)
    page = visit("rita")
    page.keyboard.press("j")
    assert _focused(page) == "Open claim-0"
    page.keyboard.press("j")
    assert _focused(page) == "Open claim-1"
    page.keyboard.press("k")
    page.keyboard.press("o")
    expect(page.locator("#text")).to_have_text("Fact 0.")
    page.keyboard.press("a")
    assert _focused(page) == "Ratify"
    page.keyboard.press("r")
    assert page.evaluate("document.activeElement.id") == "reason_code"
    page.locator("#reason").focus()
    page.keyboard.type("a jar on r")  # shortcuts are letters here
    expect(page.locator("#reason")).to_have_value("a jar on r")
    assert not Verdict.objects.exists()
    page.locator("h1").click()
    page.keyboard.press("n")
    expect(page.locator("#text")).to_have_text("Fact 1.")
    assert not Verdict.objects.exists()


def test_keyboard__switched_off__does_nothing_and_stays_off(world: World, rita: Key, visit: Visit) -> None:
    _waiting(world)
    page = visit("rita")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.get_by_role("button", name="Single-key shortcuts: on").click()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert not page.locator("[data-open]:focus").count()
    page.reload()
    page.keyboard.press("j")
    assert not page.locator("[data-open]:focus").count()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_role("button", name="Single-key shortcuts: off").click()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert _focused(page) == "Open claim-0"


def test_queue__exact_times__show_on_focus_and_on_hover_and_leave_on_escape(
    world: World, rita: Key, visit: Visit
) -> None:
    _waiting(world, 1)
    page = visit("rita")
    moment = page.locator(".row .moment").first
    exact = moment.locator(".exact")
    expect(exact).not_to_be_visible()
    moment.focus()
    expect(exact).to_be_visible()
    expect(exact).to_have_text(re.compile(r"\d{4}, \d\d:\d\d:\d\d UTC$"))
    page.keyboard.press("Escape")
    expect(exact).not_to_be_visible()
    moment.hover()
    expect(exact).to_be_visible()


def test_queue__filters__are_a_form_with_an_address(world: World, rita: Key, visit: Visit) -> None:
    _waiting(world)
    page = visit("rita")
    page.get_by_label("Claim key contains").fill("claim-1")
    page.get_by_role("button", name="Filter").click()
    assert "claim_key=claim-1" in page.url
    assert page.locator("[data-row]").count() == 1
    page.get_by_role("link", name="Clear").click()
    assert page.locator("[data-row]").count() == 2


def _focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent")).strip()

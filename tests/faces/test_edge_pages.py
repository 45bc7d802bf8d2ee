"""The edges' half of the review pages as a browser without JavaScript sees it: the same ceremony on both ends."""

from __future__ import annotations

import itertools
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.claims.actions.lifecycle import demote_memory
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind, EdgeState
from memory.graph.models import Edge
from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from review.actions.edge_serve import serve_edge
from review.models import EdgeServe, EdgeVerdict
from review.policy import ReasonCode, VerdictWord
from review.selectors.edge_queue import EdgeQuery, edge_queue
from tests.support.journal import journalled, length
from tests.support.people import Human, human, said
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.nodes import Crew, advance_status, update_crew
from workareas.actions.reassign import reassign
from workareas.models import Key
from workareas.verbs import Capability

CHEAP, DEAR, NOTE = "Tin is cheap on Fridays.", "Tin is dear on Fridays.", "The two quotes cannot both hold"


@pytest.fixture
def rita(world: World) -> Human:
    """A reviewer of the whole tree."""
    return human(world, name="rita")


@pytest.fixture
def proposer(world: World) -> Actor:
    return world.key("proposer")


def _claims(world: World, *, start: str = "a", end: str = "b") -> tuple[str, str]:
    first = world.promoted(on=start, text=CHEAP, claim_key=f"cheap-{next(_numbers)}")
    return first, world.promoted(on=end, text=DEAR, claim_key=f"dear-{next(_numbers)}")


_numbers = itertools.count(1)


def _claim_edge(world: World, by: Actor, *, label: str = "contradicts", note: str = NOTE, **ends: str) -> str:
    first, second = _claims(world, **ends)
    return _propose(by, EdgeKind.CLAIM, label, first, second, note)


def _workarea_edge(by: Actor, start: str = "universe.a", end: str = "universe.b", label: str = "continues") -> str:
    return _propose(by, EdgeKind.WORKAREA, label, start, end, NOTE)


def _propose(by: Actor, kind: EdgeKind, label: str, start: str, end: str, note: str) -> str:
    return str(propose_edge(by, command=ProposeCommand(kind, label, start, end, note=note))["edge_id"])


def _opens(reviewer: Human, edge: str) -> Any:
    answer = reviewer.post(f"/review/edges/{edge}")
    assert answer.status_code == 303, (answer.status_code, said(answer))
    return reviewer.get(answer.headers["Location"])


def _verdict_path(page: Any) -> str:
    found = re.search(r"/review/edge-serves/srv_\w+/verdict", page.content.decode())
    assert found
    return found[0]


def _form(page: Any, **fields: str) -> dict[str, str]:
    """What a browser sends with a verdict: the page's own hidden fields and what was typed."""
    found = re.findall(r'name="((?:seen_\w+)|content_digest)" value="([^"]*)"', page.content.decode())
    return {name: unescape(value) for name, value in found} | fields


def _rows(page: Any) -> int:
    return str(page.content.decode()).count("data-row")


# --- the queue


def test_edges__a_pending_edge__says_what_joins_what_and_neither_note_nor_text(
    world: World, rita: Human, proposer: Actor
) -> None:
    edge = _claim_edge(world, proposer)
    page = rita.get("/review/edges/")
    words = said(page)
    assert re.search(r"cheap-\d+ contradicts dear-\d+", words)
    assert "Claims in universe.a and universe.b" in words
    assert "New; nobody has decided yet" in words
    assert "Your turn 1" in words and "Waiting on others 0" in words
    assert f"/review/edges/{edge}" in page.content.decode()
    for withheld in (CHEAP, DEAR, NOTE):
        assert withheld not in page.content.decode()


def test_queue__edges_wait__their_number_stands_beside_the_submissions(
    world: World, rita: Human, proposer: Actor
) -> None:
    assert "Edges 0 for you" in said(rita.get("/review/"))
    _workarea_edge(proposer)
    assert "Edges 1 for you" in said(rita.get("/review/"))
    assert "1 edge waits for you" in said(rita.get("/review/"))
    world.submit()
    world.submit()
    world.scan()
    assert "Submissions 2 for you" in said(rita.get("/review/edges/"))


def test_edges__own_proposal__waits_for_others_without_a_button(world: World, rita: Human) -> None:
    world.grant(rita.actor, Capability.PROPOSE, on="a")
    edge = _workarea_edge(rita.actor)
    assert "No edge waits for you" in said(rita.get("/review/edges/"))
    page = rita.get("/review/edges/", turn="others")
    assert "You proposed it, R2: another reviewer decides" in said(page)
    assert edge not in page.content.decode()
    refused = rita.post(f"/review/edges/{edge}")
    assert refused.status_code == 403
    assert "review.author" in said(refused)
    assert not EdgeServe.objects.exists()


def test_edges__an_end_was_demoted__waits_with_the_reason(world: World, rita: Human, proposer: Actor) -> None:
    first, second = _claims(world)
    edge = _propose(proposer, EdgeKind.CLAIM, "supports", first, second, "")
    demote_memory(world.admin, artifact=second, reason="It was wrong.")
    assert "No edge waits for you" in said(rita.get("/review/edges/"))
    assert "An endpoint of this edge is no longer promoted" in said(rita.get("/review/edges/", turn="others"))
    refused = rita.post(f"/review/edges/{edge}")
    assert refused.status_code == 409
    assert "review.stale" in said(refused)


def test_edges__counts_of_both_turns__agree_with_each_row_and_with_the_ceremony(
    world: World, rita: Human, proposer: Actor
) -> None:
    """The SQL of a turn, the rule per row and the serve are three tellings of R2; they may never differ."""
    world.grant(rita.actor, Capability.PROPOSE, on="a")
    sponsored = world.key("proposer")
    Key.objects.filter(pk=sponsored.key_id).update(sponsor_id=rita.actor.principal_id)
    sponsor = world.key("proposer")
    Key.objects.filter(pk=rita.actor.key_id).update(sponsor_id=sponsor.principal_id)
    sibling = world.key("proposer", principal=proposer.principal_id)
    labels = iter(("relates_to", "continues", "derived_from", "mirrors"))
    for by in (proposer, rita.actor, sponsored, sponsor):
        _workarea_edge(by, label=next(labels))
    first, second = _claims(world)
    _propose(sibling, EdgeKind.CLAIM, "supports", first, second, "")
    gone = world.promoted()
    _propose(proposer, EdgeKind.CLAIM, "refines", gone, second, "")
    demote_memory(world.admin, artifact=gone, reason="Wrong.")
    whole = edge_queue(rita.actor, query=EdgeQuery())
    mine = edge_queue(rita.actor, query=EdgeQuery(turn="mine"))
    others = edge_queue(rita.actor, query=EdgeQuery(turn="others"))
    expected = {row["edge_id"]: row["may_judge"] for row in whole["items"]}
    assert {row["edge_id"] for row in mine["items"]} == {pk for pk, may in expected.items() if may}
    assert {row["edge_id"] for row in others["items"]} == {pk for pk, may in expected.items() if not may}
    assert whole["counts"] == {"mine": mine["total"], "others": others["total"]} == {"mine": 2, "others": 4}
    for row in whole["items"]:
        assert _serves(rita.actor, row["edge_id"]) == (row["blocked_by"] and row["blocked_by"]["code"])


def _serves(actor: Actor, edge: str) -> str | None:
    try:
        serve_edge(actor, edge=edge)
    except OmlError as refusal:
        return refusal.code
    return None


def test_edges__a_reviewer_of_one_end__sees_nothing_and_opens_nothing(world: World, proposer: Actor) -> None:
    edge = _workarea_edge(proposer)
    sam = human(world, name="sam", on="a")
    for turn in ("mine", "others"):
        assert _rows(sam.get("/review/edges/", turn=turn)) == 0
    known, unknown = sam.post(f"/review/edges/{edge}"), sam.post("/review/edges/we_01AAAAAAAAAAAAAAAAAAAAAAAA")
    assert known.status_code == unknown.status_code == 404
    assert said(known).replace(edge, "X") == said(unknown).replace("we_01AAAAAAAAAAAAAAAAAAAAAAAA", "X")
    assert sam.get(f"/review/edges/{edge}").status_code == 404


def test_edges__another_tenant__sees_nothing(world: World, proposer: Actor) -> None:
    edge = _workarea_edge(proposer)
    eve = human(World.build("other"), name="eve")
    assert _rows(eve.get("/review/edges/")) == 0
    assert eve.get(f"/review/edges/{edge}").status_code == 404


def test_edges__ways_to_be_empty__read_differently(world: World, rita: Human, proposer: Actor) -> None:
    assert "No edge waits for you" in said(rita.get("/review/edges/"))
    assert "No edge waits for others" in said(rita.get("/review/edges/", turn="others"))
    assert "Nothing matches these filters" in said(rita.get("/review/edges/", kind="claim"))
    assert "You review nowhere yet" in said(human(world, name="new", on=None).get("/review/edges/"))


def test_edges__filters__narrow_and_are_kept_in_every_link(world: World, rita: Human, proposer: Actor) -> None:
    _claim_edge(world, proposer, start="a", end="ab")
    _workarea_edge(proposer)
    assert _rows(rita.get("/review/edges/")) == 2
    assert _rows(rita.get("/review/edges/", kind="claim")) == 1
    assert _rows(rita.get("/review/edges/", workarea="universe.b")) == 1
    assert _rows(rita.get("/review/edges/", workarea="universe.ab", kind="workarea")) == 0
    page = rita.get("/review/edges/", workarea="universe.b")
    assert "?workarea=universe.b&amp;turn=others" in page.content.decode()
    assert 'value="universe.b" selected' in page.content.decode()


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("kind", "opinion", 400),
        ("turn", "theirs", 400),
        ("cursor", "tampered", 400),
        ("workarea", "universe.elsewhere", 404),
        ("workarea", "\x00", 400),
    ],
)
def test_edges__a_filter_that_is_none__is_a_typed_page(rita: Human, name: str, value: str, status: int) -> None:
    page = rita.get("/review/edges/", **{name: value})
    assert page.status_code == status
    assert ("access.not_found" if status == 404 else "request.validation") in said(page)


def _many(proposer: Actor, like: str, count: int) -> None:
    """Many pending edges like one, on the table: the proposing path has its own tests."""
    row = Edge.objects.get(pk=like)
    names = [field.attname for field in Edge._meta.concrete_fields]
    rows = []
    for number in range(count):
        row.pk, row.label = f"{like[:-4]}{number:04}", f"label-{next(_numbers)}"
        rows.append(Edge(**{name: getattr(row, name) for name in names}))
    Edge.objects.bulk_create(rows)


def test_edges__more_than_a_page__is_paged_with_the_filters(world: World, rita: Human, proposer: Actor) -> None:
    _many(proposer, _workarea_edge(proposer), 52)
    first = rita.get("/review/edges/", kind="workarea")
    assert "53 in all" in said(first)
    following = re.search(r'href="(\?[^"]*cursor=[^"]*)"', first.content.decode())
    assert following and "kind=workarea" in following[1]
    second = rita.client.get("/review/edges/" + unescape(following[1]))
    assert (_rows(first), _rows(second)) == (50, 3)
    assert "First page" in said(second) and "Next page" not in said(second)
    assert not set(_opened(first)) & set(_opened(second))


def _opened(page: Any) -> list[str]:
    return re.findall(r"/review/edges/(we_\w+)", page.content.decode())


def test_edges__ten_times_the_rows__asks_the_database_as_often(world: World, rita: Human, proposer: Actor) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert rita.get("/review/edges/").status_code == 200
        return len(queries)

    like = _claim_edge(world, proposer)
    asked()  # last_used_at is written at most once a minute
    few = asked()
    _many(proposer, like, 40)
    assert asked() == few
    assert few <= 30


# --- the edge


def test_open__get__asks_and_serves_nothing(world: World, rita: Human, proposer: Actor) -> None:
    edge = _claim_edge(world, proposer)
    before = length(rita.actor.tenant_id)
    page = rita.get(f"/review/edges/{edge}")
    assert page.status_code == 200
    assert "Opening an edge is recorded in the journal" in said(page)
    for withheld in (CHEAP, DEAR, NOTE):
        assert withheld not in page.content.decode()
    assert not EdgeServe.objects.exists()
    assert length(rita.actor.tenant_id) == before


def test_open__post__shows_note_and_both_ends_under_an_address_of_its_own(
    world: World, rita: Human, proposer: Actor
) -> None:
    edge = _claim_edge(world, proposer)
    page = _opens(rita, edge)
    words = said(page)
    for shown in (CHEAP, DEAR, NOTE, "universe.a (committed)", "universe.b (committed)", proposer.key_id):
        assert shown in words
    assert re.search(r"From: cheap-\d+", words) and re.search(r"To: dear-\d+", words)
    assert "It gives nobody access to the other end" in words
    assert page.headers["Cache-Control"] == "no-store"
    body = page.content.decode()
    assert NOTE not in body.split("</head>")[0] and CHEAP not in body.split("</head>")[0]
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|<style|\son\w+=", body)
    assert journalled("review.served")[-1]["channel"] == "console"
    assert journalled("review.served")[-1]["actor"]["key"] == rita.actor.key_id


def test_edge__an_end_that_one_does_not_read__comes_without_its_text(world: World, proposer: Actor) -> None:
    edge = _claim_edge(world, proposer)
    sam = human(world, name="sam")
    world.deny(sam.actor, Capability.READER, on="b")
    page = _opens(sam, edge)
    assert CHEAP in said(page)
    assert DEAR not in page.content.decode()
    assert "Its text is outside what you may read" in said(page)


def test_edge__between_workareas__shows_status_crew_and_what_lies_there(
    world: World, rita: Human, proposer: Actor
) -> None:
    update_crew(world.admin, workarea="universe.b", crew=Crew("Metals crew"))
    world.promoted(on="b")
    world.promoted(on="b")
    words = said(_opens(rita, _workarea_edge(proposer)))
    assert "universe.a continues universe.b" in words
    first, second = words.split("To: universe.b")
    assert "Crew none recorded" in first and "Promoted claims 0" in first
    assert "Crew Metals crew" in second and "Promoted claims 2" in second


def test_edge__what_joins_the_two_already__is_listed_in_its_direction(
    world: World, rita: Human, proposer: Actor
) -> None:
    first, second = _claims(world)
    earlier = _propose(proposer, EdgeKind.CLAIM, "supports", second, first, "")
    page = _opens(rita, earlier)
    rita.post(_verdict_path(page), **_form(page, verdict="ratify"))
    words = said(_opens(rita, _propose(proposer, EdgeKind.CLAIM, "contradicts", first, second, "")))
    assert re.search(r"already dear-\d+ supports cheap-\d+ Ratified", words)
    assert "None: the proposer gave no reason." in words


def test_edge__hostile_note__is_shown_as_text(world: World, rita: Human, proposer: Actor) -> None:
    note = '<script>alert(1)</script>\n  <b>&amp; "quotes"</b>\u200b'
    body = _opens(rita, _claim_edge(world, proposer, note=note)).content.decode()
    assert "<script>alert" not in body
    shown = re.search(r'id="note">(.*?)</div>', body, re.DOTALL)
    assert shown
    assert unescape(re.sub(r"<[^>]+>", "", shown[1])) == note
    assert 'data-label="ZWSP"' in shown[1]


def test_edge__another_reviewer__has_no_such_serve(world: World, rita: Human, proposer: Actor) -> None:
    serve = rita.post(f"/review/edges/{_claim_edge(world, proposer)}").headers["Location"]
    ruth = human(world, name="ruth")
    page = ruth.get(serve)
    assert page.status_code == 404
    assert NOTE not in page.content.decode()
    assert ruth.post(f"{serve}/verdict", content_digest="x", verdict="ratify").status_code == 404


def test_edge__an_items_serve__is_no_serve_of_an_edge(world: World, rita: Human) -> None:
    artifact = world.submit()
    world.scan()
    serve = rita.post(f"/review/items/{artifact}").headers["Location"].rpartition("/")[2]
    assert rita.get(f"/review/edge-serves/{serve}").status_code == 404


def test_edge__more_links_and_claims__ask_the_database_as_often(world: World, rita: Human, proposer: Actor) -> None:
    def asked(edge: str) -> int:
        serve = rita.post(f"/review/edges/{edge}").headers["Location"]
        with CaptureQueriesContext(connection) as queries:
            assert rita.get(serve).status_code == 200
        return len(queries)

    edge = _workarea_edge(proposer)
    _workarea_edge(proposer, label="mirrors")
    few = asked(edge)
    _many(proposer, edge, 10)
    for _ in range(5):
        world.promoted(on="b")
    assert asked(edge) == few
    assert few <= 30


# --- the verdict


def test_verdict__ratify__makes_the_link_and_leads_on(world: World, rita: Human, proposer: Actor) -> None:
    edge, following = _claim_edge(world, proposer), _workarea_edge(proposer)
    page = _opens(rita, edge)
    answer = rita.post(_verdict_path(page), **_form(page, verdict="ratify"))
    assert answer.status_code == 303
    assert Edge.objects.get(pk=edge).state == EdgeState.RATIFIED
    done = rita.get(answer.headers["Location"])
    assert "You ratified it. Whoever reads an end sees the link there." in said(done)
    assert "universe.a continues universe.b edge between workareas" in said(done)
    assert f"/review/edges/{following}" in done.content.decode()
    for withheld in (CHEAP, DEAR, NOTE):
        assert withheld not in done.content.decode()
    assert rita.get(answer.headers["Location"]).status_code == 200  # a reload repeats nothing
    assert EdgeVerdict.objects.count() == 1
    assert journalled("claim.relate_ratified", once=True)


def test_verdict__the_last_edge__leads_to_what_was_submitted(world: World, rita: Human, proposer: Actor) -> None:
    page = _opens(rita, _workarea_edge(proposer))
    artifact = world.submit(claim_key="tin-days")
    world.scan()
    done = rita.get(rita.post(_verdict_path(page), **_form(page, verdict="ratify")).headers["Location"])
    assert "Next for you tin-days memory in universe.a" in said(done)
    assert f"/review/items/{artifact}" in done.content.decode()


def test_verdict__reject_with_a_reason__ends_it(world: World, rita: Human, proposer: Actor) -> None:
    edge = _claim_edge(world, proposer)
    page = _opens(rita, edge)
    fields = _form(page, verdict="reject", reason_code="wrong", reason="They are of two weeks.\r\nAsk the gate.")
    done = rita.get(rita.post(_verdict_path(page), **fields).headers["Location"])
    assert "You rejected it. The link is not made. Reason: Wrong." in said(done)
    assert "Nothing else waits for you" in said(done)
    verdict = EdgeVerdict.objects.get()
    assert (verdict.verdict, verdict.reason_code) == (VerdictWord.REJECT, ReasonCode.WRONG)
    assert verdict.reason == "They are of two weeks.\nAsk the gate."
    assert Edge.objects.get(pk=edge).state == EdgeState.REJECTED
    assert not any("two weeks" in row.canonical for row in JournalEntry.objects.all())


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "reject"},
        {"verdict": "promote"},
        {"verdict": "reject", "reason_code": "because"},
        {"verdict": "reject", "reason": "x" * 4001},
    ],
)
def test_verdict__a_malformed_form__keeps_the_words_and_gives_no_verdict(
    world: World, rita: Human, proposer: Actor, fields: dict[str, str]
) -> None:
    page = _opens(rita, _claim_edge(world, proposer))
    again = rita.post(_verdict_path(page), **_form(page, **fields))
    assert again.status_code == 400
    assert "request.validation" in said(again) and NOTE in said(again)
    assert fields.get("reason", "")[:10] in said(again)
    assert not EdgeVerdict.objects.exists()
    assert rita.post(_verdict_path(page), **_form(page, verdict="ratify")).status_code == 303


def test_verdict__after_its_time__keeps_the_words_and_offers_to_open_again(
    world: World, rita: Human, proposer: Actor
) -> None:
    edge = _claim_edge(world, proposer)
    page = _opens(rita, edge)
    EdgeServe.objects.update(expires_at=now() - timedelta(seconds=1))
    late = rita.post(_verdict_path(page), **_form(page, verdict="reject", reason_code="wrong", reason="Two weeks."))
    words = said(late)
    assert late.status_code == 409
    assert "review.serve_expired" in words and "Your verdict was not counted" in words
    assert "Two weeks." in words and 'value="wrong" selected' in late.content.decode()
    again = rita.post(f"/review/edges/{edge}", reason_code="wrong", reason="Two weeks.")
    assert again.status_code == 200
    assert "Two weeks." in said(again)
    assert _verdict_path(again) != _verdict_path(page)


def test_verdict__an_end_moved_meanwhile__says_what_changed(world: World, rita: Human, proposer: Actor) -> None:
    edge = _workarea_edge(proposer, "universe.a.team")
    page = _opens(rita, edge)
    reassign(world.admin, workarea="universe.a.team", parent="universe.b")
    stale = rita.post(_verdict_path(page), **_form(page, verdict="ratify"))
    assert stale.status_code == 409
    assert "review.stale" in said(stale)
    assert "Place of the first end: universe.a.team (committed) before, universe.b.team (committed) now" in said(stale)
    assert Edge.objects.get(pk=edge).state == EdgeState.PENDING


def test_verdict__somebody_else_decided_first__says_so_and_leads_on(world: World, rita: Human, proposer: Actor) -> None:
    edge, following = _claim_edge(world, proposer), _workarea_edge(proposer)
    page, other = _opens(rita, edge), human(world, name="ruth")
    theirs = _opens(other, edge)
    other.post(_verdict_path(theirs), **_form(theirs, verdict="reject", reason="no"))
    stale = rita.post(_verdict_path(page), **_form(page, verdict="ratify", reason="Both hold."))
    assert stale.status_code == 409
    assert "State of the edge: pending before, rejected now" in said(stale)
    assert f"/review/edges/{following}" in stale.content.decode()
    assert f"/review/edges/{edge}" not in stale.content.decode()
    assert "Both hold." in said(stale)


def test_verdict__twice__counts_once(world: World, rita: Human, proposer: Actor) -> None:
    page = _opens(rita, _claim_edge(world, proposer))
    assert rita.post(_verdict_path(page), **_form(page, verdict="ratify")).status_code == 303
    second = rita.post(_verdict_path(page), **_form(page, verdict="reject", reason="no"))
    assert second.status_code == 409
    assert "review.serve_consumed" in said(second)
    assert EdgeVerdict.objects.get().verdict == VerdictWord.RATIFY


def test_verdict__from_a_validated_workarea__ratify_is_not_offered(world: World, rita: Human, proposer: Actor) -> None:
    edge = _workarea_edge(proposer)
    Edge.objects.filter(pk=edge).update(state=EdgeState.REJECTED)
    advance_status(world.admin, workarea="universe.a", status="validated")
    Edge.objects.filter(pk=edge).update(state=EdgeState.PENDING)
    page = _opens(rita, edge)
    assert 'id="ratify"' not in page.content.decode()
    assert "workarea.frozen" in said(page)
    assert 'id="reject"' in page.content.decode()


def test_verdict__the_proposer_was_banned_meanwhile__is_refused_in_words(
    world: World, rita: Human, proposer: Actor
) -> None:
    page = _opens(rita, _claim_edge(world, proposer))
    add_ban(world.admin, kind="key", value=proposer.key_id, reason=None)
    refused = rita.post(_verdict_path(page), **_form(page, verdict="ratify"))
    assert refused.status_code == 403
    assert "admission.banned" in said(refused) and "Your verdict was not counted" in said(refused)
    assert not EdgeVerdict.objects.exists()


def test_verdict__without_the_forms_token__is_refused(world: World, rita: Human, proposer: Actor) -> None:
    edge = _claim_edge(world, proposer)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = rita.client.cookies
    assert strict.post(f"/review/edges/{edge}").status_code == 403
    assert not EdgeServe.objects.exists()


def test_edge_pages__signed_out_or_with_an_api_key__lead_to_the_sign_in(world: World, client: Client) -> None:
    secret = world.secret[world.reviewer]
    for path in ("/review/edges/", "/review/edges/we_x", "/review/edge-serves/srv_x"):
        assert client.get(path, headers={"Authorization": f"Bearer {secret}"}).status_code == 302
        assert client.get(path).headers["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("kind", ["admin", "reader"])
def test_edge_pages__a_role_that_never_reviews__is_told_so(world: World, kind: str) -> None:
    page = human(world, kind, name="ada").get("/review/edges/")
    assert page.status_code == 403
    assert "access.verb_ceiling" in said(page)

"""The review pages as a browser without JavaScript sees them."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.claims.models import Artifact, ScanReport
from memory.claims.states import Kind, ScanState, State
from oml.core.actor import Role
from oml.core.clock import now
from oml.journal.models import JournalEntry
from review.models import Serve, Verdict
from review.policy import ReasonCode, VerdictWord
from review.selectors.queue import QueueQuery, review_queue
from tests.support.journal import journalled, length
from tests.support.people import Human, hidden, human, said
from tests.support.world import World
from workareas.actions.keys import enrol_human, revoke_key, set_human_access
from workareas.actions.nodes import advance_status, allow_relaxed_review, set_policy
from workareas.models import Principal
from workareas.verbs import Capability

SECRET_WORDS = "Tin is delivered on Fridays at the north gate"


@pytest.fixture
def rita(world: World) -> Human:
    """A reviewer of the whole tree."""
    return human(world, name="rita")


def _held(world: World, **fields: Any) -> str:
    fields.setdefault("text", SECRET_WORDS)
    artifact = world.submit(**fields)
    world.scan()
    return artifact


def _form(page: Any, **fields: str) -> dict[str, str]:
    """What a browser sends with a verdict: the page's own hidden fields and what was typed."""
    body = page.content.decode()
    found = re.findall(r'name="((?:seen_\w+)|content_digest)" value="([^"]*)"', body)
    return {name: unescape(value) for name, value in found} | fields


def _serve_of(page: Any) -> str:
    found = re.search(r"/review/serves/(srv_\w+)/verdict", page.content.decode())
    assert found
    return found[1]


# --- who gets in


def test_review_pages__signed_out__lead_to_the_sign_in(world: World, client: Client) -> None:
    for path in ("/review/", "/review/items/art_x", "/review/serves/srv_x"):
        answer = client.get(path)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/accounts/login/?next=")
    assert client.post("/review/serves/srv_x/verdict").status_code == 302


def test_review_pages__an_api_key__opens_nothing(world: World, client: Client) -> None:
    secret = world.secret[world.reviewer]
    answer = client.get("/review/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 302


def test_sign_in__wrong_password__says_so_without_saying_which(world: World, client: Client) -> None:
    enrol_human(world.admin, username="ines", name="Ines", password="a password of her own", role=Role.DREAMER)
    for name in ("ines", "nobody"):
        page = client.post("/accounts/login/", {"username": name, "password": "wrong"})
        assert page.status_code == 200
        assert "do not match an account" in said(page)


def test_sign_in__right_password__leads_to_the_queue(world: World, client: Client) -> None:
    enrol_human(world.admin, username="ines", name="Ines", password="a password of her own", role=Role.DREAMER)
    answer = client.post("/accounts/login/", {"username": "ines", "password": "a password of her own"})
    assert answer.headers["Location"] == "/"
    assert client.get("/").headers["Location"] == "/review/"
    assert "You review nowhere yet" in said(client.get("/review/"))


def test_home__whoever_signs_in__lands_where_they_have_something_to_do(world: World, client: Client) -> None:
    assert client.get("/").headers["Location"] == "/accounts/login/?next=/"
    assert human(world, "reviewer", name="rita").get("/").headers["Location"] == "/review/"
    assert human(world, "admin", name="ada", staff=True).get("/").headers["Location"] == "/admin/"
    assert human(world, "reader", name="otto").get("/").headers["Location"] == "/review/"


def test_queue__a_human_without_a_key__gets_a_clear_page(world: World, client: Client) -> None:
    person = Principal.objects.create_principal(
        tenant=world.nodes["a"].tenant, username="keyless", name="Keyless", kind="human", password="x" * 16
    )
    client.force_login(person)
    page = client.get("/review/")
    assert page.status_code == 401
    assert "auth.invalid_key" in said(page)
    assert "no key to act under" in said(page)


def test_queue__a_revoked_interactive_key__gets_a_clear_page(world: World, rita: Human) -> None:
    revoke_key(world.admin, key=rita.actor.key_id)
    assert rita.get("/review/").status_code == 401


@pytest.mark.parametrize("kind", ["admin", "reader"])
def test_queue__a_role_that_never_reviews__is_told_so(world: World, kind: str) -> None:
    page = human(world, kind, name="ada").get("/review/")
    assert page.status_code == 403
    assert "access.verb_ceiling" in said(page)
    assert "another role" in said(page)


def test_queue__an_administrator_on_the_staff__is_led_to_the_console(world: World) -> None:
    page = human(world, "admin", name="ada", staff=True).get("/review/")
    assert page.status_code == 403
    assert "To the administration" in said(page)


def test_review_pages__every_answer__is_kept_out_of_caches(world: World, rita: Human) -> None:
    page = rita.opens(_held(world))
    for answer in (page, rita.get("/review/"), rita.get("/review/serves/srv_unknown")):
        assert answer.headers["Cache-Control"] == "no-store"


def test_review_pages__every_page__carries_no_inline_script_or_style(world: World, rita: Human) -> None:
    opened = rita.opens(_held(world, text="with a zero\u200bwidth space"))
    for page in (rita.get("/review/"), opened, rita.get("/review/serves/srv_x"), Client().get("/accounts/login/")):
        body = page.content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)", body)
        assert not re.search(r"\sstyle=|<style|\son\w+=", body)
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]


# --- the queue


def test_queue__held_items__say_why_they_are_here_and_show_no_text(world: World, rita: Human) -> None:
    _held(world, claim_key="tin-days")
    page = rita.get("/review/")
    words = said(page)
    assert page.status_code == 200
    assert "tin-days" in words
    assert "New; nobody has decided yet" in words
    assert "6 days 23 hours left" in words
    assert SECRET_WORDS not in page.content.decode()


def test_queue__own_item__is_among_the_others_and_has_no_button(world: World, rita: Human) -> None:
    mine = _held(world, claim_key="mine")
    Artifact.objects.filter(pk=mine).update(author_principal_id=rita.actor.principal_id)
    assert "Nothing waits for you" in said(rita.get("/review/"))
    page = rita.get("/review/", turn="others")
    assert "You wrote it, R2: another reviewer decides" in said(page)
    assert "/review/items/" not in page.content.decode()


def test_queue__one_of_its_sources_is_mine__says_which_rule(world: World, rita: Human) -> None:
    source = world.promoted()
    derived = world.learn(sources=[source], claim_key="derived")
    world.scan()
    Artifact.objects.filter(pk=source).update(author_principal_id=rita.actor.principal_id)
    page = rita.get("/review/", turn="others")
    assert "You wrote one of its sources, R2: another reviewer decides" in said(page)
    refused = rita.post(f"/review/items/{derived}")
    assert refused.status_code == 403
    assert "review.lineage_author" in said(refused)


def test_queue__unscanned_and_failed__wait_and_read_differently(world: World, rita: Human) -> None:
    world.submit(claim_key="unscanned")
    failed = world.submit(claim_key="failed-one")
    Artifact.objects.filter(pk=failed).update(scan_state=ScanState.FAILED)
    words = said(rita.get("/review/", turn="others"))
    assert "Still being scanned" in words
    assert "A scanner failed and is tried again" in words


def test_queue__an_item_judged_already__waits_for_another_reviewer(world: World, rita: Human) -> None:
    set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
    artifact = _held(world)
    page = rita.opens(artifact)
    rita.post(f"/review/serves/{_serve_of(page)}/verdict", **_form(page, verdict="ratify"))
    assert "Nothing waits for you" in said(rita.get("/review/"))
    assert "You have judged this item; it waits for another reviewer" in said(rita.get("/review/", turn="others"))
    ruth = human(world, name="ruth")
    assert "1 of 2 ratifications given; yours would count" in said(ruth.get("/review/"))


def test_queue__counts_of_both_turns__agree_with_each_row(world: World, rita: Human) -> None:
    """The SQL of a turn and the rule per row are two tellings of R2; they may never differ."""
    source = world.promoted()
    mine = world.promoted()
    Artifact.objects.filter(pk=mine).update(author_key_id=rita.actor.key_id)
    _held(world)
    _held(world, on="b", kind=Kind.STEERING)
    world.learn(sources=[source])
    world.learn(sources=[mine])
    world.learn(sources=[source, mine], on="b")
    world.scan()
    deep = world.promoted(by=world.reviewer2, kind=Kind.MEMORY)
    Artifact.objects.filter(pk=deep).update(previous_id=mine)
    world.learn(sources=[deep])
    world.scan()
    own = _held(world, on="ab")
    Artifact.objects.filter(pk=own).update(author_principal_id=rita.actor.principal_id)
    world.submit(claim_key="unscanned")
    set_policy(world.admin, workarea="universe.b", settings={"lineage_exclusion": False})
    whole = review_queue(rita.actor, query=QueueQuery(limit=100))
    mine_only = review_queue(rita.actor, query=QueueQuery(limit=100, turn="mine"))
    others = review_queue(rita.actor, query=QueueQuery(limit=100, turn="others"))
    expected = {row["artifact_id"]: row["may_judge"] for row in whole["items"]}
    assert {row["artifact_id"] for row in mine_only["items"]} == {pk for pk, may in expected.items() if may}
    assert {row["artifact_id"] for row in others["items"]} == {pk for pk, may in expected.items() if not may}
    assert whole["counts"] == {"mine": len(mine_only["items"]), "others": len(others["items"])}
    assert sorted(expected.values()) == [False] * 4 + [True] * 4


def test_queue__relaxed_review__offers_the_author_their_own_item_but_never_steering(world: World) -> None:
    world = World.build("relaxed", committed=False)
    rosa = human(world, name="rosa")
    allow_relaxed_review(world.admin, allowed=True)
    own, steering = _held(world, claim_key="own"), _held(world, claim_key="rules", kind=Kind.STEERING)
    Artifact.objects.filter(pk__in=[own, steering]).update(author_principal_id=rosa.actor.principal_id)
    mine, others = said(rosa.get("/review/")), said(rosa.get("/review/", turn="others"))
    assert "Open own" in mine and "rules" not in mine
    assert "rules steering" in others and "Open" not in others.split("rules steering")[1].split("left")[0]
    page = rosa.opens(own)
    assert "it will be marked self-signed everywhere" in said(page)
    rosa.post(f"/review/serves/{_serve_of(page)}/verdict", **_form(page, verdict="ratify"))
    assert world.row(own).self_signed


def test_queue__a_reviewer_of_a_subtree__sees_that_subtree_alone(world: World) -> None:
    _held(world, on="a", claim_key="in-a")
    _held(world, on="ab", claim_key="in-ab")
    _held(world, on="b", claim_key="in-b")
    words = said(human(world, name="sam", on="a").get("/review/"))
    assert "in-a" in words
    assert "in-b" not in words and "in-ab" not in words


def test_queue__review_by_a_guardian_permission__counts_like_a_grant(world: World) -> None:
    _held(world, on="a", claim_key="in-a")
    sam = human(world, name="sam", on=None)
    set_human_access(
        world.admin, holder=Principal.objects.get(username="sam"), workarea="universe.a", permission="review"
    )
    assert "in-a" in said(sam.get("/review/"))


def test_queue__another_tenant__sees_nothing_and_opens_nothing(world: World) -> None:
    artifact = _held(world, claim_key="ours")
    eve = human(World.build("other"), name="eve")
    assert "ours" not in said(eve.get("/review/"))
    assert "ours" not in said(eve.get("/review/", turn="others"))
    known, unknown = eve.post(f"/review/items/{artifact}"), eve.post("/review/items/art_01AAAAAAAAAAAAAAAAAAAAAAAA")
    assert known.status_code == unknown.status_code == 404
    assert said(known).replace(artifact, "X") == said(unknown).replace("art_01AAAAAAAAAAAAAAAAAAAAAAAA", "X")


def test_queue__three_ways_to_be_empty__read_differently(world: World, rita: Human) -> None:
    assert "Nothing waits for you" in said(rita.get("/review/"))
    assert "Nothing waits for others" in said(rita.get("/review/", turn="others"))
    assert "Nothing matches these filters" in said(rita.get("/review/", claim_key="zinc"))
    assert "You review nowhere yet" in said(human(world, name="new", on=None).get("/review/"))


def test_queue__filters__narrow_and_are_kept_in_every_link(world: World, rita: Human) -> None:
    _held(world, on="a", claim_key="tin-1")
    _held(world, on="b", claim_key="tin-2", kind=Kind.STEERING)
    _held(world, on="b", claim_key="zinc", text="a zero\u200bwidth space")
    assert _keys(rita.get("/review/", workarea="universe.b")) == {"tin-2", "zinc"}
    assert _keys(rita.get("/review/", kind="steering")) == {"tin-2"}
    assert _keys(rita.get("/review/", scan="flagged")) == {"zinc"}
    assert _keys(rita.get("/review/", author_key=world.writer2.key_id)) == set()
    assert _keys(rita.get("/review/", author_key=world.writer.key_id, claim_key="tin")) == {"tin-1", "tin-2"}
    page = rita.get("/review/", workarea="universe.b", claim_key="tin")
    assert "?workarea=universe.b&amp;claim_key=tin&amp;turn=others" in page.content.decode()
    assert 'value="universe.b" selected' in page.content.decode()


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("kind", "opinion", 400),
        ("scan", "x" * 65, 400),
        ("turn", "theirs", 400),
        ("cursor", "tampered", 400),
        ("claim_key", "a\x00b", 400),
        ("claim_key", "x" * 129, 400),
        ("workarea", "universe.elsewhere", 404),
        ("workarea", "\x00", 400),
    ],
)
def test_queue__a_filter_that_is_none__is_a_typed_page(rita: Human, name: str, value: str, status: int) -> None:
    page = rita.get("/review/", **{name: value})
    assert page.status_code == status
    assert ("access.not_found" if status == 404 else "request.validation") in said(page)


def test_queue__more_than_a_page__is_paged_with_the_filters(world: World, rita: Human) -> None:
    for number in range(53):
        world.submit(claim_key=f"tin-{number:02}")
    world.submit(claim_key="zinc")
    world.scan()
    first = rita.get("/review/", claim_key="tin")
    assert "53 in all" in said(first)
    following = re.search(r'href="(\?[^"]*cursor=[^"]*)"', first.content.decode())
    assert following
    second = rita.client.get("/review/" + unescape(following[1]))
    assert _keys(first) | _keys(second) == {f"tin-{number:02}" for number in range(53)}
    assert len(_keys(first)) == 50 and len(_keys(second)) == 3
    assert "First page" in said(second) and "Next page" not in said(second)


def test_queue__ten_times_the_rows__asks_the_database_as_often(world: World, rita: Human) -> None:
    source = world.promoted()

    def more(count: int) -> None:
        for number in range(count):
            world.submit(on=("a", "b", "ab")[number % 3])
            world.learn(sources=[source])
        world.scan()

    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert rita.get("/review/").status_code == 200
        return len(queries)

    more(2)
    asked()  # last_used_at is written at most once a minute
    few = asked()
    more(20)
    assert asked() == few
    assert few <= 31


def _keys(page: Any) -> set[str]:
    return set(re.findall(r"<h3>([^ <]+)", page.content.decode()))


# --- the item


def test_open__get__asks_and_serves_nothing(world: World, rita: Human) -> None:
    artifact = _held(world)
    before = length(rita.actor.tenant_id)
    page = rita.get(f"/review/items/{artifact}")
    assert page.status_code == 200
    assert "recorded in the journal" in said(page)
    assert SECRET_WORDS not in page.content.decode()
    assert not Serve.objects.exists()
    assert length(rita.actor.tenant_id) == before


def test_open__post__serves_and_shows_the_text_under_its_own_address(world: World, rita: Human) -> None:
    artifact = _held(world, claim_key="tin-days")
    answer = rita.post(f"/review/items/{artifact}")
    assert answer.status_code == 303
    serve = Serve.objects.get()
    assert answer.headers["Location"] == f"/review/serves/{serve.pk}"
    page = rita.get(answer.headers["Location"])
    assert SECRET_WORDS in said(page)
    assert SECRET_WORDS not in page.content.decode().split("</head>")[0]
    assert journalled("review.served", once=True)[0]["actor"]["key"] == rita.actor.key_id
    assert journalled("review.served")[0]["channel"] == "console"


def test_item__another_reviewer__has_no_such_serve(world: World, rita: Human) -> None:
    serve = rita.post(f"/review/items/{_held(world)}").headers["Location"]
    ruth = human(world, name="ruth")
    page = ruth.get(serve)
    assert page.status_code == 404
    assert SECRET_WORDS not in page.content.decode()
    assert ruth.post(f"{serve}/verdict", content_digest="x", verdict="ratify").status_code == 404


def test_item__unscanned__is_not_served(world: World, rita: Human) -> None:
    page = rita.post(f"/review/items/{world.submit()}")
    assert page.status_code == 409
    assert page.headers["Retry-After"] == "5"
    assert "review.scan_pending" in said(page)


def test_item__hostile_text__is_shown_as_text(world: World, rita: Human) -> None:
    text = '<script>alert(1)</script>\r\n\n  <b>&amp; "quotes"</b>\tend'
    body = rita.opens(_held(world, text=text)).content.decode()
    assert "<script>alert" not in body
    shown = re.search(r'id="text">(.*?)</div>\s*</section>', body, re.DOTALL)
    assert shown
    assert unescape(re.sub(r"<[^>]+>", "", shown[1])) == text


def test_item__findings_and_unseen_characters__are_marked_and_the_text_is_unaltered(world: World, rita: Human) -> None:
    text = "pay\u200bment to аcme\u00adcorp"
    page = rita.opens(_held(world, text=text))
    body = page.content.decode()
    shown = re.search(r'id="text">(.*?)</div>\s*</section>', body, re.DOTALL)
    assert shown
    assert unescape(re.sub(r"<[^>]+>", "", shown[1])) == text
    assert 'data-label="ZWSP"' in shown[1] and 'data-label="SHY"' in shown[1]
    assert 'id="finding-1"' in shown[1] and 'href="#finding-1"' in body
    assert "Flagged" in said(page)
    assert "Characters that cannot be seen" in said(page)


def test_item__scanners__clean_flagged_and_not_run_read_differently(world: World, rita: Human) -> None:
    artifact = _held(world, text="zero\u200bwidth")
    ScanReport.objects.filter(artifact=artifact, scanner="secrets").delete()
    words = said(rita.opens(artifact))
    assert "Not run secrets" in words and "did not look; nothing is known" in words
    assert "Flagged unicode" in words
    assert "Clean" not in words.split("Scans")[1].split("Findings")[0]


def test_item__declared_sources__stand_beside_it_as_far_as_readable(world: World) -> None:
    sam = human(world, name="sam", on="a")
    near = world.promoted(on="a", text="The near source.", claim_key="near")
    far = world.promoted(on="b", text="The far source.", claim_key="far")
    derived = world.learn(sources=[near, far], on="a")
    world.scan()
    page = sam.opens(derived)
    words = said(page)
    assert "The near source." in words and "near memory Promoted" in words
    assert "The far source." not in words and far in words
    assert "outside what you may read" in words


def test_item__the_effect__counts_the_keys_that_would_read_it(world: World, rita: Human) -> None:
    words = said(rita.opens(_held(world, on="a")))
    count = re.search(r"readable to (\d+) keys in 1 workarea at once", words)
    assert count
    world.deny(world.reader, Capability.READER, on="a")
    revoke_key(world.admin, key=world.writer2.key_id)
    fewer = re.search(r"readable to (\d+) keys in 1 workarea at once", said(rita.opens(_held(world, on="a"))))
    assert fewer and int(fewer[1]) == int(count[1]) - 2
    world.key("reader", on="a.team")
    world.key("reader", on="a")
    more = re.search(r"readable to (\d+) keys in 2 workareas at once", said(rita.opens(_held(world, on="a"))))
    assert more and int(more[1]) == int(fewer[1]) + 1


# --- the verdict


def test_verdict__ratify__promotes_and_leads_to_what_became_of_it(world: World, rita: Human) -> None:
    artifact, following = _held(world), _held(world, claim_key="next-one")
    page = rita.opens(artifact)
    serve = _serve_of(page)
    answer = rita.post(f"/review/serves/{serve}/verdict", **_form(page, verdict="ratify"))
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/review/serves/{serve}"
    assert world.row(artifact).state == State.PROMOTED
    done = rita.get(answer.headers["Location"])
    words = said(done)
    assert "You ratified it. It is promoted and readable in universe.a" in words
    assert "next-one" in words and f"/review/items/{following}" in done.content.decode()
    assert SECRET_WORDS not in done.content.decode()
    assert journalled("lifecycle.promote", once=True)
    assert rita.get(answer.headers["Location"]).status_code == 200  # a reload repeats nothing
    assert Verdict.objects.count() == 1


def test_verdict__reject_with_a_reason__ends_it(world: World, rita: Human) -> None:
    artifact = _held(world)
    page = rita.opens(artifact)
    serve = _serve_of(page)
    fields = _form(page, verdict="reject", reason_code="wrong", reason="It is Thursdays.\r\nAsk the gate.")
    done = rita.get(rita.post(f"/review/serves/{serve}/verdict", **fields).headers["Location"])
    assert "You rejected it. It is never readable. Reason: Wrong." in said(done)
    assert "Nothing else waits for you" in said(done)
    verdict = Verdict.objects.get()
    assert (verdict.verdict, verdict.reason_code) == (VerdictWord.REJECT, ReasonCode.WRONG)
    assert verdict.reason == "It is Thursdays.\nAsk the gate."
    assert world.row(artifact).state == State.REJECTED
    assert not any("Thursdays" in row.canonical for row in JournalEntry.objects.all())


def test_verdict__reject_without_a_reason__asks_again_and_consumes_nothing(world: World, rita: Human) -> None:
    page = rita.opens(_held(world))
    serve = _serve_of(page)
    again = rita.post(f"/review/serves/{serve}/verdict", **_form(page, verdict="reject"))
    assert again.status_code == 400
    assert "a rejection needs a reason_code or a reason" in said(again)
    assert 'id="reason_code" name="reason_code" aria-invalid="true"' in again.content.decode()
    assert SECRET_WORDS in said(again)
    assert rita.post(f"/review/serves/{serve}/verdict", **_form(page, verdict="ratify")).status_code == 303


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "promote"},
        {"verdict": ""},
        {"verdict": "reject", "reason_code": "because"},
        {"verdict": "reject", "reason": "x" * 4001},
        {"verdict": "reject", "reason": "a\x00b"},
    ],
)
def test_verdict__a_malformed_form__keeps_the_words_and_gives_no_verdict(
    world: World, rita: Human, fields: dict[str, str]
) -> None:
    page = rita.opens(_held(world))
    answer = rita.post(f"/review/serves/{_serve_of(page)}/verdict", **_form(page, **fields))
    assert answer.status_code == 400
    assert "request.validation" in said(answer)
    assert fields.get("reason", "")[:10].replace("\x00", "") in said(answer).replace("\x00", "")
    assert not Verdict.objects.exists()


def test_verdict__after_its_time__keeps_the_words_and_offers_to_open_again(world: World, rita: Human) -> None:
    artifact = _held(world)
    page = rita.opens(artifact)
    serve = _serve_of(page)
    Serve.objects.update(expires_at=now() - timedelta(seconds=1))
    late = rita.post(
        f"/review/serves/{serve}/verdict", **_form(page, verdict="reject", reason_code="wrong", reason="Thursdays.")
    )
    words = said(late)
    assert late.status_code == 409
    assert "review.serve_expired" in words and "Your verdict was not counted" in words
    assert "Nothing of the item itself" in words
    assert "Thursdays." in words and 'value="wrong" selected' in late.content.decode()
    again = rita.post(f"/review/items/{artifact}", reason_code="wrong", reason="Thursdays.")
    assert again.status_code == 200
    assert "Thursdays." in said(again) and 'value="wrong" selected' in again.content.decode()
    assert _serve_of(again) != serve


def test_verdict__the_item_changed_meanwhile__says_what(world: World, rita: Human) -> None:
    artifact = _held(world)
    page = rita.opens(artifact)
    set_policy(world.admin, workarea="universe.a", settings={"min_verdicts": 2})
    stale = rita.post(f"/review/serves/{_serve_of(page)}/verdict", **_form(page, verdict="ratify"))
    assert stale.status_code == 409
    assert "review.stale" in said(stale)
    assert "Version of the review policy: 0 before, 1 now" in said(stale)
    assert world.row(artifact).state == State.HELD


def test_verdict__somebody_else_decided_first__says_so_and_leads_on(world: World, rita: Human) -> None:
    artifact, following = _held(world), _held(world)
    page = rita.opens(artifact)
    world.reject(artifact)
    stale = rita.post(f"/review/serves/{_serve_of(page)}/verdict", **_form(page, verdict="ratify"))
    assert stale.status_code == 409
    assert "State: held before, rejected now" in said(stale)
    assert f"/review/items/{following}" in stale.content.decode()
    assert f"/review/items/{artifact}" not in stale.content.decode()


def test_verdict__twice__counts_once(world: World, rita: Human) -> None:
    page = rita.opens(_held(world))
    path = f"/review/serves/{_serve_of(page)}/verdict"
    assert rita.post(path, **_form(page, verdict="ratify")).status_code == 303
    second = rita.post(path, **_form(page, verdict="reject", reason="no"))
    assert second.status_code == 409
    assert "review.serve_consumed" in said(second)
    assert Verdict.objects.get().verdict == VerdictWord.RATIFY


def test_verdict__into_a_validated_workarea__is_not_offered(world: World, rita: Human) -> None:
    artifact = _held(world, on="b")
    rita_page = rita.opens(artifact)
    assert 'id="ratify"' in rita_page.content.decode()
    Artifact.objects.filter(pk=artifact).update(state=State.REJECTED, cause="withdrawn")
    advance_status(world.admin, workarea="universe.b", status="validated")
    Artifact.objects.filter(pk=artifact).update(state=State.HELD, cause=None)
    page = rita.opens(artifact)
    assert 'id="ratify"' not in page.content.decode()
    assert "workarea.frozen" in said(page)
    assert 'id="reject"' in page.content.decode()


def test_verdict__without_the_forms_token__is_refused(world: World, rita: Human) -> None:
    artifact = _held(world)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = rita.client.cookies
    answer = strict.post(f"/review/items/{artifact}")
    assert answer.status_code == 403
    assert "Nothing was sent" in said(answer)
    assert not Serve.objects.exists()


def test_served__get_after_its_time__offers_to_open_again(world: World, rita: Human) -> None:
    artifact = _held(world)
    serve = rita.post(f"/review/items/{artifact}").headers["Location"]
    Serve.objects.update(expires_at=now() - timedelta(seconds=1))
    page = rita.get(serve)
    assert page.status_code == 409
    assert "Open again" in said(page)
    assert SECRET_WORDS not in page.content.decode()


def test_item__ten_times_the_findings_and_sources__asks_the_database_as_often(world: World, rita: Human) -> None:
    def asked(count: int) -> int:
        sources = [world.promoted() for _ in range(count)]
        artifact = world.learn(sources=sources, text="zero\u200bwidth, " * count)
        world.scan()
        serve = rita.post(f"/review/items/{artifact}").headers["Location"]
        with CaptureQueriesContext(connection) as queries:
            assert rita.get(serve).status_code == 200
        return len(queries)

    _held(world, claim_key="the-next-one")
    few = asked(1)
    assert asked(10) == few
    assert few <= 40


def test_hidden__the_helper__reads_the_digest_of_the_page(world: World, rita: Human) -> None:
    page = rita.opens(_held(world))
    assert hidden(page, "content_digest") == Serve.objects.get().content_digest

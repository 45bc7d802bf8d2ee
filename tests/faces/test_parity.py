"""Every tool and its ``/v1`` twin: the same body, the same typed error, the same traces (D13).

A case is made in one world, asked over HTTP inside a savepoint that is rolled back, then over MCP from the
very same state. What the two answers may differ in is what is fresh by nature: new ids and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from memory.recall.models import ReadLog
from oml.core.actor import Actor, Role
from oml.journal.models import JournalEntry
from oml.mcp.catalog import CATALOG
from tests.support.api import Api
from tests.support.mcp_lab import Caller
from tests.support.world import World
from workareas import quota
from workareas.actions.bans import add_ban
from workareas.actions.keys import set_quota
from workareas.actions.nodes import advance_status

pytestmark = pytest.mark.django_db

Arguments = dict[str, Any]
FRESH = re.compile(r"(art|ce|we)_[0-9A-HJKMNP-TV-Z]{26}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@pytest.fixture
def both(world: World, client: Client) -> Both:
    return Both(world, client)


class Both:
    """Asks one question of both faces."""

    def __init__(self, world: World, client: Client) -> None:
        self.world = world
        self.api = Api(client)
        self.client = client

    def ask(
        self, tool: str, arguments: Arguments, *, by: Actor, after: Callable[[], Any] = lambda: None
    ) -> dict[str, Any]:
        """Assert that both faces answer alike, in both eras, and return the body.

        ``after`` is done before each of the three requests.
        """
        secret = self.world.secret[by]
        with _undone():
            after()
            http, http_traces = _traced(by, lambda: self.over_http(tool, arguments, secret))
        answers = []
        for era in ("legacy", "modern"):
            with _undone():
                after()
                exchange, traces = _traced(
                    by, lambda era=era: Caller(self.client.generic, key=secret).call(tool, arguments, era=era)
                )
            assert exchange.status == 200
            assert traces == http_traces
            assert exchange.header("Retry-After") == http.headers.get("Retry-After")
            assert exchange.result["isError"] is (http.status_code >= 400)
            answers.append(exchange.result["structuredContent"])
        body: dict[str, Any] = http.json()
        assert [_without_fresh(answer) for answer in answers] == [_without_fresh(body)] * 2
        return body

    def over_http(self, tool: str, arguments: Arguments, secret: str) -> Any:
        match tool:
            case "oml_remember":
                return self.api.post("memories", arguments, key=secret)
            case "oml_learn":
                return self.api.post("memories", {**arguments, "verb": "learn"}, key=secret)
            case "oml_recall":
                return self.api.post("recall", arguments, key=secret)
            case "oml_my_work":
                return self.api.get("my-work", key=secret, **arguments)
            case "oml_workarea_info":
                rest = dict(arguments)
                return self.api.get(f"workareas/{rest.pop('workarea')}", key=secret, **rest)
            case "oml_relate_propose":
                return self.api.post("edges", arguments, key=secret)
            case "oml_graph":
                return self.api.post("graph", arguments, key=secret)
            case "oml_events_tail":
                return self.api.get("events", key=secret, **arguments)
        raise AssertionError(f"{tool} has no twin in this test")


@contextmanager
def _undone() -> Iterator[None]:
    quota.forget()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    quota.forget()


def _traced(actor: Actor, ask: Callable[[], Any]) -> tuple[Any, tuple[list[Any], int]]:
    """The answer, and what it left behind: journal events without what is fresh, read log rows."""
    last = JournalEntry.objects.order_by("-id").values_list("id", flat=True).first() or 0
    reads = ReadLog.objects.count()
    answer = ask()
    events = [
        _without_fresh(re.sub(r'"channel":"[a-z]+",?', "", row.canonical))
        for row in JournalEntry.objects.filter(id__gt=last).order_by("id")
    ]
    return answer, ([re.sub(r"[0-9a-f]{64}", "…", event) for event in events], ReadLog.objects.count() - reads)


def _without_fresh(value: Any) -> Any:
    if isinstance(value, str):
        return FRESH.sub("…", value)
    if isinstance(value, dict):
        return {name: _without_fresh(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_fresh(inner) for inner in value]
    return value


def test_parity__of_the_catalog__has_a_twin_for_every_tool(both: Both):
    for tool in CATALOG:
        secret = both.world.secret[both.world.reader]
        response = both.over_http(tool.name, {"workarea": "wa_x"}, secret)
        assert response.json()["error"]["code"] != "request.route"


# --- success --------------------------------------------------------------------------------------


def submission(world: World, **fields: Any) -> Arguments:
    return {"workarea": world.nodes["a"].pk, "claim_key": "quote", "text": "412 USD/t until 2026-11-15.", **fields}


def test_oml_remember__accepted__is_the_v1_answer_and_the_same_journal(both: Both):
    body = both.ask("oml_remember", submission(both.world, kind="steering", tenant="other"), by=both.world.writer)
    assert body["state"] == "held"


def test_oml_remember__with_every_optional_field__is_the_v1_answer(both: Both):
    source = both.world.promoted()
    fields = {
        "workarea": "universe.a.team",
        "derives_from": [source],
        "occurred_at": "2026-10-27T14:11:08Z",
        "thread": "call-7",
        "valid_from": "2026-01-01T00:00:00+01:00",
        "valid_to": "2027-01-01T00:00:00Z",
        "idempotency_key": "run-1/step-2",
    }
    assert both.ask("oml_remember", submission(both.world, **fields), by=both.world.writer)["version"] == 1


def test_oml_remember__replayed_over_the_other_face__is_one_record(both: Both, client: Client):
    arguments = submission(both.world, idempotency_key="run-1")
    secret = both.world.secret[both.world.writer]
    first = both.api.post("memories", arguments, key=secret)
    again = Caller(client.generic, key=secret).call("oml_remember", arguments).result["structuredContent"]
    assert again == {**first.json(), "idempotent_replay": True}
    both.ask("oml_remember", arguments, by=both.world.writer)


def test_oml_learn__with_lineage__is_the_v1_answer_and_the_same_journal(both: Both):
    sources = [both.world.promoted(), both.world.promoted()]
    body = both.ask("oml_learn", submission(both.world, derives_from=sources), by=both.world.writer)
    assert body["lineage_declared"] == 2
    assert body["kind"] == "derived_fact"


def test_oml_recall__with_steering_and_hits__is_the_v1_answer(both: Both):
    both.world.promoted(kind="steering", text="Prefer quotes with an explicit validity date.")
    both.world.promoted(text="Accra Metals quoted 412 USD/t.")
    arguments = {"query": "Accra Metals quote", "scope": "universe.a", "k": 5, "explain": True, "max_chars": 60}
    body = both.ask("oml_recall", {**arguments, "filters": {"kind": "memory"}}, by=both.world.reader)
    assert body["steering"]
    assert body["hits"]


def test_oml_my_work__with_filters_and_pages__is_the_v1_answer(both: Both):
    for _ in range(3):
        both.world.submit()
    page = both.ask("oml_my_work", {"state": "held", "limit": 2}, by=both.world.writer)
    assert len(page["items"]) == 2
    rest = {"state": "held", "limit": 2, "cursor": page["next_cursor"]}
    assert len(both.ask("oml_my_work", rest, by=both.world.writer)["items"]) == 1


def test_oml_workarea_info__by_id_and_by_path__is_the_v1_answer(both: Both):
    by_id = both.ask("oml_workarea_info", {"workarea": both.world.nodes["a"].pk}, by=both.world.writer)
    by_path = both.ask("oml_workarea_info", {"workarea": "universe.a"}, by=both.world.writer)
    assert by_id == by_path
    assert "remember" in by_id["my_effective_verbs"]


def test_oml_relate_propose__between_claims_and_between_workareas__is_the_v1_answer(both: Both):
    proposer = both.world.key("proposer")
    claims = {"kind": "claim", "label": "supports", "from": both.world.promoted(), "to": both.world.promoted()}
    assert both.ask("oml_relate_propose", {**claims, "note": "Same quote."}, by=proposer)["state"] == "pending"
    nodes = {"kind": "workarea", "label": "continues", "from": "universe.a", "to": both.world.nodes["b"].pk}
    assert both.ask("oml_relate_propose", nodes, by=proposer)["label"] == "continues"


def test_oml_relate_propose__asked_again__is_the_existing_edge_or_a_duplicate_alike(both: Both):
    proposer, other = both.world.key("proposer"), both.world.key("proposer")
    edge = {"kind": "workarea", "label": "mirrors", "from": "universe.a", "to": "universe.b"}
    first = both.api.post("edges", edge, key=both.world.secret[proposer]).json()
    assert both.ask("oml_relate_propose", edge, by=proposer)["edge_id"] == first["edge_id"]
    assert both.ask("oml_relate_propose", edge, by=other)["error"]["code"] == "relate.duplicate"


def test_oml_graph__from_roots_and_page_by_page__is_the_v1_answer(both: Both):
    source = both.world.promoted()
    conclusion = both.world.learn(sources=[source])
    both.world.scan()
    both.world.ratify(conclusion)
    walk = {"scope": "universe", "roots": [conclusion], "depth": 1}
    assert both.ask("oml_graph", walk, by=both.world.reader)["edges"]
    page = both.ask("oml_graph", {"scope": "universe", "limit": 1}, by=both.world.reader)
    assert page["truncated"] is True
    rest = {"scope": "universe", "limit": 1, "cursor": page["next_cursor"]}
    assert both.ask("oml_graph", rest, by=both.world.reader)["claims"] != page["claims"]


def test_oml_events_tail__newest_and_after_a_sequence__is_the_v1_answer(both: Both):
    artifact = both.world.promoted()
    newest = both.ask("oml_events_tail", {"scope": "universe"}, by=both.world.reader)
    promoted = [event for event in newest["events"] if event["event_type"] == "lifecycle.promote"]
    assert [event["subject"]["artifact_id"] for event in promoted] == [artifact]
    later = {"scope": "universe", "after_seq": newest["head_seq"], "limit": 5}
    assert both.ask("oml_events_tail", later, by=both.world.reader)["idle"] is True


# --- refusals -------------------------------------------------------------------------------------

READS = [
    ("oml_recall", "scope", {"query": "x"}),
    ("oml_events_tail", "scope", {}),
    ("oml_workarea_info", "workarea", {}),
    ("oml_graph", "scope", {}),
]


@pytest.mark.parametrize(("tool", "field", "others"), READS, ids=[tool for tool, _, _ in READS])
@pytest.mark.parametrize("node", ["wa_unknown", "universe.nowhere", "nonsense", "wa_01JB2XCQ4T8Z9K2M5P7R1VH3ND"])
def test_reads__of_what_the_key_cannot_see__are_refused_alike(
    both: Both, tool: str, field: str, others: Any, node: str
):
    body = both.ask(tool, {**others, field: node}, by=both.world.reader)
    assert body["error"]["code"] == "access.not_found"


WRONG_SUBMISSIONS: list[tuple[str, Arguments, str]] = [
    ("unknown node", {"workarea": "wa_unknown"}, "access.not_found"),
    ("root", {"workarea": "universe"}, "workarea.universe_write"),
    ("no text", {"text": None}, "request.validation"),
    ("text a number", {"text": 5}, "request.validation"),
    ("text with NUL", {"text": "a\x00b"}, "request.validation"),
    ("text with a lone surrogate", {"text": "\ud800"}, "request.validation"),
    ("text too long", {"text": "x" * 32_769}, "limit.size"),
    ("unknown field", {"priority": 1}, "request.validation"),
    ("verdict smuggled in", {"verdict": "ratify"}, "request.validation"),
    ("state smuggled in", {"state": "promoted"}, "request.validation"),
    ("bad claim_key", {"claim_key": "not a key"}, "request.validation"),
    ("bad kind", {"kind": "wish"}, "request.validation"),
    ("too many sources", {"derives_from": [f"art_{n}" for n in range(65)]}, "request.validation"),
    ("a source twice", {"derives_from": ["art_1", "art_1"]}, "request.validation"),
    ("unknown source", {"derives_from": ["art_unknown"]}, "access.not_found"),
    ("unknown simulation", {"simulation_id": "sim_unknown"}, "access.not_found"),
    ("bad idempotency_key", {"idempotency_key": "with space"}, "request.validation"),
    ("bad time", {"occurred_at": "yesterday"}, "request.validation"),
    (
        "validity ends before it starts",
        {"valid_from": "2027-01-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
        "request.validation",
    ),
]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [(wrong, code) for _, wrong, code in WRONG_SUBMISSIONS],
    ids=[name for name, _, _ in WRONG_SUBMISSIONS],
)
@pytest.mark.parametrize("tool", ["oml_remember", "oml_learn"])
def test_submissions__wrong_in_one_thing__are_refused_alike(both: Both, tool: str, wrong: Arguments, code: str):
    arguments = submission(both.world, **wrong)
    if tool == "oml_learn":
        arguments.setdefault("derives_from", [both.world.promoted()])
    body = both.ask(tool, arguments, by=both.world.writer)
    assert body["error"]["code"] == code


def test_oml_learn__without_lineage__is_refused_alike(both: Both):
    for arguments in (submission(both.world), submission(both.world, derives_from=[])):
        body = both.ask("oml_learn", arguments, by=both.world.writer)
        assert body["error"]["code"] == "submission.lineage_required"


def test_submissions__by_a_key_that_may_not__are_refused_alike(both: Both):
    world = both.world
    for actor, code in (
        (world.reader, "access.verb_ceiling"),
        (world.operator, "access.verb_ceiling"),
        (world.reviewer, "access.verb_ceiling"),
        (world.bare_key(Role.WRITER), "access.not_found"),
        (world.key("writer", on="b"), "access.not_found"),
    ):
        assert both.ask("oml_remember", submission(world), by=actor)["error"]["code"] == code


def test_submissions__to_a_frozen_node__are_refused_alike(both: Both):
    advance_status(both.world.admin, workarea=both.world.nodes["b"].pk, status="validated")
    body = both.ask("oml_remember", submission(both.world, workarea="universe.b"), by=both.world.writer)
    assert body["error"]["code"] == "workarea.frozen"


def test_submissions__by_a_banned_author__are_refused_alike(both: Both):
    add_ban(both.world.admin, kind="key", value=both.world.writer.key_id, reason="It wrote nonsense.")
    body = both.ask("oml_remember", submission(both.world), by=both.world.writer)
    assert body["error"]["code"] == "admission.banned"


def test_submissions__of_a_taken_claim_key_or_a_used_idempotency_key__are_refused_alike(both: Both):
    both.world.submit(claim_key="quote", idempotency_key="used")
    taken = both.ask("oml_remember", submission(both.world), by=both.world.writer2)
    assert taken["error"]["code"] == "submission.claim_key_conflict"
    used = submission(both.world, claim_key="other", idempotency_key="used")
    assert both.ask("oml_remember", used, by=both.world.writer)["error"]["code"] == "request.idempotency_mismatch"


CEILINGS: list[tuple[str, Arguments, str]] = [
    ("oml_recall", {"query": "x", "scope": "universe", "k": 51}, "limit.ceiling"),
    ("oml_recall", {"query": "x" * 8_193, "scope": "universe"}, "limit.size"),
    ("oml_recall", {"query": "x", "scope": "universe", "filters": {"kind": "steering"}}, "request.validation"),
    ("oml_my_work", {"limit": 101}, "limit.ceiling"),
    ("oml_my_work", {"cursor": "forged"}, "request.validation"),
    ("oml_my_work", {"surplus": "x"}, "request.validation"),
    ("oml_events_tail", {"scope": "universe", "limit": 501}, "limit.ceiling"),
    ("oml_events_tail", {"scope": "universe", "after_seq": 10**9}, "request.validation"),
    ("oml_events_tail", {"scope": "universe", "after_seq": -1}, "request.validation"),
    ("oml_events_tail", {"scope": "universe", "after_seq": "x"}, "request.validation"),
    ("oml_events_tail", {}, "request.validation"),
    ("oml_workarea_info", {"workarea": "universe.a", "depth": "2"}, "request.validation"),
    ("oml_graph", {"scope": "universe", "depth": 6}, "limit.ceiling"),
    ("oml_graph", {"scope": "universe", "limit": 501}, "limit.ceiling"),
    ("oml_graph", {"scope": "universe", "roots": ["art_unknown"]}, "access.not_found"),
    ("oml_graph", {"scope": "universe", "cursor": "forged"}, "request.validation"),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), CEILINGS)
def test_reads__beyond_what_is_served__are_refused_alike(both: Both, tool: str, arguments: Arguments, code: str):
    assert both.ask(tool, arguments, by=both.world.writer)["error"]["code"] == code


PROPOSALS: list[tuple[Arguments, str]] = [
    ({"label": "likes"}, "relate.label"),
    ({"to": "wa_unknown"}, "access.not_found"),
    ({"to": "universe.a"}, "request.validation"),
    ({"kind": "idea"}, "request.validation"),
    ({"note": 5}, "request.validation"),
]


@pytest.mark.parametrize(("wrong", "code"), PROPOSALS)
def test_oml_relate_propose__wrong_in_one_thing__is_refused_alike(both: Both, wrong: Arguments, code: str):
    edge = {"kind": "workarea", "label": "mirrors", "from": "universe.a", "to": "universe.b", **wrong}
    assert both.ask("oml_relate_propose", edge, by=both.world.key("proposer"))["error"]["code"] == code
    assert both.ask("oml_relate_propose", edge, by=both.world.writer)["error"]["code"] in (code, "access.verb_ceiling")


def test_oml_my_work__with_a_cursor_of_another_key__is_refused_alike(both: Both):
    for _ in range(2):
        both.world.submit()
    cursor = both.ask("oml_my_work", {"limit": 1}, by=both.world.writer)["next_cursor"]
    body = both.ask("oml_my_work", {"limit": 1, "cursor": cursor}, by=both.world.writer2)
    assert body["error"]["code"] == "request.validation"


def test_tools__called_with_an_operator_key__meet_the_role_ceiling_alike(both: Both):
    for tool, arguments in (
        ("oml_my_work", {}),
        ("oml_recall", {"query": "x", "scope": "universe"}),
        ("oml_workarea_info", {"workarea": "universe"}),
        ("oml_events_tail", {"scope": "universe"}),
    ):
        assert both.ask(tool, arguments, by=both.world.operator)["error"]["code"] == "access.verb_ceiling"


def test_tools__beyond_the_tenant_s_quota__say_the_wait_alike(both: Both):
    writer = both.world.writer
    set_quota(both.world.admin, writes_per_minute=1, reads_per_minute=1)
    write = both.ask(
        "oml_remember", submission(both.world), by=writer, after=lambda: quota.take(writer, quota.Quota.WRITE)
    )
    assert write["error"]["code"] == "limit.quota"
    assert write["error"]["retry_after_seconds"] == 60
    question = {"query": "x", "scope": "universe"}
    read = both.ask("oml_recall", question, by=writer, after=lambda: quota.take(writer, quota.Quota.READ))
    assert read["error"]["code"] == "limit.quota"

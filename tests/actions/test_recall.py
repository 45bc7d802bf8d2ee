"""Recall through the product's own doors: submit, scan, serve, verdict, recall."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.actions.supersede import supersede_memory
from memory.claims.commands import VersionCommand
from memory.claims.states import Kind
from memory.recall import index, search, statistics
from memory.recall.commands import RecallCommand, RecallFilters
from memory.recall.embedders import EmbedderUnavailable, embedder, substitute
from memory.recall.models import Passage, ReadLog, ServingRow, TermStatistics
from memory.recall.selectors import recall
from oml.core.errors import CeilingExceeded, SizeExceeded, Validation
from tests.support.world import World
from workareas.actions.reassign import reassign
from workareas.actions.simulations import create_simulation
from workareas.errors import AccessNotFound, OperatorCeiling
from workareas.verbs import Capability


def ask(world: World, query: str, *, scope: str = "universe", by: Any = None, **fields: Any) -> dict[str, Any]:
    return recall(by or world.reader, command=RecallCommand(query=query, scope=scope, **fields))


def found(world: World, query: str, **fields: Any) -> list[str]:
    return [hit["artifact_id"] for hit in ask(world, query, **fields)["hits"]]


def steered(answer: dict[str, Any]) -> list[str]:
    return [row["artifact_id"] for row in answer["steering"]]


class Away:
    """An embedder that is down."""

    model_id = "away"

    def embed(self, texts: Any) -> Any:
        raise EmbedderUnavailable("away")

    def windows(self, text: str) -> list[str]:
        return [text]

    def knows(self, text: str) -> float:
        return 1.0


@pytest.fixture
def no_embedder() -> Any:
    real = embedder("minilm")
    substitute("minilm", Away())
    yield
    substitute("minilm", real)


@pytest.fixture
def approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scope counts as a large one."""
    monkeypatch.setattr(search, "EXACT_ROWS", 0)
    monkeypatch.setattr(search, "OWN_FREQUENCIES", 0)


# What comes back


def test_recall__a_promoted_memory__comes_in_the_seeds_shape(world: World) -> None:
    text = "Supplier Accra Metals quoted 412 USD/t for Q1-2027 delivery. Quote ref AM-7741."
    artifact = world.promoted(on="a.team", text=text, claim_key="supplier-quote-am-7741")
    answer = ask(world, "current aluminium quote Accra Metals", scope=world.nodes["a"].pk)
    (hit,) = answer["hits"]
    assert list(answer) == ["steering", "hits"]
    assert list(hit) == (
        ["artifact_id", "claim_key", "version", "state", "score", "text", "workarea_path", "promoted_at", "attachments"]
    )
    assert (hit["artifact_id"], hit["state"], hit["text"]) == (artifact, "promoted", text)
    assert (hit["workarea_path"], hit["attachments"]) == ("universe.a.team", [])
    assert 0 < hit["score"] < 1


def test_recall__nothing_stored__is_two_empty_lists(world: World) -> None:
    assert ask(world, "anything") == {"steering": [], "hits": []}


def test_recall__k__is_eight_by_default_and_at_most_fifty(world: World) -> None:
    for number in range(10):
        world.submit(text=f"Quote number {number} for aluminium.")
    world.scan()
    for artifact in list(ServingRow.objects.values_list("pk", flat=True)):
        world.ratify(artifact)
    assert len(found(world, "aluminium quote")) == 8
    assert len(found(world, "aluminium quote", k=50)) == 10
    assert len(found(world, "aluminium quote", k=1)) == 1


@pytest.mark.parametrize(
    ("fields", "error", "param"),
    [
        ({"k": 51}, CeilingExceeded, "k"),
        ({"k": 0}, Validation, "k"),
        ({"max_chars": 0}, Validation, "max_chars"),
        ({"query": "x" * 8_193}, SizeExceeded, "query"),
        ({"query": "a\x00b"}, Validation, "query"),
        ({"query": "a\ud800b"}, Validation, "query"),
    ],
)
def test_recall__outside_its_limits__is_refused_and_not_logged(
    world: World, fields: dict[str, Any], error: type[Exception], param: str
) -> None:
    with pytest.raises(error) as refusal:
        ask(world, **{"query": "x", **fields})
    assert refusal.value.param == param  # type: ignore[attr-defined]
    assert not ReadLog.objects.exists()


def test_recall__explained__says_where_the_score_comes_from(world: World) -> None:
    world.promoted(text="Accra quoted aluminium.")
    (hit,) = ask(world, "aluminium", explain=True)["hits"]
    assert set(hit["explain"]) == {"lexical", "vector", "neighbours"}
    assert hit["explain"]["lexical"] > 0
    assert "explain" not in ask(world, "aluminium")["hits"][0]


# Steering


def test_recall__steering__comes_first_unranked_and_whatever_was_asked(world: World) -> None:
    low = world.promoted(on="a.team", kind=Kind.STEERING, text="Prefer dated quotes.")
    high = world.promoted(on="a", kind=Kind.STEERING, text="Treat undated quotes as expired.")
    later = world.promoted(on="a", kind=Kind.STEERING, text="Ask for validity.")
    world.promoted(on="b", kind=Kind.STEERING, text="Somewhere else.")
    hit = world.promoted(on="a", text="A cat sleeps on the sofa.")
    answer = ask(world, "cat", scope="universe.a", k=1, filters=RecallFilters(kind="memory"))
    assert steered(answer) == [high, later, low]
    assert set(answer["steering"][0]) == {"artifact_id", "kind", "text", "workarea_path"}
    assert [row["artifact_id"] for row in answer["hits"]] == [hit]
    assert steered(ask(world, "nothing of the kind", scope="universe.a.team")) == [high, later, low]
    assert hit not in steered(answer)


def test_recall__steering_of_an_unreadable_ancestor__is_absent(world: World) -> None:
    world.promoted(on="a", kind=Kind.STEERING, text="For the parent.")
    mine = world.promoted(on="a.team", kind=Kind.STEERING, text="For the team.")
    assert steered(ask(world, "x", scope="universe.a.team", by=world.key("reader", on="a.team"))) == [mine]


def test_recall__more_than_fifty_steering_rows__says_so(world: World) -> None:
    ids = [world.submit(kind=Kind.STEERING, text=f"Rule {number}.") for number in range(51)]
    world.scan()
    for artifact in ids:
        world.ratify(artifact)
    answer = ask(world, "x")
    assert steered(answer) == ids[:50]
    assert answer["steering_truncated"] is True


# Who sees what (R3, D7, D10)


def test_recall__held_or_rejected__is_seen_by_nobody_not_even_its_author(world: World) -> None:
    world.submit(text="Held aluminium quote.")
    world.scan()
    rejected = world.submit(text="Rejected aluminium quote.")
    world.scan()
    world.reject(rejected)
    for actor in (world.writer, world.reader, world.reviewer, world.admin):
        assert ask(world, "aluminium quote", by=actor)["hits"] == []


def test_recall__demoted__is_gone_at_once(world: World) -> None:
    artifact = world.promoted(text="A quote for aluminium.")
    demote_memory(world.admin, artifact=artifact, reason="no longer true")
    assert found(world, "aluminium") == []
    assert not ServingRow.objects.exists() and not Passage.objects.exists()


def test_recall__erased__is_gone_with_its_vectors_terms_and_counts(world: World) -> None:
    artifact = world.promoted(text="Zorblatt quoted. The price was high. Zorblatt again.")
    other = world.promoted(text="Zorblatt is a supplier.")
    statistics.refresh(world.reader.tenant_id)
    receipt = erase_memory(world.admin, artifact=artifact, reason="asked for")
    statistics.refresh(world.reader.tenant_id)
    assert receipt["destroyed"]["search_rows"] == 4
    assert found(world, "Zorblatt") == [other]
    assert list(ServingRow.objects.values_list("pk", flat=True)) == [other]
    assert set(Passage.objects.values_list("row", flat=True)) <= {other}
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(t::text, ' ') FROM memory_servingrow t")
        assert "zorblatt" not in cursor.fetchone()[0].lower()


def test_recall__a_new_version__serves_the_old_until_it_is_ratified_itself(world: World) -> None:
    first = world.promoted(text="Aluminium costs 412.")
    second = supersede_memory(world.writer, command=VersionCommand(artifact=first, text="Aluminium costs 420."))[
        "artifact_id"
    ]
    world.scan()
    assert found(world, "aluminium") == [first]
    world.ratify(second)
    assert found(world, "aluminium") == [second]


def test_recall__a_sibling_whose_name_begins_alike__is_outside_the_scope(world: World) -> None:
    inside = world.promoted(on="a.team", text="Aluminium in a.")
    world.promoted(on="ab", text="Aluminium in ab.")
    assert found(world, "aluminium", scope="universe.a") == [inside]
    assert found(world, "aluminium", scope="universe.a", by=world.key("reader", on="a")) == [inside]


def test_recall__a_denied_subtree__is_absent_and_lends_nothing(world: World) -> None:
    secret = world.promoted(on="a.team", text="Caroline: The vault code is 7741.", thread="t")
    open_one = world.promoted(on="a", text="Caroline: We talked.", thread="t")
    reader = world.key("reader", on="a")
    world.deny(reader, Capability.READER, on="a.team")
    answer = ask(world, "vault code 7741", scope="universe.a", by=reader, explain=True)
    assert [hit["artifact_id"] for hit in answer["hits"]] == [open_one]
    assert answer["hits"][0]["explain"]["neighbours"] == 0
    assert set(found(world, "vault code", scope="universe.a")) == {secret, open_one}


def test_recall__an_unreadable_or_unknown_scope__is_not_found(world: World) -> None:
    reader = world.key("reader", on="a")
    for scope in ("universe.b", "universe", world.nodes["b"].pk, "wa_unknown", "%", "universe.a%"):
        with pytest.raises(AccessNotFound):
            ask(world, "x", scope=scope, by=reader)
    with pytest.raises(OperatorCeiling):
        ask(world, "x", by=world.operator)


def test_recall__two_tenants__never_meet(world: World) -> None:
    other = World.build("umbrella")
    mine = world.promoted(text="Aluminium quote of ours.")
    theirs = other.promoted(text="Aluminium quote of theirs.")
    assert found(world, "aluminium quote") == [mine]
    assert found(other, "aluminium quote") == [theirs]


def test_recall__a_simulated_row__is_seen_inside_its_audience_alone(world: World) -> None:
    insiders = [world.writer.key_id, world.reviewer.key_id, world.reader.key_id]
    simulation = create_simulation(world.admin, name="what if", audience=insiders)
    row = world.promoted(text="Simulated aluminium.", simulation_id=simulation.pk)
    guide = world.promoted(kind=Kind.STEERING, text="Simulated rule.", simulation_id=simulation.pk)
    inside, outside = ask(world, "aluminium"), ask(world, "aluminium", by=world.writer2)
    assert ([hit["artifact_id"] for hit in inside["hits"]], steered(inside)) == ([row], [guide])
    assert outside == {"steering": [], "hits": []}


def test_recall__outside_its_validity__is_absent(world: World) -> None:
    now = datetime.now(UTC)
    world.promoted(text="Old aluminium quote.", valid_to=now - timedelta(days=1))
    world.promoted(text="Future aluminium quote.", valid_from=now + timedelta(days=1))
    world.promoted(kind=Kind.STEERING, text="Old rule.", valid_to=now - timedelta(days=1))
    valid = world.promoted(
        text="Aluminium quote.", valid_from=now - timedelta(days=1), valid_to=now + timedelta(days=1)
    )
    answer = ask(world, "aluminium quote")
    assert [hit["artifact_id"] for hit in answer["hits"]] == [valid]
    assert answer["steering"] == []


def test_recall__after_a_reassign__follows_the_new_path(world: World) -> None:
    artifact = world.promoted(on="a.team", text="Aluminium.")
    reassign(world.admin, workarea="universe.a.team", parent="universe.b")
    assert found(world, "aluminium", scope="universe.a") == []
    assert found(world, "aluminium", scope="universe.b") == [artifact]
    assert ServingRow.objects.get().path == "universe.b.team"


# Filters and budget


def test_recall__filters__narrow_the_hits(world: World) -> None:
    day = datetime(2026, 10, 27, tzinfo=UTC)
    source = world.promoted(text="Aluminium one.", claim_key="a_b/1", occurred_at=day)
    fact = world.learn(sources=[source], text="Aluminium two.", claim_key="axb/2")
    world.scan()
    world.ratify(fact)
    third = world.promoted(world.writer2, text="Aluminium three.", claim_key="c", occurred_at=day + timedelta(days=9))

    def only(**filters: Any) -> set[str]:
        return set(found(world, "aluminium", filters=RecallFilters(**filters)))

    assert only() == {source, fact, third}
    assert only(kind="derived_fact") == {fact}
    assert only(author_key=world.writer2.key_id) == {third}
    assert only(claim_key_prefix="a_b") == {source}
    assert only(claim_key_prefix="%") == set()
    assert only(claim_key_prefix="\\") == set()
    assert only(occurred_from=day, occurred_to=day) == {source}
    assert only(occurred_from=day + timedelta(seconds=1)) == {third}
    moment = world.row(fact).promoted_at
    assert only(promoted_from=moment, promoted_to=moment) == {fact}


def test_recall__a_byte_budget__is_kept_and_what_was_cut_is_said(world: World) -> None:
    world.promoted(kind=Kind.STEERING, text="Ask first.")
    for _ in range(3):
        world.promoted(text="Größe " * 50)
    answer = ask(world, "Größe", max_chars=500)
    texts = [row["text"] for part in ("steering", "hits") for row in answer[part]]
    assert sum(len(text.encode()) for text in texts) <= 500
    assert answer["steering"][0]["text"] == "Ask first."
    assert [hit.get("text_truncated") for hit in answer["hits"]] == [None, True]
    assert answer["truncated_hits"] == 1
    assert "truncated_hits" not in ask(world, "Größe")


# What is found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "The service is written in C++ and Go."),
        ("GB/s", "The bus does 3 GB/s."),
        ('foo(bar"', "We call foo(bar) twice."),
        ("a:b -c", "The ratio a:b is kept."),
        ("am-7741", "Quote ref AM-7741."),
        ("天气", "东京的天气很好。"),
        ("東京", "昨日は東京に行きました。"),
        ("강아지", "강아지를 산책시켰다."),
        ("школа", "Они пошли в школу."),
        ("Häuser", "Ich habe die Häuser noch nicht gesehen, und das Angebot ist alt."),
        ("cafe", "We met at the Café."),
        ("go camp", "She went camping with her children."),
        ("child", "She went camping with her children."),
    ],
)
def test_recall__words_alone__find_the_row(world: World, no_embedder: None, query: str, text: str) -> None:
    for number in range(3):
        world.submit(text=f"Something else altogether, number {number}.")
    wanted = world.submit(text=text)
    world.scan()
    for artifact in list(ServingRow.objects.values_list("pk", flat=True)):
        world.ratify(artifact)
    answer = ask(world, query)
    assert [hit["artifact_id"] for hit in answer["hits"]] == [wanted]
    assert answer["degraded"] == ["vector"]


@pytest.mark.parametrize(
    "query",
    [
        "%_\\",
        "' OR 1=1 --",
        "the of and",
        "?",
        "",
        "   ",
        "👩‍👩‍👧",
        "x" * 8_192,
        "word " * 1_600,
        "\u202eevil",
        "é\u0301",
    ],
)
def test_recall__an_odd_query__is_answered(world: World, query: str) -> None:
    world.promoted(text="A quote for aluminium.")
    assert set(ask(world, query)) == {"steering", "hits"}


def test_recall__no_word_in_common__finds_by_meaning(world: World) -> None:
    wanted = world.promoted(text="Accra undercut every other supplier of aluminium.")
    world.promoted(text="The cat sleeps on the sofa all day.")
    assert found(world, "Who sold metal cheaply?")[0] == wanted


def test_recall__the_last_sentence_of_a_long_text__is_found_by_meaning(world: World) -> None:
    filler = "We talked about the weather and had some tea. " * 120
    wanted = world.promoted(text=filler + "The key of the vault lies under the flower pot.")
    for _ in range(3):
        world.promoted(text=filler)
    assert Passage.objects.filter(row=wanted, window=True, promoted=True).exists()
    assert found(world, "Where can I find what opens the safe?")[0] == wanted


def test_recall__a_turn_beside_the_words__is_lifted_by_its_neighbours(world: World) -> None:
    day = datetime(2026, 10, 27, tzinfo=UTC)
    for number in range(6):
        world.promoted(text=f"Melanie: Small talk number {number}.", thread="other", occurred_at=day)
    question = world.promoted(text="Melanie: Which instrument does the orchestra need?", thread="s", occurred_at=day)
    reply = world.promoted(text="Caroline: A violin.", thread="s", occurred_at=day + timedelta(minutes=1))
    answer = ask(world, "instrument for the orchestra", explain=True)
    assert {hit["artifact_id"] for hit in answer["hits"][:2]} == {question, reply}
    parts = {hit["artifact_id"]: hit["explain"] for hit in answer["hits"]}
    assert parts[reply]["neighbours"] > 0


def test_recall__the_speaker_named_in_the_query__comes_first(world: World) -> None:
    hers = world.promoted(text="Caroline: I painted a sunrise.")
    his = world.promoted(text="Mark: I painted a sunrise.")
    assert found(world, "What did Mark paint?") == [his, hers]
    assert found(world, "What did Caroline's brush paint?") == [hers, his]


def test_recall__a_large_scope__finds_what_a_small_one_does(world: World, approximate: None) -> None:
    wanted = world.promoted(text="Accra Metals quoted 412 USD/t for aluminium, ref AM-7741.")
    for number in range(20):
        world.promoted(text=f"Melanie: Small talk number {number} about the weather.")
    assert statistics.refresh_changed() == 1
    assert found(world, "AM-7741")[0] == wanted
    assert found(world, "cheap metal offer")[0] == wanted
    assert found(world, "AM-7741", scope="universe.b") == []
    assert statistics.refresh_changed() == 0


# The embedder comes and goes


def test_recall__submitted_while_the_embedder_was_away__is_embedded_when_it_is_back(world: World) -> None:
    real = embedder("minilm")
    substitute("minilm", Away())
    try:
        artifact = world.promoted(text="Accra undercut every other supplier. It was cheap.")
        assert ask(world, "undercut")["degraded"] == ["vector"]
    finally:
        substitute("minilm", real)
    assert ask(world, "undercut")["degraded"] == ["vector"]
    assert index.embed_missing() == 1
    assert index.embed_missing() == 0
    answer = ask(world, "Who sold metal cheaply?")
    assert "degraded" not in answer
    assert [hit["artifact_id"] for hit in answer["hits"]] == [artifact]
    assert Passage.objects.filter(row=artifact).count() == 2


def test_prepare__twice__leaves_one_row_as_it_was(world: World) -> None:
    artifact = world.promoted(text="Accra quoted. It was cheap.")
    before = ServingRow.objects.values().get(), Passage.objects.count()
    index.prepare([world.row(artifact)])
    assert (ServingRow.objects.values().get(), Passage.objects.count()) == before


def test_publish__a_row_that_was_never_prepared__is_built(world: World) -> None:
    artifact = world.promoted(text="Accra quoted.")
    index.erase(artifact)
    index.publish(world.row(artifact))
    assert found(world, "Accra") == [artifact]


# The read log and the cost


def test_recall__answered__is_in_the_read_log_without_the_query(world: World) -> None:
    guide = world.promoted(kind=Kind.STEERING, text="Ask first.")
    hit = world.promoted(text="A quote for aluminium.")
    ask(world, "aluminium secretword", scope="universe.a")
    row = ReadLog.objects.get(surface="recall")
    assert (row.key_id, row.principal_id) == (world.reader.key_id, world.reader.principal_id)
    assert (row.workarea_id, row.returned) == (world.nodes["a"].pk, [guide, hit])
    assert len(row.query_digest or "") == 64
    assert "secretword" not in str(ReadLog.objects.values().get(pk=row.pk))


def test_recall__more_rows__costs_no_more_statements(world: World) -> None:
    def statements(query: str, **fields: Any) -> int:
        with CaptureQueriesContext(connection) as captured:
            ask(world, query, **fields)
        return len(captured)

    world.promoted(text="Caroline: A quote for aluminium.", thread="t")
    few = statements("aluminium quote Caroline")
    for number in range(12):
        kind = Kind.STEERING if number % 3 == 0 else Kind.MEMORY
        world.promoted(text=f"Caroline: Quote {number} for aluminium.", thread="t", kind=kind)
    assert statements("aluminium quote Caroline") == few
    assert statements("?!") == few
    assert statements("word " * 1_000, k=50, explain=True, filters=RecallFilters(kind="memory")) == few


def test_refresh__statistics__count_terms_of_promoted_rows_that_more_than_one_has(world: World) -> None:
    world.promoted(text="aluminium quote")
    world.promoted(text="aluminium price")
    world.submit(text="aluminium held")
    world.scan()
    statistics.refresh(world.reader.tenant_id)
    rows = dict(TermStatistics.objects.values_list("place", "documents"))
    assert sorted(rows.values()) == [2, 2]
    total, documents = statistics.frequencies(world.reader.tenant_id, [next(p for p in rows if p), 99])
    assert (total, sorted(documents.values())) == (2, [1, 2])

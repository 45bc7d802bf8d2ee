"""Gather and timeline: found by words, by meaning and by what is declared; never another principal's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from memory.recall.embedders import EmbedderUnavailable, substitute
from memory.records import derive, rebuild
from memory.records.chunks import LENGTH, chunks
from memory.records.models import Record, RecordChunk, RecordProperty, RecordTag
from memory.records.sentences import sentences
from oml.jobs import outbox
from tests.support.records import HARD, Records, code_of
from tests.support.world import World

pytestmark = pytest.mark.django_db

FACTS = {
    "quote": ("Accra Metals quoted 412 USD/t for aluminium, ref AM-7741.", "documentary", ["org:Accra", "topic:price"]),
    "cat": ("The office cat is called Minka and sleeps on the printer.", "observed", ["topic:office"]),
    "call": ("Sarah said on the phone that the renewal slips to March.", "testimonial", ["org:Acme", "topic:renewal"]),
}


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


@pytest.fixture
def facts(records: Records) -> dict[str, str]:
    made = {
        name: records.ingest(text, source_type=kind, properties=properties)
        for name, (text, kind, properties) in FACTS.items()
    }
    records.ingest("Accra Metals is mine alone, said the other agent.", by=records.world.writer2)
    outbox.drain_all()
    return made


def gather(records: Records, **asked: Any) -> list[dict[str, Any]]:
    answer = records.call("POST", "/v1/records/gather", asked)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["records"])


def names(found: list[dict[str, Any]], facts: dict[str, str]) -> list[str]:
    by_id = {sr_id: name for name, sr_id in facts.items()}
    return [by_id[one["sr_id"]] for one in found]


def test_gather__by_words_and_by_meaning__finds_the_record_and_no_strangers(
    records: Records, facts: dict[str, str]
) -> None:
    assert names(gather(records, query="AM-7741"), facts)[0] == "quote"
    assert names(gather(records, query="a pet animal", k=1), facts) == ["cat"]
    first = gather(records, query="Accra Metals")[0]
    assert first["content"] == FACTS["quote"][0]
    assert first["score"] > 0
    assert {one["sr_id"] for one in gather(records, query="Accra Metals")} <= set(facts.values())


def test_gather__without_a_query__is_newest_first(records: Records, facts: dict[str, str]) -> None:
    assert names(gather(records), facts) == ["call", "cat", "quote"]
    assert names(gather(records, k=1), facts) == ["call"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"properties": ["org:Acme"]}, ["call"]),
        ({"properties": ["topic:renewal", "org:Acme"]}, ["call"]),
        ({"properties": ["topic:renewal", "org:Accra"]}, []),
        ({"properties": ["code:AM-7741"]}, ["quote"]),
        ({"source_type": "observed"}, ["cat"]),
        ({"min_authority": 65}, ["cat", "quote"]),
        ({"min_authority": 81}, []),
        ({"query": "renewal", "min_authority": 61}, ["cat", "quote"]),
    ],
)
def test_gather__filtered__has_only_what_has_it_all(
    records: Records, facts: dict[str, str], asked: dict[str, Any], expected: list[str]
) -> None:
    assert sorted(names(gather(records, **asked), facts)) == sorted(expected)


def test_gather__in_a_lane__is_of_that_lane_alone(records: Records, facts: dict[str, str]) -> None:
    records.call("POST", "/v1/lanes", {"label": "crm"})
    sr_id = records.ingest("ticket", assign_lane="crm")
    assert [one["sr_id"] for one in gather(records, lanes=["crm"])] == [sr_id]
    answer = records.call("POST", "/v1/records/gather", {"lanes": ["crm", "nowhere"]})
    assert (code_of(answer), answer.json()["error"]["param"]) == ("access.not_found", "lanes[1]")


def test_gather__of_a_removed_record__does_not_have_it(records: Records, facts: dict[str, str]) -> None:
    records.call("DELETE", f"/v1/records/{facts['quote']}")
    assert "quote" not in names(gather(records, query="AM-7741"), facts)
    outbox.drain_all()
    assert not RecordChunk.objects.filter(record=facts["quote"]).exists()


def test_gather__after_an_update__finds_the_new_content_and_its_tags(records: Records, facts: dict[str, str]) -> None:
    records.update(facts["cat"], content="The dog is called Rex, see #kennel and https://pets.example.org/rex")
    outbox.drain_all()
    assert names(gather(records, query="Rex", k=1), facts) == ["cat"]
    assert names(gather(records, properties=["hashtag:kennel", "host:pets.example.org"]), facts) == ["cat"]
    assert gather(records, properties=["code:MINKA-1"]) == []
    assert set(RecordTag.objects.filter(record=facts["cat"]).values_list("tag", flat=True)) == {
        "hashtag:kennel",
        "host:pets.example.org",
    }


def test_gather__unique_word_at_the_end_of_a_megabyte__finds_it_and_says_how_far_vectors_reach(
    records: Records, facts: dict[str, str]
) -> None:
    filler = "The quick brown fox jumps over the lazy dog. " * (2**20 // 45)
    with override_settings(EMBED_MAX_CHUNKS=3):
        answer = records.call("POST", "/v1/records", {"content": filler + "zyxwvut at last", "sync": True}).json()
        index = answer["index"]
        assert (index["state"], index["vectors"]) == ("ready", 3)
        assert index["chunks"] > 800
        first = gather(records, query="zyxwvut")[0]
    assert first["sr_id"] == answer["sr_id"]
    assert first["chunks_without_vector"] == index["chunks"] - 3
    assert first["content_truncated"] is True
    assert "zyxwvut" in first["content"]
    rows = RecordChunk.objects.filter(record=answer["sr_id"]).order_by("ordinal")
    assert [row.embedding is not None for row in rows[:5]] == [True, True, True, False, False]
    assert all(row.text for row in rows)
    assert "".join(row.text for row in rows) == filler + "zyxwvut at last"


def test_sync__of_a_small_record__is_searchable_at_once(records: Records) -> None:
    answer = records.call("POST", "/v1/records", {"content": "Walrus.", "sync": True}).json()
    assert answer["index"] == {"state": "ready", "chunks": 1, "vectors": 1}
    assert [one["sr_id"] for one in gather(records, query="walrus")] == [answer["sr_id"]]
    again = records.update(answer["sr_id"], content="Penguin.", sync=True)
    assert again["index"]["state"] == "ready"
    assert gather(records, query="penguin", k=1)[0]["content"] == "Penguin."


def test_gather__while_the_embedder_is_away__goes_on_with_words_and_vectors_follow(records: Records) -> None:
    class Away:
        model_id = "away"

        def windows(self, text: str) -> list[str]:
            return [text]

        def embed(self, texts: list[str]) -> None:
            raise EmbedderUnavailable

    substitute("minilm", Away())  # type: ignore[arg-type]
    try:
        sr_id = records.call("POST", "/v1/records", {"content": "Walrus.", "sync": True}).json()["sr_id"]
        answer = records.call("POST", "/v1/records/gather", {"query": "walrus"}).json()
    finally:
        substitute("minilm", None)
    assert [one["sr_id"] for one in answer["records"]] == [sr_id]
    assert answer["degraded"] == ["vector"]
    assert derive.embed_missing() == 1
    assert "chunks_without_vector" not in gather(records, query="walrus")[0]


def test_timeline__in_pages_both_ways__has_every_record_once(records: Records, facts: dict[str, str]) -> None:
    def pages(order: str) -> list[str]:
        seen, cursor = [], ""
        while True:
            rest = f"&cursor={cursor}" if cursor else ""
            page = records.call("GET", f"/v1/records/timeline?limit=2&order={order}{rest}").json()
            seen += names(page["records"], facts)
            if page["next_cursor"] is None:
                return seen
            cursor = page["next_cursor"]

    assert pages("asc") == ["quote", "cat", "call"]
    assert pages("desc") == ["call", "cat", "quote"]


def test_timeline__by_time_property_and_lane__is_only_that(records: Records, facts: dict[str, str]) -> None:
    at = records.read(facts["cat"])["ingested_at"]
    later = records.call("GET", f"/v1/records/timeline?since={at}").json()["records"]
    assert names(later, facts) == ["cat", "call"]
    two = "properties=org:Acme&properties=topic:renewal"
    assert names(
        records.call("GET", f"/v1/records/timeline?{two}&until=2100-01-01T00:00:00Z").json()["records"], facts
    ) == ["call"]
    assert code_of(records.call("GET", "/v1/records/timeline?since=2026-01-01T00:00:00")) == "request.validation"
    cursor = records.call("GET", "/v1/records/timeline?limit=1").json()["next_cursor"]
    other = records.call("GET", f"/v1/records/timeline?limit=1&order=desc&cursor={cursor}")
    assert code_of(other) == "request.validation"


def test_ceilings__of_gather_and_timeline__refuse(records: Records) -> None:
    assert code_of(records.call("POST", "/v1/records/gather", {"k": 51})) == "limit.ceiling"
    assert code_of(records.call("POST", "/v1/records/gather", {"k": 0})) == "request.validation"
    assert code_of(records.call("GET", "/v1/records/timeline?limit=101")) == "limit.ceiling"


def test_rebuild_records__of_everything_derived__writes_the_same_rows(records: Records, facts: dict[str, str]) -> None:
    records.ingest(HARD * 400, properties=["x:1"])
    records.ingest(json.dumps({"account": "Acme", "seats": 240}))
    records.call("DELETE", f"/v1/records/{facts['cat']}")
    outbox.drain_all()

    def rows() -> list[Any]:
        return [
            list(Record.objects.order_by("pk").values()),
            list(
                RecordProperty.objects.order_by("record", "ordinal").values_list("record", "ordinal", "label", "value")
            ),
            list(RecordTag.objects.order_by("record", "tag").values_list("record", "extractor", "tag")),
            [
                (one.record_id, one.ordinal, one.text, one.lexemes, str(one.lexical), str(one.embedding), one.model_id)
                for one in RecordChunk.objects.order_by("record", "ordinal")
            ],
        ]

    before = rows()
    assert len(before[3]) > 5
    RecordChunk.objects.all().delete()
    RecordTag.objects.all().delete()
    call_command("rebuild_records")
    assert rows() == before
    assert rebuild.count_records() == Record.objects.count()


def test_sentences__of_json__are_one_per_leaf(records: Records) -> None:
    value = {
        "account": "Acme",
        "owner": {"firstName": "Sarah"},
        "seats": 240,
        "tags": ["a", None],
        "live": True,
        "x": [],
    }
    assert sentences(json.dumps(value)) == (
        "account is Acme.\nowner first name is Sarah.\nseats is 240.\ntags 1 is a.\ntags 2 is not set.\n"
        "live is yes.\nx is empty."
    )
    assert sentences("{not json") is None
    assert sentences("plain") is None
    sr_id = records.ingest(json.dumps(value))
    outbox.drain_all()
    assert "owner first name is Sarah." in RecordChunk.objects.get(record=sr_id).text
    assert records.read(sr_id)["content"] == json.dumps(value)


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
def test_chunks__wherever_the_parts_end__are_the_same_and_lose_nothing(step: int) -> None:
    text = ("A sentence. Another one!\n\nA paragraph without end " * 60) + "x" * 4000 + " tail"
    made = list(chunks(text[at : at + step] for at in range(0, len(text), step)))
    assert "".join(made) == text
    assert made == list(chunks([text]))
    assert max(map(len, made)) <= LENGTH


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "half \\ud800 a pair", "word": "zyxwvut"}',
        '{"\\udc00": "zyxwvut"}',
        '["zyxwvut", ' + "[" * 950 + "]" * 951,
        '{"zyxwvut": ' * 400 + "1" + "}" * 400,
        '{"zyxwvut": [' + "9" * 5000 + "]}",
    ],
    ids=["half a pair", "half a pair in a name", "deep list", "deep object", "endless number"],
)
def test_derive__json_that_is_hardly_any__is_searchable_like_every_text(records: Records, content: str) -> None:
    answer = records.call("POST", "/v1/records", {"content": content, "sync": True}).json()
    assert answer["index"]["state"] == "ready"
    assert [one["sr_id"] for one in gather(records, query="zyxwvut")] == [answer["sr_id"]]
    assert records.read(answer["sr_id"])["content"] == content


def test_gather__with_a_filter_that_no_record_can_pass__is_empty(records: Records, facts: dict[str, str]) -> None:
    for asked in ({"min_authority": 2**40}, {"min_authority": 2**40, "query": "Accra"}):
        assert gather(records, **asked) == []
    assert len(gather(records, min_authority=-(2**40), query="Accra")) == 3


def test_derive__one_record_of_a_batch_that_cannot_be__keeps_none_of_the_others_out(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = derive._tag

    def choking(record: Record, stored: Any) -> None:
        if stored == "poison":
            raise ValueError
        real(record, stored)

    monkeypatch.setattr(derive, "_tag", choking)
    batch = [{"content": f"walrus {number}"} for number in range(derive.TOGETHER + 8)]
    batch[3]["content"] = "poison"
    records.call("POST", "/api/v2/ingest/batch", {"records": batch})
    records.ingest("walrus alone")
    for _ in range(20):
        outbox.drain()
    assert len(gather(records, query="walrus", k=50)) == derive.TOGETHER + 8
    assert outbox.waiting() == 1


def test_derive__while_it_makes_vectors__holds_no_record(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """The head moved while its vectors were made: what is stored is of the new head."""
    sr_id = records.ingest("walrus")
    real, calls = derive._vectors, []

    def slow(texts: Any) -> Any:
        calls.append(list(texts))
        if len(calls) == 1:
            records.update(sr_id, content="penguin")
        return real(texts)

    monkeypatch.setattr(derive, "_vectors", slow)
    derive.derive([sr_id])
    assert calls == [["walrus"], ["penguin"]]
    chunk = RecordChunk.objects.get(record=sr_id)
    assert chunk.text == "penguin" and chunk.embedding is not None

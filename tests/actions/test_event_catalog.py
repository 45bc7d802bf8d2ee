"""Events that no other test follows to the journal: one act each, and the event it leaves with its subject."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memory.records import exchange
from tests.support.api import Api
from tests.support.edges import Edges
from tests.support.journal import journalled
from tests.support.records import Records
from tests.support.world import World
from workareas.actions.simulations import change_audience, create_simulation

pytestmark = pytest.mark.django_db


@pytest.fixture
def edges(world: World, api: Api) -> Edges:
    return Edges(world, api)


def test_provision__a_tenant__begins_its_journal(world: World) -> None:
    (record,) = journalled("tenant.created", tenant_id=world.admin.tenant_id, once=True)
    assert (record["seq"], record["subject"]) == (1, {"tenant_id": world.admin.tenant_id})
    assert record["channel"] == "cli"


def test_claim_edge__proposed_and_ratified__is_two_events_on_two_nodes(world: World, edges: Edges) -> None:
    first, second = world.promoted(on="a"), world.promoted(on="b")
    edge = edges.ratified(first, second)
    (proposed,) = journalled("claim.relate_proposed", once=True)
    (ratified,) = journalled("claim.relate_ratified", once=True)
    for record in (proposed, ratified):
        assert record["subject"]["edge_id"] == edge
        assert (record["workarea"], record["far_workarea"]) == (world.nodes["a"].pk, world.nodes["b"].pk)
    assert proposed["actor"]["key"] == edges.proposer.key_id
    assert ratified["actor"]["key"] == world.reviewer.key_id


def test_workarea_edge__rejected__says_so_without_the_words(world: World, edges: Edges) -> None:
    edge = edges.proposed(world.nodes["a"].pk, world.nodes["b"].pk, kind="workarea", label="continues")
    served = edges.serve(edge).json()
    assert edges.judge(served, verdict="reject", reason="These crews never met.").status_code == 200
    (record,) = journalled("workarea.relate_rejected", once=True)
    assert record["subject"]["edge_id"] == edge
    assert "crews" not in str(record)


def test_simulation__audience_changed__names_who_came_and_who_went(world: World) -> None:
    simulation = create_simulation(world.admin, name="what if", audience=[world.reader.key_id])
    change_audience(world.admin, simulation=simulation.pk, add=[world.writer.key_id], remove=[world.reader.key_id])
    (record,) = journalled("simulation.audience_changed", once=True)
    assert record["payload"]["added"] == [world.writer.key_id]
    assert record["payload"]["removed"] == [world.reader.key_id]


RECORD_ACTS: dict[str, Callable[[Records, str, str], Any]] = {
    "record.updated": lambda records, one, other: records.update(one, content="Another secret.", note="secret note"),
    "record.connected": lambda records, one, other: records.call(
        "POST", f"/v1/records/{one}/connections", {"to": other, "label": "secret-link"}
    ),
    "record.corrected": lambda records, one, other: records.call(
        "POST", f"/v1/records/{one}/corrections", {"content": "A secret correction."}
    ),
    "record.adjusted": lambda records, one, other: records.call(
        "POST", f"/v1/records/{one}/adjustments", {"content": "A secret adjustment."}
    ),
}


@pytest.mark.parametrize("event", RECORD_ACTS)
def test_record__each_act__leaves_its_event_and_no_word_of_its_content(world: World, event: str) -> None:
    records = Records(world)
    one, other = records.ingest("A secret."), records.ingest("Another.")
    answer = RECORD_ACTS[event](records, one, other)
    assert isinstance(answer, dict) or answer.status_code in (200, 201), answer.content
    (record,) = journalled(event, once=True)
    assert record["actor"]["key"] == records.by.key_id
    assert "secret" not in json.dumps(record).lower()


def test_record_places__lane_and_group__are_journalled(world: World) -> None:
    records = Records(world)
    lane = records.call("POST", "/v1/lanes", {"label": "quotes", "workarea": world.nodes["a"].pk})
    assert lane.status_code == 201, lane.content
    journalled("record.lane_opened")
    group = records.call("POST", "/v1/record-groups", {"name": "offers", "add": [records.ingest("One.")]})
    assert group.status_code in (200, 201), group.content
    journalled("record.grouped", once=True)


def test_records__imported_from_another_engine__leave_one_event_a_record(world: World) -> None:
    records = Records(world)
    records.ingest("A secret.")
    exchange.import_entries(records.by, foreign(list(exchange.exported(records.by))))
    (record,) = journalled("record.imported", once=True)
    assert "secret" not in json.dumps(record).lower()


def foreign(lines: list[str]) -> list[str]:
    """The same ledger as if another engine had written its entries, one event later each."""
    parsed = [json.loads(line) for line in lines]
    for row in parsed:
        if "engine_id" in row:
            row["engine_id"], row["event_id"] = "engine-b", row["event_id"][:-1] + "Z"
    return [json.dumps(row) for row in parsed]

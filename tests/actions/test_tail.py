"""The events tail: what a reader may see of the journal, in its order, from a sequence the client holds (R3, D1)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.graph.selectors.tail import events_tail
from memory.reads import tail as logged_tail
from oml.core.actor import Actor
from oml.core.errors import OmlError
from oml.journal.models import JournalEntry
from oml.journal.registry import REGISTRY
from tests.support.world import World
from workareas.actions.nodes import Crew, update_crew
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


def tail(actor: Actor, scope: str = "universe", *, after: int | None = 0, limit: int = 500) -> dict[str, Any]:
    body, _ = events_tail(actor, scope=scope, after_seq=after, limit=limit)
    return body


def types(body: dict[str, Any]) -> list[str]:
    return [event["event_type"] for event in body["events"]]


def refusal(actor: Actor, scope: str = "universe", **query: Any) -> OmlError:
    with pytest.raises(OmlError) as caught:
        tail(actor, scope, **query)
    return caught.value


def test_tail__promotion__has_exactly_the_seed_s_shape(world: World) -> None:
    artifact = world.promoted(claim_key="quote")
    entry = JournalEntry.objects.get(event_type="lifecycle.promote")
    assert tail(world.reader, "universe.a", after=entry.seq - 1) == {
        "events": [
            {
                "seq": entry.seq,
                "event_type": "lifecycle.promote",
                "at": entry.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "subject": {"artifact_id": artifact, "claim_key": "quote", "version": 1},
                "workarea": world.nodes["a"].pk,
            }
        ],
        "head_seq": entry.seq,
        "idle": False,
    }


def test_tail__workarea_events__name_the_node_as_their_subject(world: World) -> None:
    update_crew(world.admin, workarea="universe.a", crew=Crew("metals-crew"))
    event = tail(world.reader)["events"][-1]
    assert event["event_type"] == "workarea.crew_updated"
    assert event["subject"] == {"workarea_id": world.nodes["a"].pk}
    assert "metals" not in str(tail(world.reader))


def test_tail__everything_about_held_work__never_appears_whoever_asks(world: World) -> None:
    head = tail(world.reader)["head_seq"]
    held = world.submit(claim_key="secret-held-claim")
    rejected = world.submit(claim_key="secret-rejected-claim")
    world.scan()
    world.reject(rejected)
    world.serve(held)
    for actor in (world.reader, world.writer, world.reviewer, world.admin):
        body = tail(actor, after=head)
        assert body["events"] == [] and body["idle"] is True
        assert body["head_seq"] > head


def test_registry__tail_flag__is_on_readers_events_alone() -> None:
    for name, event in REGISTRY.items():
        if event.tail:
            family = name.split(".")[0]
            assert family in {"lifecycle", "workarea", "claim"}, name
            assert name not in {"lifecycle.reject", "lifecycle.expire"}, name


def test_tail__no_event__names_an_actor_or_carries_a_payload(world: World) -> None:
    world.promoted()
    for event in tail(world.reader)["events"]:
        assert set(event) <= {"seq", "event_type", "at", "subject", "workarea"}
        assert world.admin.key_id not in str(event) and world.writer.key_id not in str(event)


def test_tail__scope__covers_the_subtree_and_not_the_sibling_with_the_same_beginning(world: World) -> None:
    inside = {world.promoted(on="a"), world.promoted(on="a.team")}
    world.promoted(on="ab")
    body = tail(world.reader, "universe.a")
    promoted = {event["subject"]["artifact_id"] for event in body["events"] if "artifact_id" in event["subject"]}
    assert promoted == inside


def test_tail__denied_subtree__is_absent(world: World) -> None:
    world.promoted(on="a.team")
    seen = world.promoted(on="a")
    world.deny(world.reader, Capability.READER, on="a.team")
    body = tail(world.reader)
    assert [event["subject"] for event in body["events"] if event["event_type"] == "lifecycle.promote"] == [
        {"artifact_id": seen, "claim_key": world.row(seen).claim_key, "version": 1}
    ]
    assert world.nodes["a.team"].pk not in str(body)


def test_tail__two_readers_of_one_scope__see_the_same_events_in_the_same_order(world: World) -> None:
    world.promoted(on="a")
    world.promoted(on="b")
    second = world.key("reader")
    assert tail(world.reader) == tail(second)
    sequence = [event["seq"] for event in tail(second)["events"]]
    assert sequence == sorted(set(sequence))


def test_tail__page_by_page__is_the_same_as_all_at_once(world: World) -> None:
    world.promoted()
    whole = tail(world.reader)
    collected, after = [], 0
    while True:
        page = tail(world.reader, after=after, limit=1)
        if page["idle"]:
            break
        collected += page["events"]
        after = page["events"][-1]["seq"]
    assert collected == whole["events"]


def test_tail__after_seq_omitted__is_the_newest_ascending(world: World) -> None:
    world.promoted()
    whole = tail(world.reader)["events"]
    assert tail(world.reader, after=None, limit=3)["events"] == whole[-3:]


def test_tail__after_seq_at_the_head__is_idle_and_says_where_the_journal_stands(world: World) -> None:
    head = tail(world.reader)["head_seq"]
    assert tail(world.reader, after=head) == {"events": [], "head_seq": head, "idle": True}


def test_tail__after_seq_out_of_range__is_validation_and_never_a_restart(world: World) -> None:
    head = tail(world.reader)["head_seq"]
    for after in (-1, head + 1, 2**53 - 1, -(2**53)):
        error = refusal(world.reader, after=after)
        assert (error.code, error.param) == ("request.validation", "after_seq")


def test_tail__limit_out_of_range__is_refused_and_never_clamped(world: World) -> None:
    assert refusal(world.reader, limit=0).code == "request.validation"
    assert refusal(world.reader, limit=501).code == "limit.ceiling"


def test_tail__who_may_not__is_refused(world: World) -> None:
    assert refusal(world.operator).code == "access.verb_ceiling"
    assert refusal(world.reader, "wa_unknown").code == "access.not_found"
    elsewhere = world.key("reader", on="b")
    assert refusal(elsewhere, "universe.a").code == "access.not_found"
    assert refusal(elsewhere, "universe").code == "access.not_found"


def test_tail__another_tenant_s_events__are_never_there(world: World) -> None:
    other = World.build("other", paths=("a",))
    artifact = other.promoted()
    assert artifact not in str(tail(world.reader))
    assert refusal(world.reader, other.nodes["a"].pk).code == "access.not_found"


def test_tail__read__is_logged_with_what_it_returned(world: World) -> None:
    from memory.recall.models import ReadLog

    artifact = world.promoted()
    logged_tail(world.reader, scope="universe.a", after_seq=0, limit=50)
    entry = ReadLog.objects.filter(surface="tail").latest("pk")
    assert (entry.key_id, entry.workarea_id) == (world.reader.key_id, world.nodes["a"].pk)
    assert artifact in entry.returned


def test_tail__many_events__ask_as_many_queries_as_few(world: World) -> None:
    with CaptureQueriesContext(connection) as few:
        tail(world.reader, "universe.a")
    for _ in range(5):
        world.promoted()
    with CaptureQueriesContext(connection) as many:
        assert len(tail(world.reader, "universe.a")["events"]) > 5
    assert len(many) == len(few)

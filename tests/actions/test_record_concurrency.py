"""Source records from several real connections at once: one order of versions, nothing lost, nothing twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from memory.records import derive, lanes
from memory.records.actions import change, erase, ingest, places
from memory.records.commands import IngestCommand, ReadCommand, UpdateCommand
from memory.records.models import Engine, Lane, Record, RecordChunk, RecordEntry, RecordGroup, SourceType
from memory.records.selectors.reading import read_own
from oml.core.errors import OmlError
from oml.journal.verify import verify_tenant
from tests.support.canary import places_of
from tests.support.threads import Running, at_once, code_of, stopped
from tests.support.world import World
from workareas.actions.keys import revoke_key

pytestmark = pytest.mark.django_db(transaction=True)
CLIENTS = 6


def keep(world: World, content: str = "one", **fields: Any) -> str:
    return str(ingest.ingest_record(world.writer, command=IngestCommand(content, **fields))["sr_id"])


def update(world: World, sr_id: str, content: str | None = None, **fields: Any) -> dict[str, Any]:
    return change.update_record(world.writer, command=UpdateCommand(sr_id, content, **fields))


def whole(world: World) -> None:
    assert verify_tenant(world.admin.tenant_id).broken is None
    for record in Record.objects.all():
        head = RecordEntry.objects.filter(sr_id=record.pk).order_by("-version")[0]
        assert (record.head_id, record.version, record.content_sha256) == (head.pk, head.version, head.content_sha256)


def test_update__by_many_at_once__gives_every_one_a_version_of_its_own(world: World) -> None:
    sr_id = keep(world)
    outcomes = at_once([lambda n=n: update(world, sr_id, f"text {n}") for n in range(CLIENTS)])
    assert sorted(one["version"] for one in outcomes) == list(range(1, CLIENTS + 1))
    assert list(RecordEntry.objects.filter(sr_id=sr_id).order_by("version").values_list("version", flat=True)) == (
        list(range(CLIENTS + 1))
    )
    whole(world)


def test_update__by_many_that_expect_one_version__is_one_update_and_conflicts(world: World) -> None:
    sr_id = keep(world)
    outcomes = at_once([lambda n=n: update(world, sr_id, f"text {n}", expected_version=0) for n in range(CLIENTS)])
    assert Counter(map(code_of, outcomes)) == {"ok": 1, "record.version_conflict": CLIENTS - 1}
    assert RecordEntry.objects.filter(sr_id=sr_id).count() == 2
    whole(world)


def test_update__of_different_labels_at_once__loses_none(world: World) -> None:
    sr_id = keep(world)
    at_once([lambda n=n: update(world, sr_id, properties=((f"l{n}", "v"),)) for n in range(CLIENTS)])
    body = read_own(world.writer, command=ReadCommand(sr_id))
    assert sorted(body["properties"]) == [f"l{n}:v" for n in range(CLIENTS)]
    whole(world)


def test_add_property__the_same_by_many_at_once__is_one_entry(world: World) -> None:
    sr_id = keep(world)
    outcomes = at_once([lambda: change.add_property(world.writer, sr_id=sr_id, prop=("a", "b"))] * CLIENTS)
    assert Counter(bool(one["changed"]) for one in outcomes) == {True: 1, False: CLIENTS - 1}
    whole(world)


def test_tombstone__beside_updates__is_the_last_entry_or_the_updates_are_refused(world: World) -> None:
    sr_id = keep(world)
    calls: list[Any] = [lambda n=n: update(world, sr_id, f"text {n}") for n in range(CLIENTS)]
    outcomes = at_once([*calls, lambda: change.tombstone(world.writer, sr_id=sr_id)])
    assert set(map(code_of, outcomes)) <= {"ok", "record.tombstoned"}
    last = RecordEntry.objects.filter(sr_id=sr_id).order_by("-version")[0]
    assert last.deleted
    assert last.version == sum(not isinstance(one, OmlError) for one in outcomes)
    whole(world)


def test_first_records__of_a_new_installation__make_one_engine_and_one_home_lane(world: World) -> None:
    Lane.objects.filter(home_of=world.writer.key_id).delete()
    assert Engine.objects.count() == 0
    at_once([lambda: keep(world)] * CLIENTS)
    assert (Engine.objects.count(), Lane.objects.filter(home_of=world.writer.key_id).count()) == (1, 1)
    assert SourceType.objects.filter(lane__home_of=world.writer.key_id).count() == 5
    assert set(RecordEntry.objects.values_list("engine_id", flat=True)) == {lanes.engine_id()}
    whole(world)


def test_ingest_batch__with_one_key_at_once__is_kept_once(world: World) -> None:
    commands = [IngestCommand(f"fact {n}") for n in range(3)]
    outcomes = at_once([lambda: ingest.ingest_batch(world.writer, commands=commands, idempotency_key="once")] * CLIENTS)
    codes = Counter(map(code_of, outcomes))
    assert codes["ok"] >= 1 and set(codes) <= {"ok", "request.idempotency_in_flight"}
    assert Record.objects.count() == 3
    assert len({json.dumps(one["records"], sort_keys=True) for one in outcomes if isinstance(one, dict)}) == 1
    whole(world)


def test_change_group__made_and_filled_at_once__has_everything_once(world: World) -> None:
    made = [keep(world, f"record {n}") for n in range(CLIENTS)]
    at_once([lambda n=n: places.change_group(world.writer, name="set", add=[made[0], made[n]]) for n in range(1, 6)])
    assert RecordGroup.objects.count() == 1
    assert sorted(places.change_group(world.writer, name="set")["records"]) == sorted(made)


def test_connect__there_and_back_at_once__does_not_wait_for_ever(world: World) -> None:
    one, two = keep(world), keep(world)
    pairs = [(one, two), (two, one)] * 3
    outcomes = at_once(
        [
            lambda a=a, b=b, n=n: change.connect(world.writer, sr_id=a, to=b, label=f"l{n}")
            for n, (a, b) in enumerate(pairs)
        ]
    )
    assert set(map(code_of, outcomes)) == {"ok"}
    whole(world)


def test_derive__the_same_records_by_several_workers__builds_them_once(world: World) -> None:
    made = [keep(world, f"walrus {n}") for n in range(CLIENTS)]
    outcomes = at_once([lambda: derive.derive(made), lambda: derive.derive(made[::-1]), lambda: derive.derive(made)])
    assert set(map(code_of, outcomes)) == {"ok"}
    assert RecordChunk.objects.count() == CLIENTS


def test_derive__stopped_while_it_makes_vectors__lets_an_update_through(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sr_id = keep(world, "walrus")
    with stopped(monkeypatch, "memory.records.derive._vectors", lambda: derive.derive([sr_id])) as running:
        assert update(world, sr_id, "penguin")["version"] == 1
    assert running.result() is None
    assert RecordChunk.objects.get().text == "penguin"


def test_erase__while_an_update_is_under_way__leaves_nothing_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sr_id = keep(world, "zorblaxquill one")
    where = "memory.records.statements.cache"
    with stopped(monkeypatch, where, lambda: update(world, sr_id, "zorblaxquill two")) as running:
        eraser = Running(lambda: erase.erase_record(world.admin, sr_id=sr_id, reason="x"))
        assert eraser.is_waiting()
    assert running.result()["version"] == 1
    assert eraser.result()["versions"] == 2
    assert places_of("zorblaxquill") == []
    whole(world)


def test_update__while_an_erasure_is_under_way__is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sr_id = keep(world, "zorblaxquill one")
    where = "memory.records.actions.erase._destroy"
    act = lambda: erase.erase_record(world.admin, sr_id=sr_id, reason="x")  # noqa: E731
    with stopped(monkeypatch, where, act) as running:
        late = Running(lambda: update(world, sr_id, "zorblaxquill two"))
        assert late.is_waiting()
    assert "erased_at" in running.result()
    assert code_of(late.result()) == "record.tombstoned"
    assert places_of("zorblaxquill") == []


def test_ingest__whose_key_is_revoked_before_its_journal_entry__writes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stopped(monkeypatch, "memory.records.ledger.begin", lambda: keep(world)) as running:
        revoke_key(world.admin, key=world.writer.key_id)
    assert code_of(running.result()) == "auth.invalid_key"
    assert not RecordEntry.objects.exists()

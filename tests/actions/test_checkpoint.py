"""Checkpoints on a real journal: made when there is news, kept outside, never signed over a contradiction."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import IntegrityError, connection, transaction

from oml.celery import app
from oml.journal import merkle, note, outside, tree
from oml.journal.chain_check import Break, Fault
from oml.journal.checkpoint import between, latest, make_checkpoint, make_checkpoints
from oml.journal.errors import JournalContradicted
from oml.journal.hashing import chain_hash, leaf_hash
from oml.journal.models import Checkpoint, JournalEntry, JournalHead, JournalSubtree
from oml.journal.verify import verify_tenant
from tests.support.journal import journalled, length
from tests.support.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, settings: Any) -> Path:
    """A folder outside of this test's own."""
    settings.OML_CHECKPOINT_DIR = tmp_path / "kept"
    return tmp_path / "kept"


def leaves_of(tenant: str, size: int | None = None) -> list[bytes]:
    rows = JournalEntry.objects.filter(tenant_id=tenant).order_by("seq")[:size]
    return [leaf_hash(row.canonical.encode()) for row in rows]


def raw_entries(tenant: str, count: int, *, after: int = 0) -> None:
    """Entries as such: the tree does not care what they say."""
    previous = bytes(32)
    rows = []
    for seq in range(after + 1, after + count + 1):
        canonical = f'{{"seq":{seq}}}'
        leaf = leaf_hash(canonical.encode())
        previous = chain_hash(previous, seq, leaf)
        rows.append(
            JournalEntry(
                tenant_id=tenant,
                seq=seq,
                event_type="lifecycle.reject",
                canonical=canonical,
                leaf_hash=leaf,
                chain_hash=previous,
                at="2026-11-29T00:00:00Z",
            )
        )
    JournalEntry.objects.bulk_create(rows)
    JournalHead.objects.update_or_create(tenant_id=tenant, defaults={"seq": after + count, "chain_hash": previous})


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_make_checkpoint__first__signs_stores_keeps_outside_and_is_quoted_by_the_next_entry(
    world: World, kept: Path
) -> None:
    tenant = world.admin.tenant_id
    size = length(tenant)
    made = make_checkpoint(tenant)
    assert made is not None and made.size == size
    said = note.verified(made.note)
    assert (said.origin, said.size, said.root) == (f"oml/{tenant}", size, merkle.root_of(leaves_of(tenant, size)))
    assert (kept / f"{tenant}.log").read_text() == made.note + "\n"
    (quoted,) = journalled("journal.checkpointed", once=True)
    assert quoted["seq"] == size + 1
    assert quoted["subject"] == {"origin": said.origin}
    assert quoted["payload"] == {"size": size, "root": made.note.split("\n")[2], "keyid": made.keyid}
    assert quoted["actor"] == {"key": "system", "principal": "system"} and quoted["channel"] == "system"
    assert verify_tenant(tenant).broken is None


def test_make_checkpoint__nothing_but_its_own_quotation_since__makes_none(world: World) -> None:
    tenant = world.admin.tenant_id
    first = make_checkpoint(tenant)
    before = length(tenant)
    again = [make_checkpoint(tenant) for _ in range(3)]
    assert again == [first] * 3
    assert length(tenant) == before
    world.submit()
    second = make_checkpoint(tenant)
    assert second is not None and first is not None
    assert second.size == before + 1  # the quotation of the first is covered by the second
    assert [row.size for row in between(tenant, 1, second.size)] == [first.size, second.size]


def test_make_checkpoint__must_cover_the_last_entry__is_made_without_news(world: World) -> None:
    tenant = world.admin.tenant_id
    make_checkpoint(tenant)
    made = make_checkpoint(tenant, at_least=length(tenant))
    assert made is not None and made.size == length(tenant) - 1


def test_make_checkpoint__empty_journal__is_none() -> None:
    assert make_checkpoint("ten_nobody") is None
    assert Checkpoint.objects.count() == 0


def test_make_checkpoint__folder_cannot_be_written__nothing_is_stored_or_journalled(
    world: World, settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    settings.OML_CHECKPOINT_DIR = tmp_path / "file" / "kept"
    before = length(world.admin.tenant_id)
    with pytest.raises(OSError):
        make_checkpoint(world.admin.tenant_id)
    assert (latest(world.admin.tenant_id), length(world.admin.tenant_id)) == (None, before)


def test_make_checkpoint__journal_put_back_to_an_older_copy__is_refused(world: World) -> None:
    tenant = world.admin.tenant_id
    make_checkpoint(tenant)
    sql("ALTER TABLE journal_journalentry DISABLE TRIGGER USER")
    sql("ALTER TABLE journal_checkpoint DISABLE TRIGGER USER")
    older = length(tenant) - 5
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s AND seq > %s", tenant, older)
    sql("DELETE FROM journal_checkpoint WHERE tenant_id = %s", tenant)
    sql(
        "UPDATE journal_journalhead SET seq = %s, chain_hash = (SELECT chain_hash FROM journal_journalentry "
        "WHERE tenant_id = %s AND seq = %s) WHERE tenant_id = %s",
        older, tenant, older, tenant,
    )  # fmt: skip
    assert verify_tenant(tenant).broken == Break(older + 1, Fault.GONE, until=older + 4)
    with pytest.raises(JournalContradicted) as refused:
        make_checkpoint(tenant)
    assert f"ends at seq {older}, a checkpoint was signed at {older + 4}" in str(refused.value)
    assert latest(tenant) is None


def test_make_checkpoint__first_entries_written_anew__is_refused(world: World) -> None:
    tenant = world.admin.tenant_id
    made = make_checkpoint(tenant)
    assert made is not None
    sql("ALTER TABLE journal_journalentry DISABLE TRIGGER USER")
    sql("ALTER TABLE journal_checkpoint DISABLE TRIGGER USER")
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s", tenant)
    sql("DELETE FROM journal_checkpoint WHERE tenant_id = %s", tenant)
    raw_entries(tenant, made.size + 20)
    with pytest.raises(JournalContradicted) as refused:
        make_checkpoint(tenant)
    assert f"the first {made.size} entries" in str(refused.value)


def test_make_checkpoint__file_of_another_machine_is_missing__gets_the_newest_note(world: World, kept: Path) -> None:
    tenant = world.admin.tenant_id
    made = make_checkpoint(tenant)
    assert made is not None
    (kept / f"{tenant}.log").unlink()
    make_checkpoint(tenant)
    assert outside.all_kept(tenant) == [note.parse(made.note)]


def test_keep__after_a_torn_write__hides_neither_note(world: World, kept: Path) -> None:
    tenant = world.admin.tenant_id
    first = make_checkpoint(tenant)
    assert first is not None
    path = kept / f"{tenant}.log"
    with open(path, "a") as file:
        file.write("oml/torn\n12\nAAAA")
    world.submit()
    second = make_checkpoint(tenant)
    assert second is not None
    assert [said.size for said in outside.all_kept(tenant)] == [first.size, second.size]
    assert outside.newest(tenant) == note.parse(second.note)
    assert path.read_text().startswith(first.note)


def test_make_checkpoints__one_tenant_contradicted__others_get_theirs_and_the_log_says_which(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    neighbour = World.build("besra").admin.tenant_id
    tenant = world.admin.tenant_id
    forged = note.sign(f"oml/{tenant}", length(tenant) + 100, bytes(32))
    outside.keep(tenant, forged.text)
    with caplog.at_level(logging.ERROR):
        assert make_checkpoints() == 1
    assert latest(neighbour) is not None and latest(tenant) is None
    assert f"no checkpoint for tenant {tenant}: the journal of tenant {tenant} ends at seq" in caplog.text


def test_checkpoint__is_a_task_of_the_beat__once_a_minute() -> None:
    app.loader.import_default_modules()
    assert "journal.checkpoint" in app.tasks
    assert django_settings.CELERY_BEAT_SCHEDULE["journal.checkpoint"]["schedule"] == 60.0


@pytest.mark.parametrize("statement", ["UPDATE journal_checkpoint SET size = 1", "DELETE FROM journal_checkpoint"])
def test_checkpoint_table__changed_or_emptied__is_refused_by_the_database(world: World, statement: str) -> None:
    make_checkpoint(world.admin.tenant_id)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        sql(statement)


@pytest.mark.django_db(transaction=True)
def test_make_checkpoint__six_at_once__one_note_per_size() -> None:
    world = World.build("acme")
    tenant = world.admin.tenant_id

    def one(_: int) -> None:
        try:
            make_checkpoint(tenant)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, range(6)))
    sizes = [row.size for row in between(tenant, 1, length(tenant))]
    assert len(sizes) == len(set(sizes)) >= 1
    assert [said.size for said in outside.all_kept(tenant)] == sizes
    assert verify_tenant(tenant).broken is None


@pytest.mark.django_db(transaction=True)
def test_make_checkpoint__inside_somebody_elses_transaction__is_refused() -> None:
    world = World.build("acme")
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        make_checkpoint(world.admin.tenant_id)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks of 4, 16 and 64 leaves, so that a hundred of them have three stored levels."""
    monkeypatch.setattr(tree, "_STEP", 2)
    monkeypatch.setattr(tree, "_FAN", 4)
    monkeypatch.setattr(tree, "_BATCH", 3)
    yield


def test_tree__stored_blocks__give_the_roots_and_proofs_of_the_leaves(narrow: None) -> None:
    raw_entries("ten_big", 83)
    leaves = leaves_of("ten_big")
    for size in (1, 5, 16, 64, 83):
        tree.extend("ten_big", size)
        assert tree.root_at("ten_big", size) == merkle.root_of(leaves[:size])
    assert JournalSubtree.objects.filter(level=3).count() == 1
    for size in range(1, 84):
        root = merkle.root_of(leaves[:size])
        for seq in {1, size // 2 or 1, size}:
            assert merkle.verify_inclusion(
                leaves[seq - 1], seq - 1, size, tree.inclusion_proof("ten_big", seq, size), root
            )
        proof = tree.consistency_proof("ten_big", size, 83)
        assert merkle.verify_consistency(size, 83, proof, root, merkle.root_of(leaves))


def test_tree__a_stored_block_is_missing__is_computed_from_below(narrow: None) -> None:
    raw_entries("ten_big", 83)
    tree.extend("ten_big", 83)
    JournalSubtree.objects.filter(index=0).delete()
    assert tree.root_at("ten_big", 83) == merkle.root_of(leaves_of("ten_big"))


def test_tree__an_entry_is_missing__is_no_tree() -> None:
    raw_entries("ten_big", 600)
    sql("ALTER TABLE journal_journalentry DISABLE TRIGGER USER")
    sql("DELETE FROM journal_journalentry WHERE seq = 300")
    with pytest.raises(JournalContradicted) as refused:
        tree.extend("ten_big", 600)
    assert "between seq 1 and 512 is missing" in str(refused.value)


def test_make_checkpoint__large_journal_grown_a_little__reads_a_little() -> None:
    raw_entries("ten_big", 3000)
    make_checkpoint("ten_big")
    raw_entries("ten_big", 300, after=3001)
    read: list[int] = []

    def watch(execute: Any, statement: str, *rest: Any) -> Any:
        result = execute(statement, *rest)
        if "leaf_hash" in statement and statement.startswith("SELECT"):
            read.append(rest[2]["cursor"].rowcount)
        return result

    with connection.execute_wrapper(watch):
        made = make_checkpoint("ten_big")
    assert made is not None and made.size == 3301
    assert merkle.root_of(leaves_of("ten_big", 3301)) == bytes(made.root)
    assert sum(read) < 2 * 256 * 4, f"{read} leaves were read"


def test_outside__a_tenant_id_that_is_a_path__names_no_file() -> None:
    with pytest.raises(ValueError):
        outside.file_of(f"..{os.sep}etc")

"""Tampering with the database behind the application's back, one test a class (quality: T1 to T9).

The tamperer owns the database: triggers are off, and he repairs whatever needs no key. What he cannot have is the
checkpoint key, and what somebody kept.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from oml.core.canonical import canonical_json
from oml.journal import outside, verify
from oml.journal.blocks import Block
from oml.journal.chain_check import Break, Fault, _asks_payload
from oml.journal.checkpoint import make_checkpoint
from oml.journal.hashing import GENESIS, chain_hash, leaf_hash
from oml.journal.merkle import root_of
from oml.journal.models import Checkpoint, JournalEntry, JournalHead, JournalSubtree
from oml.journal.verify import Verified
from oml.journal.workers import processes
from tests.support.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, settings: Any) -> Path:
    settings.OML_CHECKPOINT_DIR = tmp_path / "kept"
    return tmp_path / "kept"


@pytest.fixture
def tenant(world: World) -> str:
    """A journal of some forty entries with checkpoints in its middle and near its end, and no triggers left."""
    tenant = world.admin.tenant_id
    world.promoted()
    make_checkpoint(tenant)
    for _ in range(3):
        world.promoted()
    make_checkpoint(tenant)
    world.submit()
    for table in ("journal_journalentry", "journal_checkpoint"):
        sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    assert verify_tenant(tenant).broken is None
    return tenant


class Inline(Executor):
    """Workers that are this very process, so that blocks can be checked inside a test's transaction."""

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **_: Any) -> Iterator[Any]:
        return map(fn, *iterables)


def verify_tenant(tenant: str, **options: Any) -> Verified:
    """One walk, and blocks of several sizes put together: they answer the same about every tampering there is."""
    whole = verify.verify_tenant(tenant, **options)
    for block in (1, 4, 16):
        together = verify.verify_tenant(tenant, workers=Inline(), block=block, **options)
        assert replace(together, seconds=0) == replace(whole, seconds=0), f"blocks of {block}"
    return whole


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def entries(tenant: str) -> Any:
    return JournalEntry.objects.filter(tenant_id=tenant).order_by("seq")


def entry(tenant: str, seq: int) -> JournalEntry:
    return JournalEntry.objects.get(tenant_id=tenant, seq=seq)


def rewrite(row: JournalEntry, **changes: Any) -> None:
    """Change what an entry says and its leaf with it, in every column it shows."""
    record = json.loads(row.canonical) | changes
    row.canonical = canonical_json(record).decode()
    row.leaf_hash = leaf_hash(row.canonical.encode())
    row.seq, row.event_type = record["seq"], record["event_type"]
    row.save()


def rechain(tenant: str) -> None:
    """Compute the whole chain and the head anew, as anybody with the database can: no key is in it."""
    previous = GENESIS
    head = 0
    for row in entries(tenant):
        previous, head = chain_hash(previous, row.seq, bytes(row.leaf_hash)), row.seq
        row.chain_hash = previous
        row.save(update_fields=["chain_hash"])
    JournalHead.objects.filter(pk=tenant).update(seq=head, chain_hash=previous)


def last(tenant: str) -> int:
    return int(entries(tenant).last().seq)


def content(tenant: str) -> None:
    """T1: an entry says something else."""
    row = entry(tenant, 20)
    row.canonical = row.canonical.replace('"channel":"', '"channel":"x')
    row.save()


def tail_cut(tenant: str) -> None:
    """T2: the newest entries are gone."""
    entries(tenant).filter(seq__gt=last(tenant) - 2).delete()


def middle_deletion(tenant: str) -> None:
    """T3: one entry in the middle is gone."""
    entries(tenant).filter(seq=20).delete()


def reorder(tenant: str) -> None:
    """T4: two entries changed places."""
    sql("UPDATE journal_journalentry SET seq = -1 WHERE tenant_id = %s AND seq = 20", tenant)
    sql("UPDATE journal_journalentry SET seq = 20 WHERE tenant_id = %s AND seq = 21", tenant)
    sql("UPDATE journal_journalentry SET seq = 21 WHERE tenant_id = %s AND seq = -1", tenant)


def forged_insert(tenant: str) -> None:
    """T5: an entry that never was, at the end, with a leaf of its own."""
    row = entry(tenant, 20)
    row.pk, row.seq = None, last(tenant) + 1
    rewrite(row, seq=row.seq)


def context_replay(tenant: str) -> None:
    """T6: an entry of another tenant, chained in properly."""
    other = World.build("besra").admin.tenant_id
    foreign = entry(other, 20)
    mine = entry(tenant, 20)
    mine.canonical, mine.leaf_hash = foreign.canonical, foreign.leaf_hash
    mine.save()
    rechain(tenant)


def rollback(tenant: str) -> None:
    """T7: cut back to an older state, head and all."""
    entries(tenant).filter(seq__gt=22).delete()
    rechain(tenant)


def metadata(tenant: str) -> None:
    """T8: a column that readers filter by says something else than the entry."""
    sql("UPDATE journal_journalentry SET workarea_id = 'wa_other' WHERE tenant_id = %s AND seq = 20", tenant)


def snapshot_rollback(tenant: str) -> None:
    """T9: the whole database as it was, checkpoints and stored subtrees included."""
    rollback(tenant)
    Checkpoint.objects.filter(tenant_id=tenant).delete()
    JournalSubtree.objects.filter(tenant_id=tenant).delete()


CLASSES: list[tuple[Callable[[str], None], Callable[[str], Break]]] = [
    (content, lambda end: Break(20, Fault.TEXT)),
    (tail_cut, lambda end: Break(int(end) - 1, Fault.MISSING)),
    (middle_deletion, lambda end: Break(20, Fault.MISSING)),
    (reorder, lambda end: Break(20, Fault.CHAIN)),
    (forged_insert, lambda end: Break(int(end) + 1, Fault.CHAIN)),
    (context_replay, lambda end: Break(20, Fault.RECORD)),
    (rollback, lambda end: Break(23, Fault.GONE)),
    (metadata, lambda end: Break(20, Fault.COLUMN, "workarea_id")),
    (snapshot_rollback, lambda end: Break(23, Fault.GONE)),
]


@pytest.mark.parametrize("tamper, expected", CLASSES, ids=[tamper.__name__ for tamper, _ in CLASSES])
def test_verify__each_class_of_tampering__is_found_with_its_number(
    tenant: str, tamper: Callable[[str], None], expected: Callable[[str], Break]
) -> None:
    wanted = expected(str(last(tenant)))
    sizes = sorted(Checkpoint.objects.filter(tenant_id=tenant).values_list("size", flat=True))
    tamper(tenant)
    found = verify_tenant(tenant).broken
    assert found is not None
    assert (found.seq, found.fault, found.column) == (wanted.seq, wanted.fault, wanted.column)
    if wanted.fault is Fault.GONE:
        assert found.until == min(size for size in sizes if size > 22)


def test_verify__owner_rewrites_the_whole_chain__is_caught_by_a_checkpoint_kept_elsewhere(
    tenant: str, kept: Path, tmp_path: Path
) -> None:
    first, second = Checkpoint.objects.filter(tenant_id=tenant).order_by("size")
    mine = tmp_path / "auditor.note"
    mine.write_text(second.note)
    rewrite(entry(tenant, first.size + 2), event_type="lifecycle.reject", payload={"cause": "verdict"})
    rechain(tenant)
    # He takes everything inside his reach along: checkpoints, subtrees, the folder next to the database.
    Checkpoint.objects.filter(tenant_id=tenant).delete()
    JournalSubtree.objects.filter(tenant_id=tenant).delete()
    outside.file_of(tenant).unlink()
    assert verify_tenant(tenant).broken is None, "from the inside nothing is to be seen, and the docs say so"
    with pytest.raises(CommandError):
        call_command("verify_journal", "--tenant", tenant, "--checkpoint", str(mine))
    # One kept checkpoint says that it happened; a second one, kept earlier, narrows down where.
    assert verify_tenant(tenant, notes=[second.note]).broken == Break(1, Fault.SIGNED, until=second.size)
    assert verify_tenant(tenant, notes=[first.note, second.note]).broken == Break(
        first.size + 1, Fault.SIGNED, until=second.size
    )


def test_verify__owner_rewrites_the_chain_but_not_the_folder_outside__is_caught_by_that(tenant: str) -> None:
    first, second = Checkpoint.objects.filter(tenant_id=tenant).order_by("size")
    rewrite(entry(tenant, first.size + 2), event_type="lifecycle.reject", payload={"cause": "verdict"})
    rechain(tenant)
    Checkpoint.objects.filter(tenant_id=tenant).delete()
    assert verify_tenant(tenant).broken == Break(first.size + 1, Fault.SIGNED, until=second.size)


def test_verify__owner_writes_checkpoints_to_fit__is_caught_by_their_signature(tenant: str) -> None:
    first, second = Checkpoint.objects.filter(tenant_id=tenant).order_by("size")
    rewrite(entry(tenant, first.size + 2), event_type="lifecycle.reject", payload={"cause": "verdict"})
    rechain(tenant)
    outside.file_of(tenant).unlink()
    leaves = [bytes(leaf) for leaf in entries(tenant).values_list("leaf_hash", flat=True)[: second.size]]
    forged = root_of(leaves)
    origin, size, _ = second.note.split("\n")[:3]
    text = f"{origin}\n{size}\n{base64.b64encode(forged).decode()}\n"
    second.root, second.note = forged, text + "\n" + second.note.rpartition("\n\n")[2]
    second.save()
    assert verify_tenant(tenant).broken == Break(second.size, Fault.NOTE)


def test_verify__signed_up_to__says_how_many_entries_a_checkpoint_vouches_for(tenant: str) -> None:
    newest = Checkpoint.objects.filter(tenant_id=tenant).order_by("size").last()
    assert newest is not None
    assert verify_tenant(tenant).confirmed == newest.size


def test_verify__against_a_head_that_was_kept__is_the_same_in_blocks(tenant: str) -> None:
    chain = bytes(entry(tenant, 20).chain_hash)
    assert verify_tenant(tenant, kept={20: chain}).broken is None
    assert verify_tenant(tenant, kept={20: bytes(32)}).broken == Break(20, Fault.KEPT)


def test_verify__in_blocks__every_whole_block_is_taken_and_told(tenant: str) -> None:
    told: list[int] = []
    asked: list[Block] = []

    class Noting(Inline):
        def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **_: Any) -> Iterator[Any]:
            asked.extend(*iterables)
            return map(fn, asked)

    verified = verify.verify_tenant(tenant, workers=Noting(), block=16, advance=told.append)
    assert verified.broken is None
    assert [(block.start, block.end) for block in asked] == list(pairwise(range(0, verified.entries + 1, 16)))
    assert len(asked) >= 2
    assert told[: len(asked)] == [16] * len(asked)
    assert sum(told) == verified.entries == last(tenant)


def test_processes__are_set_up_for_the_database_and_the_events(tenant: str) -> None:
    with processes(1) as workers:
        assert list(workers.map(_asks_payload, ["lifecycle.erase", "grant.added"])) == [True, False]

"""Every class of tampering with a journal is a break with a place; the two that no check can see are named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory.claims.events  # noqa: F401  registers its events
import workareas.events  # noqa: F401
from oml.core.canonical import canonical_json
from oml.core.clock import rfc3339
from oml.journal.chain_check import Break, ChainCheck, Fault, Head, Row
from oml.journal.hashing import GENESIS, chain_hash, leaf_hash
from oml.journal.registry import REGISTRY

TENANT = "ten_1"
TYPES = ("submission.remember", "admission.scanned", "lifecycle.promote", "key.issued")
LENGTH = 12


def record_of(seq, *, tenant=TENANT, note="a", event_type=None):
    event_type = event_type or TYPES[seq % len(TYPES)]
    subject = {name: f"{name}_{seq}" for name in REGISTRY[event_type].subject_fields}
    return {
        "tenant": tenant,
        "seq": seq,
        "event_type": event_type,
        "event_version": 1,
        "at": rfc3339(datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=seq)),
        "actor": {"key": "key_1", "principal": "pri_1"},
        "channel": "http",
        "workarea": f"wa_{seq % 3}",
        "far_workarea": None,
        "simulation": None,
        "subject": subject,
        "payload": {"note": note},
    }


def row_of(record, previous, *, seq=None, canonical=None):
    seq = record["seq"] if seq is None else seq
    text = canonical_json(record) if canonical is None else canonical
    leaf = leaf_hash(text)
    event = REGISTRY[record["event_type"]]
    return Row(
        seq=seq,
        canonical=text.decode(),
        leaf_hash=leaf,
        chain_hash=chain_hash(previous, seq, leaf),
        event_type=record["event_type"],
        at=datetime.fromisoformat(record["at"]),
        workarea_id=record["workarea"],
        far_workarea_id=record["far_workarea"],
        simulation_id=record["simulation"],
        subject_id=record["subject"][event.subject_fields[0]],
        tail=event.in_tail(record["payload"]),
        owner_id=event.owner("pri_1", record["payload"]),
    )


def chained(records):
    rows, previous = [], GENESIS
    for record in records:
        rows.append(row_of(record, previous))
        previous = rows[-1].chain_hash
    return rows


def journal(**fields):
    return chained([record_of(seq, **fields) for seq in range(1, LENGTH + 1)])


def head_of(rows):
    return Head(rows[-1].seq, rows[-1].chain_hash)


def checked(rows, head, *, kept=None, tenant=TENANT):
    check = ChainCheck(tenant, kept or {})
    for row in rows:
        if found := check.next_row(row):
            return found
    return check.end(head)


ROWS = journal()
HEAD = head_of(ROWS)
KEPT = {8: ROWS[7].chain_hash}


def with_row(place, row):
    return [*ROWS[:place], row, *ROWS[place + 1 :]]


def test_check__an_untouched_journal__is_intact():
    assert checked(ROWS, HEAD) is None
    assert checked(ROWS, HEAD, kept=KEPT) is None


def test_check__text_outside_ascii__is_intact():
    rows = journal(note="Küpfer 銅 \U0001f600 \u007f")
    assert checked(rows, head_of(rows)) is None


def test_check__text_changed__breaks_there():
    row = ROWS[4]
    forged = row._replace(canonical=row.canonical.replace('"note":"a"', '"note":"b"'))
    assert checked(with_row(4, forged), HEAD) == Break(5, Fault.TEXT)


def test_check__text_that_no_utf8_holds__breaks_there():
    assert checked(with_row(4, ROWS[4]._replace(canonical="\ud800")), HEAD) == Break(5, Fault.TEXT)


def test_check__text_and_leaf_changed__breaks_there():
    forged = row_of(record_of(5, note="b"), ROWS[3].chain_hash)
    assert checked(with_row(4, forged._replace(chain_hash=ROWS[4].chain_hash)), HEAD) == Break(5, Fault.CHAIN)


def test_check__text_leaf_and_chain_changed__breaks_at_the_next():
    assert checked(with_row(4, row_of(record_of(5, note="b"), ROWS[3].chain_hash)), HEAD) == Break(6, Fault.CHAIN)


def test_check__the_last_entry_changed_with_its_hashes__is_not_the_head():
    forged = row_of(record_of(LENGTH, note="b"), ROWS[-2].chain_hash)
    assert checked(with_row(LENGTH - 1, forged), HEAD) == Break(LENGTH, Fault.HEAD)


def test_check__the_tail_cut_off__names_the_first_missing():
    assert checked(ROWS[:9], HEAD) == Break(10, Fault.MISSING)


def test_check__everything_removed__names_the_first_entry():
    assert checked([], HEAD) == Break(1, Fault.MISSING)
    assert checked([], None) == Break(1, Fault.MISSING)


def test_check__an_entry_removed_from_the_middle__names_it():
    assert checked([*ROWS[:4], *ROWS[5:]], HEAD) == Break(5, Fault.MISSING)


def test_check__an_entry_removed_and_the_rest_renumbered__breaks_there():
    renumbered = [row._replace(seq=row.seq - 1) for row in ROWS[5:]]
    assert checked([*ROWS[:4], *renumbered], HEAD).seq == 5


def test_check__two_entries_exchanged__breaks_at_the_first():
    swapped = [*ROWS]
    swapped[4], swapped[6] = ROWS[6]._replace(seq=5), ROWS[4]._replace(seq=7)
    assert checked(swapped, HEAD) == Break(5, Fault.CHAIN)


def test_check__an_entry_doubled__names_it():
    assert checked([*ROWS[:5], ROWS[4], *ROWS[5:]], HEAD) == Break(5, Fault.DOUBLED)


def test_check__an_entry_forged_in_between__breaks_there():
    forged = row_of(record_of(5, note="forged"), ROWS[3].chain_hash)
    later = [row._replace(seq=row.seq + 1) for row in ROWS[4:]]
    assert checked([*ROWS[:4], forged, *later], HEAD).seq == 6


def test_check__an_entry_forged_behind_the_head__is_beyond_the_head():
    forged = row_of(record_of(LENGTH + 1), HEAD.chain_hash)
    assert checked([*ROWS, forged], HEAD) == Break(LENGTH + 1, Fault.HEAD)


def test_check__the_head_row_removed_or_altered__is_a_broken_head():
    assert checked(ROWS, None) == Break(1, Fault.HEAD)
    assert checked(ROWS, HEAD._replace(chain_hash=GENESIS)) == Break(LENGTH, Fault.HEAD)
    assert checked(ROWS, Head(9, ROWS[8].chain_hash)) == Break(10, Fault.HEAD)


def test_check__another_tenants_entry_in_its_place__breaks_there():
    foreign = journal(tenant="ten_2")
    assert checked(with_row(4, foreign[4]), HEAD) == Break(5, Fault.CHAIN)


def test_check__another_tenants_entry_chained_in__is_not_a_record_of_this_tenant():
    records = [record_of(seq, tenant="ten_2" if seq == 5 else TENANT) for seq in range(1, LENGTH + 1)]
    rows = chained(records)
    assert checked(rows, head_of(rows)) == Break(5, Fault.RECORD)


def test_check__another_tenants_whole_journal__is_not_of_this_tenant():
    assert checked(journal(tenant="ten_2"), HEAD) == Break(1, Fault.RECORD)


def test_check__an_entry_that_claims_another_number__is_not_the_record_of_this_number():
    previous = ROWS[3].chain_hash
    rows = [*ROWS[:4], row_of(record_of(4), previous, seq=5)]
    assert checked(rows, head_of(rows)) == Break(5, Fault.RECORD)


@pytest.mark.parametrize(
    "text",
    [
        b'{"seq":5,"tenant":"ten_1"',
        b"[]",
        b'"ten_1"',
        b"{}",
        b'{"seq":5, "tenant":"ten_1"}',
        b'{"seq":4,"seq":5,"tenant":"ten_1"}',
        b'{"tenant":"ten_1","seq":5}',
        b'{"seq":5.0,"tenant":"ten_1"}',
        b'{"seq":5,"tenant":"ten_1","x":NaN}',
        b'{"seq":5,"tenant":"\\u0074en_1"}',
        "{\"seq\":5,\"tenant\":\"ten_1\",\"ä\":1, \"z\":2}".encode(),
        b"[" * 5000,
    ],
)  # fmt: skip
def test_check__well_chained_text_that_is_no_canonical_record__breaks_there(text):
    forged = row_of(record_of(5), ROWS[3].chain_hash, canonical=text)
    assert checked([*ROWS[:4], forged], head_of([forged])) == Break(5, Fault.RECORD)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("event_type", "lifecycle.demote"),
        ("at", ROWS[5].at + timedelta(microseconds=1)),
        ("workarea_id", "wa_9"),
        ("workarea_id", None),
        ("far_workarea_id", "wa_1"),
        ("simulation_id", "sim_1"),
        ("subject_id", "art_other"),
        ("subject_id", None),
        ("tail", False),
    ],
)
def test_check__a_column_that_readers_filter_by_changed__names_the_column(column, value):
    promote = ROWS[5]
    assert promote.event_type == "lifecycle.promote" and promote.tail
    assert checked(with_row(5, promote._replace(**{column: value})), HEAD) == Break(6, Fault.COLUMN, column)


def test_check__a_held_submission_put_into_the_tail__names_the_column():
    remember = ROWS[3]
    assert remember.event_type == "submission.remember"
    assert checked(with_row(3, remember._replace(tail=True)), HEAD) == Break(4, Fault.COLUMN, "tail")


def test_check__the_version_of_a_claim_as_its_subject__names_the_column():
    forged = ROWS[5]._replace(subject_id="version_6")
    assert checked(with_row(5, forged), HEAD) == Break(6, Fault.COLUMN, "subject_id")


def test_check__history_written_anew_with_all_hashes__is_seen_only_by_a_kept_head():
    rewritten = chained([record_of(seq, note="b" if seq == 3 else "a") for seq in range(1, LENGTH + 1)])
    assert checked(rewritten, head_of(rewritten)) is None
    assert checked(rewritten, head_of(rewritten), kept=KEPT) == Break(8, Fault.KEPT)


def test_check__an_older_copy_put_back__is_seen_only_by_a_kept_head():
    older = ROWS[:6]
    assert checked(older, head_of(older)) is None
    assert checked(older, head_of(older), kept=KEPT) == Break(7, Fault.KEPT)


@given(
    place=st.integers(0, LENGTH - 1),
    column=st.sampled_from(Row._fields),
    data=st.data(),
)
def test_check__any_one_column_of_any_one_row_changed__breaks_at_that_row(place, column, data):
    row = ROWS[place]
    old = getattr(row, column)
    if isinstance(old, bytes):
        spot = data.draw(st.integers(0, len(old) - 1))
        new = old[:spot] + bytes([old[spot] ^ data.draw(st.integers(1, 255))]) + old[spot + 1 :]
    elif isinstance(old, bool):
        new = not old
    elif isinstance(old, int):
        new = data.draw(st.integers(0, 99).filter(lambda value: value != old))
    elif isinstance(old, datetime):
        new = old + timedelta(microseconds=data.draw(st.integers(1, 10**12)))
    elif column == "canonical":
        spot = data.draw(st.integers(0, len(old) - 1))
        new = old[:spot] + data.draw(st.text(max_size=2).filter(lambda text: text != old[spot])) + old[spot + 1 :]
    else:
        new = data.draw(st.text(max_size=5).filter(lambda text: text != old))
    found = checked(with_row(place, row._replace(**{column: new})), HEAD)
    assert found is not None
    # A number is also missed where it was, or met a second time where it now is.
    assert found.seq == row.seq or (column == "seq" and found.seq <= row.seq)


@given(order=st.permutations(range(LENGTH)))
def test_check__the_rows_in_any_other_order__breaks(order):
    rows = [ROWS[place]._replace(seq=seq) for seq, place in enumerate(order, 1)]
    if rows != ROWS:
        assert checked(rows, HEAD) is not None


@given(kept=st.sets(st.integers(0, LENGTH - 1), max_size=LENGTH - 1))
def test_check__any_rows_missing__names_the_first_missing(kept):
    rows = [ROWS[place] for place in sorted(kept)]
    missing = min(set(range(LENGTH)) - kept) + 1
    assert checked(rows, HEAD) == Break(missing, Fault.MISSING)

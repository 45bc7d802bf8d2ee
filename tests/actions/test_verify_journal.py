"""``verify_journal`` on a real journal: each tampering, done in SQL behind the trigger's back, is found."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction

from memory.claims.events import Promoted, Rejected
from oml.core.actor import Actor, Channel, Role
from oml.journal.append import append
from oml.journal.chain_check import Fault
from oml.journal.models import JournalEntry
from oml.journal.verify import verify_tenant
from workareas.actions.tenants import provision_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    """A tenant with ten entries beyond those of its making, and an owner's access to the table."""
    made = provision_tenant(slug="acme", name="Acme")
    write(made.admin, 10)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE journal_journalentry DISABLE TRIGGER journal_no_change")
    return made.admin.tenant_id


@pytest.fixture
def neighbour():
    """A second, honest tenant."""
    made = provision_tenant(slug="besra", name="Besra")
    write(made.admin, 3)
    return made.admin.tenant_id


def write(actor, count):
    with transaction.atomic():
        for number in range(count):
            claim = {"workarea_id": "wa_1", "artifact_id": f"art_{number}", "claim_key": "k/é", "version": 1}
            promoted = Promoted(kind="memory", self_signed=False, closure_size=0, **claim)
            append(actor, [promoted, Rejected(cause="verdict", **claim)], epoch=None)


def sql(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def run(*arguments):
    """The command's exit code and what it printed."""
    out = StringIO()
    try:
        call_command("verify_journal", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue()
    return 0, out.getvalue()


def broken_at(tenant):
    """Run the command, expect this one tenant to be broken, return where and why."""
    code, printed = run()
    assert code == 1
    (line,) = [line for line in printed.splitlines() if "BROKEN" in line]
    assert line.startswith(tenant)
    place, why = re.search(r"BROKEN at (\d+): (.*)", line).groups()
    return int(place), why


def head_printed(tenant):
    _, printed = run("--tenant", tenant)
    return re.search(rf"head ({tenant}:\d+:[0-9a-f]{{64}})", printed)[1]


def test_verify_journal__untouched__exits_0_with_counts_rate_and_heads(tenant, neighbour):
    code, printed = run()
    assert code == 0
    count = JournalEntry.objects.filter(tenant_id=tenant).count()
    assert re.search(rf"{tenant}  {count} entries, [\d,]+/s  intact, head {tenant}:{count}:[0-9a-f]{{64}}", printed)
    assert neighbour in printed and "2 of 2 journals intact" in printed


def test_verify_journal__one_tenant_chosen__leaves_the_others_alone(tenant, neighbour):
    sql("UPDATE journal_journalentry SET tail = NOT tail WHERE tenant_id = %s AND seq = 2", tenant)
    code, printed = run("--tenant", neighbour)
    assert code == 0 and tenant not in printed


def test_verify_journal__no_such_tenant__says_so():
    with pytest.raises(CommandError, match="there is no tenant ten_nobody"):
        call_command("verify_journal", "--tenant", "ten_nobody")


def test_verify_journal__content_changed__names_the_entry(tenant, neighbour):
    sql(
        "UPDATE journal_journalentry SET canonical = replace(canonical, 'verdict', 'expired') "
        "WHERE tenant_id = %s AND canonical LIKE '%%verdict%%' AND seq > 12",
        tenant,
    )
    place, why = broken_at(tenant)
    first = JournalEntry.objects.filter(tenant_id=tenant, canonical__contains="expired").order_by("seq").first()
    assert (place, why) == (first.seq, Fault.TEXT)


def test_verify_journal__content_changed_with_its_leaf__names_the_entry(tenant):
    sql(
        "UPDATE journal_journalentry SET canonical = replace(canonical, 'art_3', 'art_9'), subject_id = 'art_9', "
        "leaf_hash = sha256('\\x00'::bytea || convert_to(replace(canonical, 'art_3', 'art_9'), 'UTF8')) "
        "WHERE tenant_id = %s AND subject_id = 'art_3'",
        tenant,
    )
    first = JournalEntry.objects.filter(tenant_id=tenant, subject_id="art_9").order_by("seq").first()
    assert broken_at(tenant) == (first.seq, Fault.CHAIN)


def test_verify_journal__tail_cut__names_the_first_missing(tenant):
    last = JournalEntry.objects.filter(tenant_id=tenant).count()
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s AND seq > %s", tenant, last - 3)
    assert broken_at(tenant) == (last - 2, Fault.MISSING)


def test_verify_journal__an_entry_deleted__names_it(tenant):
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s AND seq = 4", tenant)
    assert broken_at(tenant) == (4, Fault.MISSING)


def test_verify_journal__two_entries_exchanged__names_the_first(tenant):
    sql("UPDATE journal_journalentry SET seq = -1 WHERE tenant_id = %s AND seq = 5", tenant)
    sql("UPDATE journal_journalentry SET seq = 5 WHERE tenant_id = %s AND seq = 8", tenant)
    sql("UPDATE journal_journalentry SET seq = 8 WHERE tenant_id = %s AND seq = -1", tenant)
    assert broken_at(tenant) == (5, Fault.CHAIN)


def test_verify_journal__an_entry_forged_behind_the_head__names_it(tenant):
    last = JournalEntry.objects.filter(tenant_id=tenant).order_by("-seq").first()
    last.pk, last.seq = None, last.seq + 1
    last.save()
    place, _ = broken_at(tenant)
    assert place == last.seq


def test_verify_journal__another_tenants_entry_in_its_place__names_it(tenant, neighbour):
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s AND seq = 6", tenant)
    sql("UPDATE journal_journalentry SET tenant_id = %s WHERE tenant_id = %s AND seq = 6", tenant, neighbour)
    code, printed = run("--tenant", tenant)
    assert code == 1 and f"BROKEN at 6: {Fault.CHAIN}" in printed
    code, printed = run("--tenant", neighbour)
    assert code == 1 and f"BROKEN at 6: {Fault.MISSING}" in printed


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "2020-01-01T00:00:00Z"),
        ("event_type", "lifecycle.demote"),
        ("workarea_id", "wa_2"),
        ("far_workarea_id", "wa_2"),
        ("simulation_id", "sim_1"),
        ("subject_id", "art_other"),
        ("tail", False),
        ("owner_id", "pri_1"),
    ],
)
def test_verify_journal__metadata_changed__names_entry_and_column(tenant, column, value):
    place = JournalEntry.objects.filter(tenant_id=tenant, event_type="lifecycle.promote").first().seq
    sql(f"UPDATE journal_journalentry SET {column} = %s WHERE tenant_id = %s AND seq = %s", value, tenant, place)
    assert broken_at(tenant) == (place, f"{Fault.COLUMN} ({column})")


def test_verify_journal__a_rejection_put_into_the_tail__names_it(tenant):
    place = JournalEntry.objects.filter(tenant_id=tenant, event_type="lifecycle.reject").first().seq
    sql("UPDATE journal_journalentry SET tail = true WHERE tenant_id = %s AND seq = %s", tenant, place)
    assert broken_at(tenant) == (place, f"{Fault.COLUMN} (tail)")


def test_verify_journal__the_head_altered__is_broken(tenant):
    sql("UPDATE journal_journalhead SET chain_hash = %s WHERE tenant_id = %s", bytes(32), tenant)
    assert broken_at(tenant) == (JournalEntry.objects.filter(tenant_id=tenant).count(), Fault.HEAD)


def test_verify_journal__the_head_removed__is_broken(tenant):
    sql("DELETE FROM journal_journalhead WHERE tenant_id = %s", tenant)
    assert broken_at(tenant) == (1, Fault.HEAD)


def test_verify_journal__a_tenants_whole_journal_removed__is_missing_from_the_first(tenant, neighbour):
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s", tenant)
    sql("DELETE FROM journal_journalhead WHERE tenant_id = %s", tenant)
    assert broken_at(tenant) == (1, Fault.MISSING)


def test_verify_journal__put_back_to_an_older_state__is_seen_with_a_kept_head(tenant):
    kept = head_printed(tenant)
    last = JournalEntry.objects.filter(tenant_id=tenant).count()
    sql("DELETE FROM journal_journalentry WHERE tenant_id = %s AND seq > %s", tenant, last - 2)
    sql(
        "UPDATE journal_journalhead h SET seq = e.seq, chain_hash = e.chain_hash FROM journal_journalentry e "
        "WHERE e.tenant_id = h.tenant_id AND h.tenant_id = %s AND e.seq = %s",
        tenant,
        last - 2,
    )
    assert run()[0] == 0  # nothing inside the database can tell
    code, printed = run("--kept", kept)
    assert code == 1 and f"BROKEN at {last - 1}: {Fault.KEPT}" in printed


def test_verify_journal__grown_since_the_head_was_kept__is_intact(tenant):
    kept = head_printed(tenant)
    write(Actor(tenant, "pri_1", "key_1", Role.ADMIN, Channel.CLI), 2)
    assert run("--kept", kept)[0] == 0


@pytest.mark.parametrize("text", ["", "ten_1", "ten_1:0:" + "00" * 32, "ten_1:1:00", "ten_1:one:" + "00" * 32])
def test_verify_journal__a_kept_head_that_is_none__is_refused(text):
    with pytest.raises(CommandError, match="kept head"):
        call_command("verify_journal", "--kept", text)


def test_verify_tenant__a_long_journal__reports_progress_that_adds_up(tenant, monkeypatch):
    monkeypatch.setattr("oml.journal.verify.CHUNK", 4)
    monkeypatch.setattr("oml.journal.rows.CHUNK", 4)
    steps = []
    verified = verify_tenant(tenant, advance=steps.append)
    assert verified.broken is None
    assert len(steps) > 3 and sum(steps) == verified.entries == JournalEntry.objects.filter(tenant_id=tenant).count()

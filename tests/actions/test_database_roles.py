"""The application's database role: it can do all of the product's work and nothing to history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import ProgrammingError, connection, transaction

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.recall import readlog
from memory.recall.sealing import seal_read_logs
from oml.journal.checkpoint import make_checkpoint
from oml.journal.roles import append_only_tables, findings
from oml.journal.verify import verify_tenant
from review.evidence.export import export_evidence
from tests.support.world import World
from workareas.actions.keys import revoke_key

pytestmark = pytest.mark.django_db
ROLE = "oml_app_under_test"
DENIED = r"permission denied|must be owner"


@pytest.fixture(autouse=True)
def _outside(tmp_path: Path, settings: Any) -> None:
    settings.OML_CHECKPOINT_DIR = tmp_path / "kept"


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def application_role() -> None:
    sql(f"CREATE ROLE {ROLE} NOSUPERUSER NOCREATEDB NOCREATEROLE")
    call_command("database_roles", "--grant", ROLE, stdout=StringIO())


@contextmanager
def as_application() -> Iterator[None]:
    sql(f"SET LOCAL ROLE {ROLE}")
    try:
        yield
    finally:
        sql("RESET ROLE")


def test_application_role__the_products_work__goes_through(world: World, application_role: None) -> None:
    with as_application():
        artifact = world.promoted()
        world.reject(_scanned(world))
        demote_memory(world.admin, artifact=artifact, reason="old")
        erase_memory(world.admin, artifact=artifact, reason="gone")
        readlog.record(world.reader, surface="recall", workarea_id=None, query="q", returned=[artifact])
        assert seal_read_logs() == 1
        assert make_checkpoint(world.admin.tenant_id) is not None
        with export_evidence(world.admin).file as file:
            assert file.read(4) == b"PK\x03\x04"
        revoke_key(world.admin, key=world.reader.key_id)
        World.build("besra")
        assert verify_tenant(world.admin.tenant_id).broken is None
        assert findings() == []
        out = StringIO()
        call_command("database_roles", "--check", stdout=out)
        assert "change none of it" in out.getvalue()


def _scanned(world: World) -> str:
    artifact = world.submit()
    world.scan()
    return artifact


@pytest.mark.parametrize("table", ["journal_journalentry", "journal_checkpoint", "memory_readlog"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET id = id",
        "DELETE FROM {table}",
        "TRUNCATE {table}",
        "ALTER TABLE {table} DISABLE TRIGGER USER",
        "DROP TABLE {table}",
        "ALTER TABLE {table} OWNER TO CURRENT_USER",
        "CREATE TRIGGER mine BEFORE INSERT ON {table} EXECUTE FUNCTION journal_refuse_change()",
    ],
)
def test_application_role__anything_against_history__is_denied(
    world: World, application_role: None, table: str, statement: str
) -> None:
    assert table in append_only_tables()
    with as_application(), pytest.raises(ProgrammingError, match=DENIED), transaction.atomic():
        sql(statement.format(table=table))


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER journal_no_change ON journal_journalentry",
        "DROP FUNCTION journal_refuse_change() CASCADE",
        "DELETE FROM journal_journalhead",
        "UPDATE journal_journalsubtree SET level = 9",
        "INSERT INTO django_migrations (app, name, applied) VALUES ('x', 'y', now())",
        "CREATE TABLE mine (id int)",
        "SET session_replication_role = replica",
    ],
)
def test_application_role__ways_around__are_denied(world: World, application_role: None, statement: str) -> None:
    with as_application(), pytest.raises(ProgrammingError, match=DENIED), transaction.atomic():
        sql(statement)


def test_check__as_the_owner__says_what_it_could_do(world: World) -> None:
    assert findings()
    with pytest.raises(CommandError, match="could change history"):
        call_command("database_roles", "--check", stdout=StringIO())


def test_check__a_privilege_given_back__is_found(world: World, application_role: None) -> None:
    sql(f"GRANT DELETE ON journal_journalentry TO {ROLE}")
    with as_application():
        assert [(one.table, one.privilege) for one in findings()] == [("journal_journalentry", "DELETE")]
        out = StringIO()
        with pytest.raises(CommandError):
            call_command("database_roles", "--check", stdout=out)
        assert "journal_journalentry: the connected role has DELETE" in out.getvalue()


def test_grant__run_again_after_a_privilege_crept_in__takes_it_back(world: World, application_role: None) -> None:
    sql(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE}")
    call_command("database_roles", "--grant", ROLE, stdout=StringIO())
    with as_application():
        assert findings() == []


def test_print__shows_the_sql__and_changes_nothing(world: World) -> None:
    sql(f"CREATE ROLE {ROLE}")
    out = StringIO()
    call_command("database_roles", "--print", ROLE, stdout=out)
    assert f'GRANT SELECT, INSERT ON "public"."journal_journalentry" TO "{ROLE}";' in out.getvalue()
    with as_application(), pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        sql("SELECT 1 FROM journal_journalentry")


@pytest.mark.parametrize(
    "role, message",
    [("oml_nobody", r"there is no role"), ("CURRENT", r"is a superuser|owns tables")],
)
def test_grant__a_role_that_cannot_be_held__is_refused(world: World, role: str, message: str) -> None:
    if role == "CURRENT":
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            (role,) = cursor.fetchone()
    with pytest.raises(CommandError, match=message):
        call_command("database_roles", "--grant", role)


def test_grant__a_member_of_the_owner__is_refused(world: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE oml_owner_under_test")
        cursor.execute("ALTER TABLE memory_readlog OWNER TO oml_owner_under_test")
        cursor.execute(f"CREATE ROLE {ROLE} IN ROLE oml_owner_under_test")
    with pytest.raises(CommandError, match="member of their owner"):
        call_command("database_roles", "--grant", ROLE)

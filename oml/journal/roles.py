"""Two database roles: one owns the tables and migrates, one is the application and cannot change what happened.

Triggers refuse changes of append-only tables to everybody, but whoever owns a table may switch its triggers off. So
the server should not run as the owner: its role gets INSERT and SELECT on append-only tables and nothing else, and no
right to define anything (docs/operations/database-roles.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection
from psycopg import sql

# Tables that are no history but must not shrink or be repointed either: what the application may do with them.
_NARROWED = {
    "journal_journalhead": "SELECT, INSERT, UPDATE",
    "journal_journalsubtree": "SELECT, INSERT",
    "django_migrations": "SELECT",
}
_HISTORY = "SELECT, INSERT"
_ORDINARY = "SELECT, INSERT, UPDATE, DELETE"


class RoleUnfit(ValueError):
    """A role that this separation cannot be built on; the message is for whoever runs the deployment."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the connected role could do to history and should not be able to."""

    table: str
    privilege: str


def append_only_tables() -> list[str]:
    """Tables that hold history: those whose trigger refuses TRUNCATE. The database says so itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal AND t.tgname LIKE %s ORDER BY 1",
            [r"%\_no\_truncate"],
        )
        return [row[0] for row in cursor.fetchall()]


def statements(role: str) -> list[str]:
    """The SQL that gives an existing role the application's rights, for the tables as they are now.

    Args:
        role: not the owner, not a superuser.

    Raises:
        RoleUnfit: there is no such role, or it could take back what it is denied.
    """
    _check(role)
    name = sql.Identifier(role)
    history = append_only_tables()
    if not history:
        raise RoleUnfit("this database has no append-only tables yet; migrate first")
    parts = [
        sql.SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC"),
        sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(name),
        sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(name),
        sql.SQL("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}").format(name),
    ]
    for table in _tables():
        rights = _HISTORY if table in history else _NARROWED.get(table, _ORDINARY)
        parts.append(sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(rights), sql.Identifier("public", table), name))
    with connection.cursor() as cursor:
        return [part.as_string(cursor.cursor) for part in parts]


def findings() -> list[Finding]:
    """What the connected role could do to history; empty when the separation holds."""
    found: list[Finding] = []
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if cursor.fetchone()[0]:
            return [Finding("every table", "is a superuser")]
        for table in append_only_tables():
            cursor.execute(
                "SELECT pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class WHERE oid = %s::regclass",
                [f"public.{table}"],
            )
            if cursor.fetchone()[0]:
                found.append(Finding(table, "owns it and may switch its triggers off"))
                continue
            for privilege in ("UPDATE", "DELETE", "TRUNCATE", "TRIGGER"):
                cursor.execute("SELECT has_table_privilege(current_user, %s, %s)", [f"public.{table}", privilege])
                if cursor.fetchone()[0]:
                    found.append(Finding(table, privilege))
    return found


def _check(role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolcreaterole OR rolbypassrls FROM pg_roles WHERE rolname = %s", [role])
        row = cursor.fetchone()
        if row is None:
            raise RoleUnfit(f"there is no role {role}; make it first: CREATE ROLE {role} LOGIN PASSWORD '…'")
        if row[0]:
            raise RoleUnfit(f"role {role} is a superuser or may make roles: nothing could be denied to it")
        cursor.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') "
            "AND pg_has_role(%s, relowner, 'MEMBER')",
            [role],
        )
        if cursor.fetchone()[0]:
            raise RoleUnfit(f"role {role} owns tables, or is a member of their owner; let another role own them")


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [row[0] for row in cursor.fetchall()]

"""Fixtures that every test may use: a tenant with people and places, and an HTTP caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from hypothesis import settings

from tests.support.api import Api
from tests.support.world import World
from workareas import quota

# Shared machines stall; a slow example is not a wrong one.
settings.register_profile("oml", deadline=None)
settings.load_profile("oml")


_WITH_PROCESSES = ("tests/chaos/", "tests/clients/", "tests/embedded/", "tests/browser/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that start servers and browsers run one after another on one of the two workers of ``make test``."""
    for item in items:
        if item.nodeid.startswith(_WITH_PROCESSES):
            item.add_marker(pytest.mark.xdist_group("processes"))


@pytest.fixture(autouse=True)
def _fresh_process_state() -> Iterator[None]:
    quota.forget()
    yield
    quota.forget()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> None:
    """Let the test runner, and nobody else, empty the journal between transactional tests."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute(
            "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE %s",
            [r"%\_no\_truncate"],
        )
        for table, trigger in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")


@pytest.fixture
def world(db: None) -> World:
    """A tenant ``acme`` with universe.a, universe.a.team, universe.ab and universe.b, all committed."""
    return World.build("acme")


@pytest.fixture
def api(client: Client) -> Api:
    """Calls ``/v1`` as a key and asserts statuses in words."""
    return Api(client)

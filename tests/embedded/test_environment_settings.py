"""oml/startup/env.py: a wrong variable stops the process with a sentence, and no value leaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pgmq.base import PGMQConfig
from psycopg.conninfo import conninfo_to_dict

from oml.startup.broker import broker
from oml.startup.env import Environment, Stage, database_from_url, read

ROOT = Path("/srv/oml")
PRODUCTION = {
    "OML_ENV": "production",
    "DATABASE_URL": "postgresql://oml:hunter2@db.example:5432/oml",
    "CELERY_BROKER_URL": "redis://broker.example:6379/0",
    "OML_ALLOWED_HOSTS": "oml.example.org",
}


def refused(**changes: str) -> str:
    with pytest.raises(ImproperlyConfigured) as caught:
        read({**PRODUCTION, **changes}, root=ROOT)
    return str(caught.value)


def test_read__empty_environment__embedded_default_under_the_project() -> None:
    found = read({}, root=ROOT)
    assert found.stage is Stage.DEV
    assert found.home == ROOT / ".oml"
    assert found.port == 8000
    assert found.embedded_database
    assert found.database["HOST"] == "/srv/oml/.oml/postgres/socket"
    assert found.broker_url == "pgmq://localhost"
    assert found.broker_dsn == "postgresql://oml@/oml?host=/srv/oml/.oml/postgres/socket"


def test_read__whole_production_environment__taken_as_it_is() -> None:
    found = read(PRODUCTION, root=ROOT)
    assert isinstance(found, Environment)
    assert found.allowed_hosts == ["oml.example.org"]
    assert found.broker_options["unacked_restore_interval"] == 5
    assert not found.embedded_database


@pytest.mark.parametrize("name", ["DATABASE_URL", "CELERY_BROKER_URL", "OML_ALLOWED_HOSTS"])
def test_read__production_without_a_needed_variable__named(name: str) -> None:
    assert name in refused(**{name: ""})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OML_ENV", "prod"),
        ("OML_PORT", "http"),
        ("OML_PORT", "70000"),
        ("OML_PORT", "٨٠"),
        ("OML_REPLICAS", "0"),
        ("OML_JOURNAL_ORIGIN", "two words"),
        ("OML_JOURNAL_ORIGIN", "/"),
        ("OML_EMBEDDER", "gpt"),
        ("OML_DEBUG", "yes please"),
        ("OML_ALLOWED_HOSTS", "*"),
        ("OML_CSRF_TRUSTED_ORIGINS", "oml.example.org"),
        ("DATABASE_URL", "mysql://a/b"),
        ("DATABASE_URL", "postgresql://db.example:5432/"),
        ("CELERY_BROKER_URL", "amqp://broker.example"),
    ],
)
def test_read__value_out_of_range__the_variable_is_named(name: str, value: str) -> None:
    assert name in refused(**{name: value})


def test_read__debug_in_production__refused() -> None:
    assert "OML_DEBUG" in refused(OML_DEBUG="1")


def test_read__several_problems__all_in_one_message() -> None:
    message = refused(OML_PORT="0", OML_REPLICAS="many", DATABASE_URL="")
    assert all(name in message for name in ("OML_PORT", "OML_REPLICAS", "DATABASE_URL"))


@pytest.mark.parametrize(
    "url", ["postgresql://oml:hunter2@db:port/x", "ftp://oml:hunter2@db/x", "postgresql://oml:hunter2@db/"]
)
def test_read__broken_database_url__password_is_not_in_the_message(url: str) -> None:
    assert "hunter2" not in refused(DATABASE_URL=url)


def test_database_from_url__escaped_password_and_options__taken_apart() -> None:
    found = database_from_url("postgres://o%40ml:p%2Fw@db.example:6432/memory?sslmode=require")
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"], found["NAME"]) == (
        "o@ml",
        "p/w",
        "db.example",
        "6432",
        "memory",
    )
    assert found["OPTIONS"] == {"sslmode": "require", "connect_timeout": "5"}
    slower = database_from_url("postgres://db.example/memory?connect_timeout=30")
    assert slower["OPTIONS"] == {"connect_timeout": "30"}


def test_read__pgmq_url_of_its_own__its_database_is_the_broker() -> None:
    found = read({"CELERY_BROKER_URL": "pgmq://u:p@db:5432/queue"}, root=ROOT)
    assert found.broker_dsn == "postgresql://u:p@db:5432/queue"


@pytest.mark.parametrize(
    ("url", "reached"),
    [
        ("pgmq://oml@/oml?host=/home/an%20o%27ne/socket", {"host": "/home/an o'ne/socket", "user": "oml"}),
        (
            "pgmq://u:p%20%3A%2F%2Fw@db.example:6432/queue?sslmode=require",
            {"host": "db.example", "port": "6432", "user": "u", "password": "p ://w", "sslmode": "require"},
        ),
    ],
)
def test_broker__pgmq_url__its_client_connects_to_exactly_what_was_named(url: str, reached: dict[str, str]) -> None:
    words = broker(url, database_url="").options["conn_string"]
    connection = conninfo_to_dict(PGMQConfig(conn_string=words).dsn)
    assert {name: connection[name] for name in reached} == reached


def test_broker__unreadable_pgmq_url__password_is_not_in_the_message() -> None:
    assert "hunter2" not in refused(CELERY_BROKER_URL="pgmq://u:hunter2@db/x?no=such")

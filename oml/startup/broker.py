"""Celery's broker by URL, with the transport options that were measured (docs/adr/0002).

pgmq's client reads a connection string badly: of a URL it drops everything after ``?`` (the socket's folder,
``sslmode``), and of libpq words it keeps five and pastes their values together again without quotes. So it gets
libpq words whose values are quoted already, and further options travel behind the password. What must never
happen here: a broker that silently connects somewhere else than it was told, or without the TLS it was told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ProgrammingError

_KEPT = ("host", "port", "dbname", "user", "password")
_CONNECT_SECONDS = "3"
# The connection string decides where to; without any host kombu warns at every connection.
_PGMQ = "pgmq://localhost"


@dataclass(frozen=True)
class Broker:
    """Where nudges go.

    Attributes:
        url: Celery's ``broker_url``.
        options: Celery's ``broker_transport_options``.
        dsn: libpq URL of the database that holds pgmq's queues; empty for another kind of broker.
    """

    url: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    dsn: str = ""


def broker(url: str, *, database_url: str) -> Broker:
    """The broker that ``CELERY_BROKER_URL`` names; bare ``pgmq://`` means the product's own database.

    Raises:
        ValueError: another scheme, or a pgmq URL that libpq cannot read. The URL itself is not in the message.
    """
    scheme = url.partition("://")[0]
    if scheme == "pgmq":
        own = url[len("pgmq://") :]
        dsn = f"postgresql://{own}" if own else database_url.replace("postgres://", "postgresql://", 1)
        return Broker(_PGMQ, _pgmq_options(dsn), dsn)
    if scheme in ("redis", "rediss"):
        options = {
            "visibility_timeout": 600,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "socket_connect_timeout": 2,
            "socket_timeout": 5,
        }
        return Broker(url, options)
    if scheme == "memory":
        return Broker(url)
    raise ValueError("CELERY_BROKER_URL must start with redis://, rediss:// or pgmq://")


def _pgmq_options(dsn: str) -> dict[str, Any]:
    return {
        "conn_string": pgmq_words(dsn),
        "init_extension": False,
        "visibility_timeout": 600,
        "wait_time_seconds": 0,
        "use_notify": True,
        "polling_interval": 1,
        "pool_size": 2,  # of one kombu connection, which one thread uses at a time
        "pool_timeout": 3,
    }


def pgmq_words(dsn: str) -> str:
    """A libpq URL as the connection string that pgmq's client neither shortens nor garbles.

    Raises:
        ValueError: libpq cannot read it.
    """
    try:
        found = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    except ProgrammingError:
        raise ValueError("CELERY_BROKER_URL is not a URL that Postgres understands") from None
    further = {"connect_timeout": _CONNECT_SECONDS} | {k: v for k, v in found.items() if k not in _KEPT}
    kept = {name: _quoted(found.get(name, "")) for name in _KEPT}
    kept["password"] += "".join(f" {name}={_quoted(value)}" for name, value in further.items())
    words = " ".join(f"{name}={_quoted(value)}" for name, value in kept.items())
    return words.replace("://", ":\\//")  # else the client takes the words for a URL


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

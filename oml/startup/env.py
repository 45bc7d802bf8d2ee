"""Reads and validates the environment at start-up, all of it at once.

Why this module exists: a wrong variable must stop the process with a sentence that names it, before the
first request, and never be found by a user. Every problem is collected and reported together.

What must never happen here: a value printed (a DATABASE_URL carries a password), a default that is safe
only on a laptop used in production.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from oml.embedded.places import Places
from oml.startup.broker import Broker, broker

T = TypeVar("T")
EMBEDDERS = ("minilm",)


class Stage(StrEnum):
    """What ``OML_ENV`` may say."""

    DEV = "dev"
    TEST = "test"
    PRODUCTION = "production"


@dataclass(frozen=True)
class Environment:
    """The validated environment; settings modules read this and never ``os.environ``."""

    stage: Stage
    home: Path
    port: int
    database: dict[str, Any]
    broker_url: str
    broker_options: dict[str, Any]
    broker_dsn: str
    replicas: int
    embed_max_chunks: int
    embedder: str
    checkpoint_dir: Path
    journal_origin: str
    allowed_hosts: list[str]
    csrf_trusted_origins: list[str]
    trusted_proxy: bool
    debug: bool
    embedded_database: bool = field(default=False)


def read(environ: Mapping[str, str], *, root: Path) -> Environment:
    """Validate every variable of OML.

    Args:
        environ: usually ``os.environ``.
        root: the folder of the project; a relative ``OML_HOME`` is meant from there.
    Raises:
        ImproperlyConfigured: one message with one line per problem.
    """
    problems: list[str] = []

    def attempt(make: Callable[[], T], fallback: T) -> T:
        try:
            return make()
        except ValueError as problem:
            problems.append(str(problem))
            return fallback

    stage = attempt(lambda: _stage(environ), Stage.PRODUCTION)
    home = (root / (environ.get("OML_HOME") or ".oml")).absolute()
    places = Places(home)
    url = environ.get("DATABASE_URL", "")
    if not url and stage is Stage.PRODUCTION:
        problems.append("DATABASE_URL is not set; production never uses the embedded Postgres")
    no_database: dict[str, Any] = {}
    database = attempt(lambda: database_from_url(url or places.database_url()), no_database)
    broker_url = environ.get("CELERY_BROKER_URL", "")
    if not broker_url and stage is Stage.PRODUCTION:
        problems.append("CELERY_BROKER_URL is not set, for example redis://host:6379/0")
    default_broker = "memory://" if stage is Stage.TEST else "pgmq://"
    found_broker = attempt(
        lambda: broker(broker_url or default_broker, database_url=url or places.database_url()), Broker()
    )
    hosts = _words(environ.get("OML_ALLOWED_HOSTS", ""))
    if stage is Stage.PRODUCTION and not hosts:
        problems.append("OML_ALLOWED_HOSTS is not set: the host names users type, separated by commas")
    if stage is Stage.PRODUCTION and "*" in hosts:
        problems.append("OML_ALLOWED_HOSTS must name hosts in production; * lets anybody forge the Host header")
    found = Environment(
        stage=stage,
        home=home,
        port=attempt(lambda: _number(environ, "OML_PORT", default=8000, low=1, high=65535), 8000),
        database=database,
        broker_url=found_broker.url,
        broker_options=found_broker.options,
        broker_dsn=found_broker.dsn,
        replicas=attempt(lambda: _number(environ, "OML_REPLICAS", default=1, low=1, high=1000), 1),
        embed_max_chunks=attempt(lambda: _number(environ, "EMBED_MAX_CHUNKS", default=64, low=1, high=100_000), 64),
        embedder=attempt(lambda: _choice(environ, "OML_EMBEDDER", EMBEDDERS), EMBEDDERS[0]),
        checkpoint_dir=(root / (environ.get("OML_CHECKPOINT_DIR") or home / "checkpoints")).absolute(),
        journal_origin=attempt(lambda: _origin(environ), "oml"),
        allowed_hosts=hosts or ["localhost", "127.0.0.1", "[::1]"],
        csrf_trusted_origins=attempt(lambda: _origins(environ), []),
        trusted_proxy=attempt(lambda: _flag(environ, "OML_TRUST_PROXY_HEADERS"), False),
        debug=attempt(lambda: _flag(environ, "OML_DEBUG"), False),
        embedded_database=not url,
    )
    if found.debug and stage is Stage.PRODUCTION:
        problems.append("OML_DEBUG shows internals to everybody; unset it in production")
    if problems:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        raise ImproperlyConfigured(f"OML cannot start, the environment needs attention:\n{lines}")
    return found


def database_from_url(url: str) -> dict[str, Any]:
    """Django's DATABASES entry for a ``postgresql://`` URL; ``?host=/folder`` means a unix socket.

    Raises:
        ValueError: not a Postgres URL, or no database name. The URL itself is not in the message.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("DATABASE_URL is not a URL (is a special character in the password unescaped?)") from None
    if parts.scheme not in ("postgres", "postgresql"):
        raise ValueError("DATABASE_URL must start with postgresql://")
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ValueError("DATABASE_URL names no database: postgresql://user:password@host:5432/NAME")
    # A server that does not even refuse must cost a request seconds, not the minutes of TCP.
    options = {"connect_timeout": "5"} | dict(parse_qsl(parts.query))
    host = options.pop("host", "") or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or ""),
        "OPTIONS": options,
        # Persistent, checked before reuse: a database restart costs one reconnect, not one failed request.
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,
    }


def _stage(environ: Mapping[str, str]) -> Stage:
    word = environ.get("OML_ENV") or Stage.DEV.value
    try:
        return Stage(word)
    except ValueError:
        raise ValueError(f"OML_ENV is one of {', '.join(Stage)}") from None


def _origin(environ: Mapping[str, str]) -> str:
    """The name that checkpoints are signed under; it may hold what a signed note's key name may hold."""
    word = (environ.get("OML_JOURNAL_ORIGIN") or "oml").rstrip("/")
    good = word.isprintable() and not any(letter.isspace() or letter == "+" for letter in word)
    if not good or not 0 < len(word) <= 200:
        raise ValueError("OML_JOURNAL_ORIGIN is a name without spaces or plus signs, such as oml.example.org")
    return word


def _number(environ: Mapping[str, str], name: str, *, default: int, low: int, high: int) -> int:
    word = environ.get(name) or str(default)
    if not word.isascii() or not word.isdigit() or not low <= int(word) <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}")
    return int(word)


def _choice(environ: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    word = environ.get(name) or choices[0]
    if word not in choices:
        raise ValueError(f"{name} is one of {', '.join(choices)}")
    return word


def _flag(environ: Mapping[str, str], name: str) -> bool:
    word = (environ.get(name) or "0").lower()
    if word not in ("0", "1", "true", "false"):
        raise ValueError(f"{name} is 1 or 0")
    return word in ("1", "true")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _origins(environ: Mapping[str, str]) -> list[str]:
    origins = _words(environ.get("OML_CSRF_TRUSTED_ORIGINS", ""))
    if any(not origin.startswith(("https://", "http://")) for origin in origins):
        raise ValueError("OML_CSRF_TRUSTED_ORIGINS are origins such as https://oml.example.org")
    return origins

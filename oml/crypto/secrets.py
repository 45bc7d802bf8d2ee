"""Named secrets, each a file of its own, outside the repository and the database (design: integrity).

One file per purpose, so that none can stand in for another and each rotates alone. A file is JSON and holds
a ring of keys: ``{"version": 1, "name", "generated_for", "keys": [{"id", "created_at", "not_after",
"seed"}]}``; the newest key still in its window makes, all of them check. Files are read once per process; a
restart picks up changes.

What must never happen here: a secret in an error, a file that others can read taken all the same, a key
invented in production, two processes that start together ending with different keys.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import secrets as entropy
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from oml.core.clock import now, parse_rfc3339, rfc3339_seconds
from oml.crypto.errors import SecretUnusable

SEED_BYTES = 32
_OTHERS_MAY_READ = stat.S_IRWXG | stat.S_IRWXO


class SecretName(StrEnum):
    """Every secret a deployment has; the value is the file name without ``.json``."""

    ENVELOPE_SIGNING = "envelope-signing"
    CHECKPOINT_SIGNING = "checkpoint-signing"
    KEY_ENCRYPTION = "key-encryption"
    DIGEST = "digest"
    CURSOR = "cursor"
    DJANGO_SECRET = "django-secret"  # noqa: S105  a file name, not a secret


class Purpose(StrEnum):
    """Whom a file was generated for; written into it, so that a copied file still says so."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True)
class SecretKey:
    """One key of a ring. The seed stays out of ``repr``."""

    id: str
    created_at: datetime
    not_after: datetime | None
    seed: bytes = field(repr=False)

    def usable_at(self, moment: datetime) -> bool:
        """Whether this key may still make something at ``moment``; checking what it made has no end.

        ``created_at`` orders the ring and bounds nothing: a clock set back must not stop a deployment from
        signing.
        """
        return self.not_after is None or moment < self.not_after


@dataclass(frozen=True, slots=True)
class SecretRing:
    """All keys of one named secret, oldest first."""

    name: SecretName
    generated_for: Purpose
    keys: tuple[SecretKey, ...]

    def current(self) -> SecretKey:
        """The key to make new things with: the newest one inside its window.

        Raises:
            SecretUnusable: every key of the ring is past its ``not_after``.
        """
        moment = now()
        for key in reversed(self.keys):
            if key.usable_at(moment):
                return key
        raise SecretUnusable(f"secret {self.name}: no key of the ring is inside its window; rotate it")


def secrets_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """``OML_SECRETS_DIR``, or ``secrets`` under ``OML_HOME`` (default ``.oml``)."""
    chosen = environ.get("OML_SECRETS_DIR")
    return Path(chosen) if chosen else Path(environ.get("OML_HOME") or ".oml") / "secrets"


def load(name: SecretName) -> SecretRing:
    """Return the ring of one named secret; the file is read once per process.

    Raises:
        SecretUnusable: missing, unreadable, malformed, readable by group or others, or, with
            ``OML_ENV=production``, generated for development.
    """
    return _load(secrets_dir(), SecretName(name), _in_production())


def forget() -> None:
    """Drop what was read; the next :func:`load` reads the files again (after a rotation, and in tests)."""
    _load.cache_clear()


def check_all() -> None:
    """Read every secret: for start-up and readiness, so that a bad file is found before the first request.

    Raises:
        SecretUnusable: the first one that cannot be used.
    """
    for name in SecretName:
        load(name).current()


def django_secret_key() -> str:
    """Django's ``SECRET_KEY`` as text."""
    return load(SecretName.DJANGO_SECRET).current().seed.hex()


def cursor_key() -> bytes:
    """The HMAC key of list cursors (``oml.core.cursor``)."""
    return load(SecretName.CURSOR).current().seed


def ensure_generated(*, purpose: Purpose = Purpose.DEVELOPMENT) -> list[SecretName]:
    """Create the secrets that are missing and return their names; existing files are never touched.

    The embedded default, development and tests call this. In production secrets are laid down by whoever
    deploys (``python -m oml.crypto generate`` makes a set), never by a server that happens to find none: a
    replica with a wrong mount must stop, not sign with a key of its own.

    Raises:
        SecretUnusable: development secrets asked for with ``OML_ENV=production``, or the folder cannot be
            written.
    """
    if purpose is Purpose.DEVELOPMENT and _in_production():
        raise SecretUnusable("OML_ENV=production never generates development secrets; set OML_SECRETS_DIR")
    folder = secrets_dir()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = [name for name in SecretName if _create(folder, name, purpose)]
    except OSError as error:
        raise SecretUnusable(f"secrets cannot be written to {folder}: {error.strerror}") from error
    if made:
        forget()
    return made


def _in_production() -> bool:
    return os.environ.get("OML_ENV") == "production"


def _path(folder: Path, name: SecretName) -> Path:
    return folder / f"{name.value}.json"


def _create(folder: Path, name: SecretName, purpose: Purpose) -> bool:
    """Lay one file down whole or not at all; of two processes exactly one wins and both use its file."""
    path = _path(folder, name)
    if path.exists():
        return False
    seed = entropy.token_bytes(SEED_BYTES)
    document = {
        "version": 1,
        "name": name.value,
        "generated_for": purpose.value,
        "keys": [
            {
                # A label to tell ring members apart. Of a hash, so that a file restored twice keeps its ids.
                "id": hashlib.sha256(b"oml-secret-id\0" + seed).hexdigest()[:16],
                "created_at": rfc3339_seconds(now()),
                "not_after": None,
                "seed": base64.b64encode(seed).decode(),
            }
        ],
    }
    handle, scratch = tempfile.mkstemp(prefix=f".{name.value}.", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(scratch, 0o400)
        # link, not rename: rename would replace what another process has put there a moment ago.
        os.link(scratch, path)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
    _fsync_folder(folder)
    return True


def _fsync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@lru_cache(maxsize=64)
def _load(folder: Path, name: SecretName, in_production: bool) -> SecretRing:
    path = _path(folder, name)
    ring = _parse(path, name, _read(path))
    if in_production and ring.generated_for is not Purpose.PRODUCTION:
        raise SecretUnusable(
            f"secret file {path} was generated for development and OML_ENV is production; "
            "make a production set with `python -m oml.crypto generate --production DIR`"
        )
    return ring


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            # The mode of the file that was opened, not of whatever the path names by now.
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise SecretUnusable(f"secret file {path} is not a regular file")
            if mode & _OTHERS_MAY_READ:
                raise SecretUnusable(
                    f"secret file {path} has mode {stat.S_IMODE(mode):04o}: group or others have access; "
                    "chmod 0400 it and, if others had an account here, rotate it"
                )
            return file.read()
    except OSError as error:
        raise SecretUnusable(f"secret file {path} cannot be read: {error.strerror}") from error


def _parse(path: Path, name: SecretName, raw: bytes) -> SecretRing:
    try:
        document = json.loads(raw)
        if document["version"] != 1 or document["name"] != name.value:
            raise SecretUnusable(f"secret file {path} is not version 1 of {name.value}; was it renamed?")
        keys = sorted((_parse_key(row) for row in document["keys"]), key=lambda key: key.created_at)
        purpose = Purpose(document["generated_for"])
    except (ValueError, KeyError, TypeError):
        # `from None`: the message of a parser may quote the file.
        raise SecretUnusable(f"secret file {path} is malformed") from None
    if not keys or len({key.id for key in keys}) != len(keys):
        raise SecretUnusable(f"secret file {path} needs at least one key, and no id twice")
    return SecretRing(name=name, generated_for=purpose, keys=tuple(keys))


def _parse_key(row: dict[str, Any]) -> SecretKey:
    seed = base64.b64decode(row["seed"], validate=True)
    if len(seed) != SEED_BYTES:
        raise ValueError
    key_id = row["id"]
    if not isinstance(key_id, str) or not key_id:
        raise ValueError
    not_after = row["not_after"]
    return SecretKey(
        id=key_id,
        created_at=parse_rfc3339(row["created_at"]),
        not_after=None if not_after is None else parse_rfc3339(not_after),
        seed=seed,
    )

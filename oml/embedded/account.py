"""Which system user runs Postgres: ourselves, or an existing unprivileged one when we are root.

Postgres refuses root. What must never happen here: a user created, the mode of a folder changed that this
project did not make, a privilege kept by the child.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """A user id and group id; ``None`` where the caller's own are kept."""

    uid: int | None = None
    gid: int | None = None

    @classmethod
    def for_postgres(cls) -> Account:
        """Ourselves, or as root the first of ``postgres`` and ``nobody`` that exists.

        Errors: RuntimeError when root has neither.
        """
        if os.geteuid() != 0:
            return cls()
        for name in _CANDIDATES:
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise RuntimeError("Postgres does not run as root, and there is neither a postgres nor a nobody user")

    @property
    def is_other(self) -> bool:
        """True when the server runs as somebody else than this process."""
        return self.uid is not None

    def options(self) -> dict[str, Any]:
        """Arguments of subprocess that make the child this user, with no other group."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.is_other else {}

    def can_enter(self, path: Path) -> bool:
        """Asks the kernel as that user, so that ACLs and mounts count too."""
        if not self.is_other:
            return os.access(path, os.X_OK)
        found = subprocess.run(["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)], cwd="/", **self.options())
        return found.returncode == 0

    def own(self, path: Path) -> None:
        """Hands a folder that this project made to the user; nobody else may look into it."""
        os.chmod(path, 0o700)
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def clean_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a Postgres program gets: no PG* variable and no locale of whoever started it."""
    kept = {name: value for name, value in environ.items() if name in ("PATH", "TMPDIR", "TZ")}
    return kept | {"LC_ALL": "C", "LANG": "C"}

"""Where everything of one ``OML_HOME`` lies. Paths only: nothing here starts or changes anything.

The launcher may have to put Postgres elsewhere (a folder that the server's user cannot enter, a path too
long for a socket); it then writes ``postgres.json``, and everybody else finds the server through here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

# sun_path holds 108 bytes on Linux and 104 on macOS; Postgres appends "/.s.PGSQL.5432.lock".
LONGEST_SOCKET_FOLDER = 85
DATABASE = "oml"
USER = "oml"


@dataclass(frozen=True)
class Places:
    """The files of one home folder."""

    home: Path

    @property
    def run(self) -> Path:
        """Files of the running instance: locks, the owner's process id, the supervisor's configuration."""
        return self.home / "run"

    @property
    def log(self) -> Path:
        """One log file a process."""
        return self.home / "log"

    @property
    def run_lock(self) -> Path:
        """Held by the one `make run` of this home as long as it lives."""
        return self.run / "run.lock"

    @property
    def owner(self) -> Path:
        """Process id and start time of that `make run`."""
        return self.run / "owner.json"

    @property
    def demo(self) -> Path:
        """URL, logins and keys for the person at this machine; mode 0600."""
        return self.home / "demo.json"

    @property
    def seed(self) -> Path:
        """What ``bootstrap --demo`` wrote once: tenant, workareas, keys, humans; mode 0600."""
        return self.home / "demo-tenant.json"

    @property
    def postgres_pointer(self) -> Path:
        """Where Postgres really lies, written by the launcher."""
        return self.home / "postgres.json"

    @property
    def postgres(self) -> Path:
        """The folder of the embedded server: ``data`` and, when the path is short enough, ``socket``."""
        return Path(self._pointer().get("postgres") or self.home / "postgres")

    @property
    def data(self) -> Path:
        """The cluster."""
        return self.postgres / "data"

    @property
    def sockets(self) -> Path:
        """The folder of the unix socket; only its owner can enter."""
        return Path(self._pointer().get("sockets") or self.postgres / "socket")

    def database_url(self, database: str = DATABASE) -> str:
        """URL of the embedded server through its unix socket; it has no TCP port."""
        return f"postgresql://{USER}@/{database}?host={quote(str(self.sockets), safe='/')}"

    def _pointer(self) -> dict[str, str]:
        try:
            found = json.loads(self.postgres_pointer.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

"""The embedded Postgres: made once, started when it is not running, stopped when asked.

Why own code: the packages' managers trust process ids and change permissions (docs/adr/0001). What must
never happen here: two clusters for one home, a half-made cluster taken for a whole one, durability turned
off outside tests, a TCP port opened, a server stopped that belongs to another home.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

from oml.embedded import binaries as provider
from oml.embedded.account import Account, clean_environment
from oml.embedded.places import DATABASE, LONGEST_SOCKET_FOLDER, USER, Places

# The lock file of a killed server blocks the next start until the dead process is reaped: about 2 s.
START_RETRY_SECONDS = 15.0
RECOVERY_SECONDS = 120.0
SHARED = Path("/var/lib/oml")
# The socket's folder becomes a word in connection strings that not every client quotes.
_PLAIN = re.compile(r"[\w/.,:@%+=~-]+", re.ASCII)


class PostgresFailed(Exception):
    """The server would not start or stop; the message ends with the last lines of its log."""


class Cluster:
    """One Postgres cluster under one home.

    Args:
        places: the home it belongs to.
        durable: False only for throw-away clusters of tests.
    """

    def __init__(self, places: Places, *, durable: bool = True) -> None:
        self.places = places
        self.durable = durable
        self.account = Account.for_postgres()
        self._binaries: provider.Binaries | None = None

    @property
    def binaries(self) -> provider.Binaries:
        """The server's programs, copied once when the server's user cannot enter their folder."""
        if self._binaries is None:
            found = provider.find()
            if found.package is not None and not self.account.can_enter(found.bin / "postgres"):
                found = provider.copied_to(found, SHARED)
            self._binaries = found
        return self._binaries

    def ensure_started(self) -> str:
        """Makes the cluster when there is none and starts it when it does not answer; two at once are safe.

        Returns: the URL of the product's database.
        Errors: PostgresFailed, binaries.NoPostgres.
        """
        self.make_folders()
        with self._locked():
            self._settle()
            if not (self.places.data / "PG_VERSION").exists():
                self._initialise()
            if not self.is_ready():
                self._start()
            self.create_database()
        return self.places.database_url()

    def is_ready(self) -> bool:
        """Asks the server itself; a process id in a file proves nothing after a kill -9."""
        if not self.places.sockets.exists():
            return False
        where = ("-h", str(self.places.sockets), "-d", "postgres")
        return self._run("pg_isready", "-q", "-t", "3", *where).returncode == 0

    def stop(self) -> bool:
        """Ends the server of this home; returns False when none was running. Errors: PostgresFailed."""
        if self.postmaster() is None:
            return False
        for mode in ("fast", "immediate"):
            words = ("stop", "-D", str(self.places.data), "-w", "-t", "15", "-m", mode)
            if self._run("pg_ctl", *words).returncode == 0 or self.postmaster() is None:
                return True
        raise PostgresFailed(f"Postgres would not stop{self._last_words()}")

    def postmaster(self) -> psutil.Process | None:
        """The live server process of this cluster, or None."""
        try:
            lines = (self.places.data / "postmaster.pid").read_text().splitlines()
            process = psutil.Process(int(lines[0]))
            if process.status() != psutil.STATUS_ZOMBIE and process.name().startswith("postgres"):
                # The file's second line is the data folder: another home's server is not ours to touch.
                return process if Path(lines[1]) == self.places.data else None
        except (OSError, ValueError, IndexError, psutil.Error):
            pass
        return None

    @property
    def log(self) -> Path:
        """What the server says; without statements, which carry memory text."""
        return self.places.log / "postgres.log"

    def foreground_command(self) -> list[str]:
        """How to run the server as a child, for throw-away clusters; ``ensure_initialised`` comes first."""
        return [self.binaries["postgres"], "-D", str(self.places.data), *self._options()]

    def ensure_initialised(self) -> None:
        """The folders and the cluster, not started."""
        self.make_folders()
        with self._locked():
            self._settle()
            if not (self.places.data / "PG_VERSION").exists():
                self._initialise()

    def make_folders(self) -> None:
        """The home and the folders of locks and logs; modes are set only on what this makes."""
        home = self.places.home
        if not home.exists():
            home.mkdir(parents=True, exist_ok=True)
            # Root's server runs as another user, who must pass through; everything inside has its own mode.
            os.chmod(home, 0o711 if self.account.is_other else 0o700)
        for folder in (self.places.run, self.places.log):
            folder.mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.places.run / "postgres.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _settle(self) -> None:
        """Decides where the cluster and its socket lie, once; later starts follow the pointer."""
        if not self.places.postgres_pointer.exists():
            postgres = self.places.home / "postgres"
            if not self.account.can_enter(self.places.home):
                # A new name each time: a home that was deleted and made again must not meet its old data.
                SHARED.mkdir(mode=0o711, exist_ok=True)
                postgres = Path(tempfile.mkdtemp(prefix="home-", dir=SHARED))
            sockets = postgres / "socket"
            if len(os.fsencode(sockets)) > LONGEST_SOCKET_FOLDER or not _PLAIN.fullmatch(str(sockets)):
                sockets = Path(tempfile.mkdtemp(prefix="oml-", dir="/tmp"))  # short on purpose
            pointer = self.places.postgres_pointer
            scratch = pointer.with_suffix(".new")
            scratch.write_text(json.dumps({"postgres": str(postgres), "sockets": str(sockets)}) + "\n")
            scratch.rename(pointer)
        for folder in (self.places.postgres, self.places.sockets):
            if not folder.exists():
                folder.mkdir(parents=True, mode=0o700)
            elif folder.is_symlink() or folder.stat().st_uid not in (os.geteuid(), self.account.uid):
                # A stranger's folder at our place in /tmp would own our socket.
                raise PostgresFailed(f"{folder} belongs to somebody else; remove {self.places.postgres_pointer}")
            if stat.S_IMODE(folder.stat().st_mode) != 0o700 or self.account.is_other:
                self.account.own(folder)

    def _initialise(self) -> None:
        scratch = self.places.postgres / "data.new"
        if scratch.exists():
            shutil.rmtree(scratch)  # left by a start that was killed; never a whole cluster
        version = re.search(r"\) (\d+)", self._run("postgres", "--version").stdout)
        # The built-in provider sorts the same on every machine and for ever; before 17 there is only "C".
        builtin = version is not None and int(version.group(1)) >= 17
        locale = ["--locale-provider=builtin", "--locale=C.UTF-8"] if builtin else ["--no-locale"]
        # Trust, because the socket lies in a folder that only its owner (and root) can enter.
        access = ("-U", USER, "--auth-local=trust", "--auth-host=reject")
        made = self._run("initdb", "-D", str(scratch), "--encoding=UTF8", "--no-instructions", *access, *locale)
        if made.returncode != 0:
            raise PostgresFailed(f"initdb failed: {made.stderr.strip()}")
        os.rename(scratch, self.places.data)

    def _options(self) -> list[str]:
        """Server settings as arguments: root writes no file into a folder that another user owns."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.places.sockets),
            "unix_socket_permissions": "0700",
            "max_connections": "100",
            "shared_buffers": "128MB",
            "jit": "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
            # Statements and their parameters carry memory text; errors go to the log without either.
            "log_min_error_statement": "panic",
            "log_parameter_max_length_on_error": "0",
            "log_error_verbosity": "terse",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

    def _start(self) -> None:
        deadline = time.monotonic() + START_RETRY_SECONDS
        while True:
            self._forget_reused_process_id()
            if self.postmaster() is not None:
                self._await_recovery()
                return
            if self._came_up(self._launch()):
                return
            if time.monotonic() > deadline:
                raise PostgresFailed(f"Postgres would not start{self._last_words()}")
            time.sleep(0.25)

    def _launch(self) -> int:
        """Starts the server as nobody's child: a kill -9 must leave no zombie that blocks the next start.

        Not by `pg_ctl start`: it puts the folder's name into a shell command, where a `$` is expanded.
        """
        with open(self.log, "a") as log:
            started = subprocess.run(
                ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *self.foreground_command()],
                cwd="/",
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # a Ctrl-C in the terminal is for `make run` to interpret
                check=True,
                **self.account.options(),
            )
        return int(started.stdout)

    def _came_up(self, pid: int) -> bool:
        """Waits until the launched server answers (True) or gave up (False)."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while not self.is_ready():
            if not psutil.pid_exists(pid):
                return False
            if time.monotonic() > deadline:
                raise PostgresFailed(f"Postgres does not answer{self._last_words()}")
            time.sleep(0.05)
        return True

    def _await_recovery(self) -> None:
        """Somebody else's start is still replaying the log: a second one would only be refused."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while not self.is_ready():
            if self.postmaster() is None or time.monotonic() > deadline:
                raise PostgresFailed(f"Postgres does not answer{self._last_words()}")
            time.sleep(0.25)

    def _forget_reused_process_id(self) -> None:
        """After a reboot the number in a killed server's file may belong to a newer, unrelated process."""
        file = self.places.data / "postmaster.pid"
        with suppress(OSError, ValueError, IndexError, psutil.Error):
            process = psutil.Process(int(file.read_text().splitlines()[0]))
            if not process.name().startswith("postgres") and process.create_time() > file.stat().st_mtime + 1:
                file.unlink()

    def create_database(self) -> None:
        """The product's database, when it is not there yet."""
        with psycopg.connect(self.places.database_url("postgres"), autocommit=True) as connection:
            exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if exists is None:
                connection.execute(f'CREATE DATABASE "{DATABASE}"')

    def _run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.binaries[program], *words],
            cwd="/",
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            **self.account.options(),
        )

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").splitlines()[-8:]
        except OSError:
            return ""
        return "; its log ends:\n" + "\n".join(f"  {line}" for line in lines)

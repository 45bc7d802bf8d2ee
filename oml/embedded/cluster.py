"""The embedded Postgres: made once, started when it is not running, stopped when asked.

Why own code: the packages' managers trust process ids and change permissions (docs/adr/0001). What must
never happen here: two clusters for one home, a half-made cluster taken for a whole one, durability turned
off outside tests, a TCP port opened, a server stopped that belongs to another home.
"""

from __future__ import annotations

import fcntl
import hashlib
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
SHARED = Path("/var/lib/oml")


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
        """Makes the cluster when there is none, starts it when it does not answer; safe to call at once twice.

        Returns: the URL of the product's database.
        Errors: PostgresFailed, binaries.NoPostgres.
        """
        self._make_folders()
        with self._locked():
            self._settle()
            if not (self.places.data / "PG_VERSION").exists():
                self._initialise()
            if not self.is_ready():
                self._start()
            self._create_database()
        return self.places.database_url()

    def is_ready(self) -> bool:
        """Asks the server itself; a process id in a file proves nothing after a kill -9."""
        if not self.places.sockets.exists():
            return False
        command = [
            self.binaries["pg_isready"],
            "-q",
            "-t",
            "3",
            "-h",
            str(self.places.sockets),
            "-d",
            "postgres",
        ]
        return self._run(command).returncode == 0

    def stop(self) -> bool:
        """Ends the server of this home; returns False when none was running. Errors: PostgresFailed."""
        if self.postmaster() is None:
            return False
        for mode in ("fast", "immediate"):
            command = [
                self.binaries["pg_ctl"],
                "stop",
                "-D",
                str(self.places.data),
                "-w",
                "-m",
                mode,
                "-t",
                "30",
            ]
            if self._run(command).returncode == 0 or self.postmaster() is None:
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

    def foreground_command(self) -> list[str]:
        """How to run the server as a child, for throw-away clusters; ``ensure_initialised`` comes first."""
        return [self.binaries["postgres"], "-D", str(self.places.data)]

    def ensure_initialised(self) -> None:
        """The folders and the cluster, not started."""
        self._make_folders()
        with self._locked():
            self._settle()
            if not (self.places.data / "PG_VERSION").exists():
                self._initialise()
            self._configure()

    def create_database(self) -> None:
        """The product's database, when it is not there yet."""
        self._create_database()

    # -- the parts, in the order in which they run

    def _make_folders(self) -> None:
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
                postgres = SHARED / hashlib.sha256(str(self.places.home).encode()).hexdigest()[:16]
                SHARED.mkdir(mode=0o711, exist_ok=True)
            sockets = postgres / "socket"
            if len(os.fsencode(sockets)) > LONGEST_SOCKET_FOLDER:
                sockets = Path(tempfile.mkdtemp(prefix="oml-", dir="/tmp"))  # noqa: S108  short on purpose
            pointer = self.places.postgres_pointer
            scratch = pointer.with_suffix(".new")
            scratch.write_text(json.dumps({"postgres": str(postgres), "sockets": str(sockets)}) + "\n")
            scratch.rename(pointer)
        for folder in (self.places.postgres, self.places.sockets):
            if not folder.exists():
                folder.mkdir(parents=True, mode=0o700)
            elif folder.is_symlink() or folder.stat().st_uid not in (os.geteuid(), self.account.uid):
                # A stranger's folder at our place in /tmp would own our socket.
                raise PostgresFailed(
                    f"{folder} belongs to somebody else; remove {self.places.postgres_pointer}"
                )
            if stat.S_IMODE(folder.stat().st_mode) != 0o700 or self.account.is_other:
                self.account.own(folder)

    def _initialise(self) -> None:
        scratch = self.places.postgres / "data.new"
        if scratch.exists():
            shutil.rmtree(scratch)  # left by a start that was killed; never a whole cluster
        version = re.search(r"\) (\d+)", self._run([self.binaries["postgres"], "--version"]).stdout)
        # The built-in provider sorts the same on every machine and for ever; before 17 there is only libc's C.
        builtin = version is not None and int(version.group(1)) >= 17
        locale = ["--locale-provider=builtin", "--locale=C.UTF-8"] if builtin else ["--no-locale"]
        command = [
            self.binaries["initdb"],
            "-D",
            str(scratch),
            "-U",
            USER,
            "--encoding=UTF8",
            "--auth-local=trust",
        ]
        made = self._run([*command, "--auth-host=reject", "--no-instructions", *locale])
        if made.returncode != 0:
            raise PostgresFailed(f"initdb failed: {made.stderr.strip()}")
        with open(scratch / "postgresql.conf", "a") as configuration:
            configuration.write(
                "\n# Written by the launcher at every start.\ninclude_if_exists = 'oml.conf'\n"
            )
        os.rename(scratch, self.places.data)

    def _configure(self) -> None:
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
        lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in settings.items()]
        (self.places.data / "oml.conf").write_text("\n".join(lines) + "\n")
        if self.account.uid is not None and self.account.gid is not None:
            os.chown(self.places.data / "oml.conf", self.account.uid, self.account.gid)

    def _start(self) -> None:
        self._configure()
        log = self.places.postgres / "server.log"
        command = [
            self.binaries["pg_ctl"],
            "start",
            "-D",
            str(self.places.data),
            "-l",
            str(log),
            "-w",
            "-t",
            "60",
        ]
        deadline = time.monotonic() + START_RETRY_SECONDS
        while True:
            self._forget_reused_process_id()
            # pg_ctl's own output must not be a pipe: the server would hold its other end open.
            started = subprocess.run(
                command,
                cwd="/",
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C in the terminal is for the supervisor to interpret
                **self.account.options(),
            )
            if started.returncode == 0 and self.is_ready():
                return
            if time.monotonic() > deadline:
                raise PostgresFailed(f"Postgres would not start{self._last_words()}")
            time.sleep(0.25)

    def _forget_reused_process_id(self) -> None:
        """After a reboot the number in a killed server's file may belong to a newer, unrelated process."""
        file = self.places.data / "postmaster.pid"
        with suppress(OSError, ValueError, IndexError, psutil.Error):
            process = psutil.Process(int(file.read_text().splitlines()[0]))
            if not process.name().startswith("postgres") and process.create_time() > file.stat().st_mtime + 1:
                file.unlink()

    def _create_database(self) -> None:
        with psycopg.connect(self.places.database_url("postgres"), autocommit=True) as connection:
            exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if exists is None:
                connection.execute(f'CREATE DATABASE "{DATABASE}"')

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd="/",
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            **self.account.options(),
        )

    def _last_words(self) -> str:
        try:
            lines = (self.places.postgres / "server.log").read_text(errors="replace").splitlines()[-8:]
        except OSError:
            return ""
        return "; its log ends:\n" + "\n".join(f"  {line}" for line in lines)

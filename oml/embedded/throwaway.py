"""A Postgres for one test run: its own folder, no durability, gone with the process that asked for it.

Many runs may live side by side on one machine, each with its own. What must never happen here: a cluster
left running after its owner was killed (the kernel ends it), or a test run that reaches another database
than its own when none was named.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from oml.embedded.account import clean_environment
from oml.embedded.cluster import Cluster, PostgresFailed
from oml.embedded.parent import die_with_parent
from oml.embedded.places import Places

_PREFIX = "oml-test-"


class ThrowawayCluster:
    """Started by the constructor; :meth:`end` stops it and removes every file.

    Args:
        durable: commits reach the disk, as in production; for benches whose figures depend on it.
    """

    def __init__(self, *, durable: bool = False) -> None:
        _remove_abandoned()
        home = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.places = Places(home)
        (home / "owner").write_text(f"{os.getpid()} {psutil.Process().create_time()}")
        self.cluster = Cluster(self.places, durable=durable)
        if self.cluster.account.is_other:
            os.chmod(home, 0o711)
        self._owner = os.getpid()
        atexit.register(self.end)
        self.cluster.ensure_initialised()
        with open(self.places.log / "postgres.log", "w") as log:
            self._server: subprocess.Popen[bytes] | None = subprocess.Popen(
                self.cluster.foreground_command(),
                cwd="/",
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, signal.SIGINT),  # Postgres: fast shutdown
                **self.cluster.account.options(),
            )
        self._wait()
        self.cluster.create_database()

    @property
    def url(self) -> str:
        """The database's URL, through the unix socket."""
        return self.places.database_url()

    def environment(self) -> dict[str, str]:
        """Variables that point a process of ours at this cluster and at nothing else."""
        return {"OML_ENV": "test", "OML_HOME": str(self.places.home), "DATABASE_URL": self.url}

    def end(self) -> None:
        """Stops the server and removes its files; does nothing in a forked child or the second time."""
        if os.getpid() != self._owner:
            return
        server, self._server = self.__dict__.get("_server"), None
        if server is not None:
            server.send_signal(signal.SIGINT)  # Postgres: fast shutdown
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        for folder in (self.places.sockets, self.places.home):
            shutil.rmtree(folder, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while not self.cluster.is_ready():
            if self._server is None or self._server.poll() is not None or time.monotonic() > deadline:
                words = (self.places.log / "postgres.log").read_text(errors="replace")
                raise PostgresFailed(f"the throw-away Postgres would not start:\n{words[-2000:]}")
            time.sleep(0.05)


def _remove_abandoned() -> None:
    """Folders of runs that were killed: their server is gone with them, their files are not."""
    for home in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError, ValueError):
            if home.stat().st_uid != os.geteuid():
                continue
            number, started = (home / "owner").read_text().split()
            try:
                alive = abs(psutil.Process(int(number)).create_time() - float(started)) < 1
            except psutil.Error:
                alive = False
            if not alive and time.time() - home.stat().st_mtime > 60:
                shutil.rmtree(home, ignore_errors=True)

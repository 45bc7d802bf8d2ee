"""`make run` and `make stop`: the order in which things start and end, and nothing else.

Start: own the home, end what a killed run left, Postgres, broker, migrations, demo tenant, processes, wait
for ``/readyz``, welcome. End: processes first, Postgres last. What must never happen here: a success printed
before ``/readyz`` said so, an exit code 0 after a failure, a process left behind.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from types import FrameType
from typing import Any

from oml.embedded import broker, ownership, welcome
from oml.embedded.cluster import Cluster
from oml.embedded.places import Places
from oml.embedded.supervise import ROOT, Plan, Supervisor
from oml.startup.env import Environment, Stage, read

READY_SECONDS = 180.0
_STOP_SECONDS = 90.0


class Stopped(BaseException):
    """Somebody asked us to end: Ctrl-C, `make stop`, a closed terminal. Not an error."""


class Failed(Exception):
    """A step did not work; the message is for the person at the terminal."""


def run() -> int:
    """Everything up, until asked to end. Returns the exit code: 0 when asked, 1 on failure."""
    environment = read(os.environ, root=ROOT)
    if environment.stage is not Stage.DEV:
        raise Failed(f"`make run` is for OML_ENV=dev, and OML_ENV is {environment.stage}")
    places = Places(environment.home)
    cluster = Cluster(places)
    cluster.make_folders()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    with ownership.Ownership(places):
        supervisor: Supervisor | None = None
        try:
            if left := ownership.end_children(places):
                _say(f"ended {left} processes that an earlier run left behind")
            _refuse_taken_port(environment.port)
            _prepare(environment, places, cluster)
            supervisor = _supervisor(environment, places)
            supervisor.start()
            # Scripts read the file as soon as the web answers; the welcome waits for the worker too.
            document = _wait_until_ready(
                environment.port, supervisor, lambda: welcome.write_demo(places, port=environment.port)
            )
            print(welcome.text(document, places), flush=True)
            _watch(supervisor)
        except Stopped:
            _say("stopping")
        finally:
            # From here on a second Ctrl-C must not leave half of it running.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            if supervisor is not None:
                supervisor.stop()
            ownership.end_children(places)
            if environment.embedded_database:
                cluster.stop()
    _say("ended; the data stays in " + str(places.home))
    return 0


def stop() -> int:
    """Ends the run of this home from outside, or what a killed one left; 0, or 1 when it does not end."""
    places = Places(read(os.environ, root=ROOT).home)
    running = ownership.owner(places)
    if running is not None:
        running.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        # Asked this way, because a process that ended and whose parent has not looked yet counts as ended.
        while ownership.owner(places) is not None:
            if time.monotonic() > deadline:
                _say(f"process {running.pid} does not end; look into {places.log}")
                return 1
            time.sleep(0.1)
    if not places.run.exists():
        _say("nothing of this home runs")
        return 0
    left = ownership.end_children(places)
    was_up = Cluster(places).stop()
    _say("stopped" if running or left or was_up else "nothing of this home runs")
    return 0


def keep_database() -> int:
    """Starts the embedded Postgres again whenever it is gone; a process of supervisord."""
    cluster = Cluster(Places(read(os.environ, root=ROOT).home))
    while True:
        if cluster.postmaster() is None:
            _say("Postgres is gone, starting it again")
            cluster.ensure_started()
            _say("Postgres answers")
        time.sleep(0.5)


def _prepare(environment: Environment, places: Places, cluster: Cluster) -> None:
    if environment.embedded_database:
        _step("Postgres", cluster.ensure_started)
    if environment.broker_dsn:
        # Read again: the launcher may have put the socket elsewhere a moment ago.
        dsn = read(os.environ, root=ROOT).broker_dsn
        _step("broker", lambda: broker.install(dsn))
    _step("migrations", lambda: _manage(places, "migrate", "--noinput"))
    _step("demo tenant", lambda: _manage(places, "bootstrap", "--demo", "--write", str(places.seed)))
    if not places.seed.exists():
        raise Failed(
            f"the demo tenant exists but {places.seed} is gone, and secrets cannot be read back; "
            f"issue new keys with manage.py issue_key, or start afresh with another OML_HOME"
        )


def _supervisor(environment: Environment, places: Places) -> Supervisor:
    plan = Plan(port=environment.port, embedded_database=environment.embedded_database)
    return Supervisor(places, plan, _child_environment(places))


def _child_environment(places: Places) -> dict[str, str]:
    return {
        **os.environ,
        "OML_HOME": str(places.home),
        "DJANGO_SETTINGS_MODULE": "oml.settings",
        "PYTHONUNBUFFERED": "1",
        ownership.MARK: str(places.home),
    }


def _manage(places: Places, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=_child_environment(places),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    if done.returncode != 0:
        raise Failed(f"manage.py {words[0]} failed:\n{(done.stdout + done.stderr).strip()[-4000:]}")


def _step(name: str, work: Callable[[], object]) -> None:
    started = time.monotonic()
    work()
    _say(f"{name} ({time.monotonic() - started:.1f} s)")


def _refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Failed(f"port {port}: {error.strerror}; choose another with OML_PORT=8001 make run") from None


def _wait_until_ready(port: int, supervisor: Supervisor, answers: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Wait for the whole of it; what ``answers`` made when ``/readyz`` was 200 for the first time."""
    deadline = time.monotonic() + READY_SECONDS
    answer, made = "no answer yet", None
    while True:
        _fail_if_dead(supervisor)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as response:
                body = response.read(20_000).decode(errors="replace")
                made = made or answers()
                # A late worker does not make the web unready (docs/adr/0012); a welcome waits for it.
                if json.loads(body)["checks"]["workers"]["status"] == "ok" and supervisor.all_up():
                    return made
                answer = body
        except urllib.error.HTTPError as error:
            answer = f"{error.code} {error.read(2000).decode(errors='replace')}"
        except (OSError, ValueError):
            pass
        if time.monotonic() > deadline:
            raise Failed(f"/readyz did not turn green in {READY_SECONDS:.0f} s; it says: {answer}")
        time.sleep(0.1)


def _watch(supervisor: Supervisor) -> None:
    while True:
        _fail_if_dead(supervisor)
        time.sleep(1)


def _fail_if_dead(supervisor: Supervisor) -> None:
    if name := supervisor.failed():
        raise Failed(f"{name} cannot be kept alive; its log ends:\n{supervisor.last_words(name)}")


def _stop(signum: int, frame: FrameType | None) -> None:
    raise Stopped


def _say(sentence: str) -> None:
    print(f"oml: {sentence}", flush=True)

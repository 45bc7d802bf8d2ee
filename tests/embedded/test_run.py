"""`make run` and `make stop`: up with one command, down without a trace, alive after every kill -9."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from oml.embedded.cluster import Cluster
from oml.embedded.ownership import MARK
from oml.embedded.places import Places
from tests.embedded.running import Run, free_port

pytestmark = [pytest.mark.chaos, pytest.mark.slow]

NAMES = {"reader", "writer", "writer2", "proposer", "reviewer", "reviewer2", "admin", "operator"}


@pytest.fixture(scope="module")
def prepared() -> Iterator[Path]:
    """One home for the whole file: the first start makes it, the others show that a start resumes."""
    with tempfile.TemporaryDirectory(prefix="oml-run-test-") as folder:
        if os.geteuid() == 0:
            Path(folder).chmod(0o711)
        yield Path(folder) / "home"


@pytest.fixture
def run(prepared: Path) -> Iterator[Run]:
    made = Run(prepared, free_port())
    yield made
    made.clean_up()


@pytest.fixture
def untouched(home: Path) -> Iterator[Run]:
    """A home where nothing ever ran."""
    made = Run(home, free_port())
    yield made
    made.clean_up()


def ended(run: Run, *, code: int) -> None:
    assert run.process is not None
    assert run.process.wait(120) == code, run.said()
    assert run.leftovers() == []


def test_run__up__welcome_with_working_keys_in_a_private_file(run: Run) -> None:
    run.start().until_welcome()
    demo = run.demo()
    assert stat.S_IMODE(run.places.demo.stat().st_mode) == 0o600
    assert stat.S_IMODE(run.places.seed.stat().st_mode) == 0o600
    assert demo["base_url"] == f"http://127.0.0.1:{run.port}"
    assert demo["mcp_url"] == f"{demo['base_url']}/mcp"
    assert set(demo["keys"]) == set(demo["key_ids"]) == NAMES
    assert set(demo["humans"]) == {"reviewer", "reviewer2", "admin"}
    assert run.is_ready()
    said = run.said()
    assert demo["keys"]["writer"] in said
    assert demo["humans"]["reviewer"]["password"] in said
    assert '"mcpServers"' in said
    secrets = [*demo["keys"].values(), *(human["password"] for human in demo["humans"].values())]
    for log in run.places.log.iterdir():
        text = log.read_text(errors="replace")
        assert not any(secret in text for secret in secrets), log
    second = run.command("run")
    assert second.returncode == 1
    assert f"OML already runs from {run.places.home}" in second.stderr
    assert run.is_ready()
    run.interrupt()
    ended(run, code=0)


def test_run__web_worker_and_postgres_killed_in_turn__heals_by_itself_and_ctrl_c_ends_all(run: Run) -> None:
    run.start().until_welcome()
    for victim in (run.named("gunicorn"), run.named("celery"), run.postmaster()):
        victim.kill()
        victim.wait(10)
        run.until_all_up()
    run.interrupt()
    ended(run, code=0)


def test_run__owner_killed__the_next_run_takes_over_with_the_same_tenant(run: Run) -> None:
    run.start().until_welcome()
    first = run.demo()
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    run.start().until_welcome()
    assert run.demo() == first
    # A closed terminal ends it like Ctrl-C.
    run.process.send_signal(signal.SIGHUP)
    ended(run, code=0)


def test_run__supervisor_killed__ends_with_an_honest_exit_code(run: Run) -> None:
    run.start().until_welcome()
    run.named("supervisor.supervisord").kill()
    ended(run, code=1)
    assert "supervisor cannot be kept alive" in run.said()


def test_stop__owner_killed_before__ends_the_rest_and_nothing_of_others(run: Run, tmp_path: Path) -> None:
    run.start().until_welcome()
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    # Same name, another home's mark: whoever goes by names or by a loose mark kills it.
    script = tmp_path / "gunicorn"
    script.write_text("#!/bin/sh\nexec sleep 300\n")
    script.chmod(0o755)
    bystander = subprocess.Popen([str(script)], env={**os.environ, MARK: f"{run.places.home}-other"})
    try:
        done = run.command("stop")
        assert (done.returncode, done.stdout) == (0, "oml: stopped\n")
        assert run.leftovers() == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_stop__from_another_terminal__the_run_ends_with_code_zero(run: Run) -> None:
    run.start().until_welcome()
    done = run.command("stop")
    assert (done.returncode, done.stdout) == (0, "oml: stopped\n")
    ended(run, code=0)


def test_stop__nothing_runs__says_so_and_makes_no_home(untouched: Run) -> None:
    done = untouched.command("stop")
    assert (done.returncode, done.stdout) == (0, "oml: nothing of this home runs\n")
    assert not untouched.places.home.exists()


def test_run__port_is_taken__refused_before_anything_is_started(untouched: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", untouched.port))
        other.listen()
        done = untouched.command("run")
    assert done.returncode == 1
    assert f"port {untouched.port}" in done.stderr
    assert untouched.leftovers() == []


def test_run__database_and_broker_are_given__uses_those_and_starts_no_postgres(home: Path) -> None:
    given = Cluster(Places(home.parent / "given"))
    url = given.ensure_started()
    run = Run(home, free_port(), DATABASE_URL=url, CELERY_BROKER_URL=url.replace("postgresql://", "pgmq://"))
    try:
        run.start().until_welcome()
        assert not run.places.postgres.exists()
        with psycopg.connect(url, autocommit=True) as connection:
            deadline = time.monotonic() + 60
            # The worker declares its queue when it has connected, a moment after the welcome.
            while connection.execute("SELECT 1 FROM pgmq.meta WHERE queue_name = 'oml'").fetchone() is None:
                assert time.monotonic() < deadline
                time.sleep(0.2)
        run.interrupt()
        ended(run, code=0)
        assert given.is_ready()
    finally:
        run.clean_up()
        given.stop()


def test_run__web_cannot_live__everything_ends_with_its_log_and_exit_code_one(run: Run) -> None:
    run.start().until_welcome()
    # Quick deaths, one after the other: supervisord gives up, and half a system must not look alive.
    for _ in range(150):
        if run.process is None or run.process.poll() is not None:
            break
        with contextlib.suppress(AssertionError, psutil.Error):
            run.named("gunicorn").kill()
        time.sleep(0.5)
    ended(run, code=1)
    assert "web cannot be kept alive" in run.said()

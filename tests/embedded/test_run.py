"""`make run` and `make stop`: up with one command, down without a trace, alive after every kill -9."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from oml.embedded.ownership import MARK
from tests.embedded.running import Run, free_port

pytestmark = [pytest.mark.chaos, pytest.mark.slow]

NAMES = {"reader", "writer", "writer2", "proposer", "reviewer", "reviewer2", "admin", "operator"}


@pytest.fixture
def run(home: Path) -> Iterator[Run]:
    made = Run(home, free_port())
    yield made
    made.clean_up()


def test_run__empty_home__welcome_with_working_keys_and_a_private_file(run: Run) -> None:
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
    for log in run.places.log.iterdir():
        text = log.read_text(errors="replace")
        assert not any(secret in text for secret in demo["keys"].values()), log


def test_run__ctrl_c_and_again__no_process_left_and_the_same_tenant(run: Run) -> None:
    run.start().until_welcome()
    first = run.demo()
    assert run.interrupt() == 0
    assert run.leftovers() == []
    run.start().until_welcome()
    assert run.demo() == first
    assert run.interrupt() == 0
    assert run.leftovers() == []


@pytest.mark.parametrize("victim", ["gunicorn", "celery", "supervisor.supervisord", "postgres"])
def test_run__one_process_killed__heals_or_ends_and_the_next_run_works(run: Run, victim: str) -> None:
    run.start().until_welcome()
    (run.postmaster() if victim == "postgres" else run.named(victim)).kill()
    if victim == "supervisor.supervisord":
        # Nobody watches any more: the whole ends, and says so by its exit code.
        assert run.process is not None
        assert run.process.wait(90) == 1
        assert "supervisor cannot be kept alive" in run.said()
        assert run.leftovers() == []
    else:
        time.sleep(1)
        run.until_ready()
        assert run.interrupt() == 0
        assert run.leftovers() == []
    run.start().until_welcome()
    assert run.interrupt() == 0
    assert run.leftovers() == []


def test_run__owner_killed__the_next_run_takes_over(run: Run) -> None:
    run.start().until_welcome()
    first = run.demo()
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    run.start().until_welcome()
    assert run.demo() == first
    assert run.interrupt() == 0
    assert run.leftovers() == []


def test_stop__owner_and_everything_killed_but_postgres__postgres_ends_too(run: Run) -> None:
    run.start().until_welcome()
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    done = run.command("stop")
    assert (done.returncode, done.stdout) == (0, "oml: stopped\n")
    assert run.leftovers() == []


def test_stop__others_run_the_same_programs__they_live_on(run: Run, tmp_path: Path) -> None:
    run.start().until_welcome()
    # Same name, same session, another home's mark: whoever goes by names, groups or a loose mark kills it.
    script = tmp_path / "gunicorn"
    script.write_text("#!/bin/sh\nexec sleep 300\n")
    script.chmod(0o755)
    bystander = subprocess.Popen([str(script)], env={**os.environ, MARK: f"{run.places.home}-other"})
    try:
        done = run.command("stop")
        assert (done.returncode, done.stdout) == (0, "oml: stopped\n")
        assert run.process is not None
        assert run.process.wait(10) == 0
        assert run.leftovers() == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_stop__nothing_runs__says_so(run: Run) -> None:
    done = run.command("stop")
    assert (done.returncode, done.stdout) == (0, "oml: nothing of this home runs\n")
    assert not run.places.home.exists()


def test_run__twice_at_once__the_second_is_refused_and_the_first_is_unharmed(run: Run) -> None:
    run.start().until_welcome()
    second = run.command("run")
    assert second.returncode == 1
    assert f"OML already runs from {run.places.home}" in second.stderr
    assert run.is_ready()


def test_run__port_is_taken__refused_before_anything_is_started(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", run.port))
        other.listen()
        done = run.command("run")
    assert done.returncode == 1
    assert f"port {run.port}" in done.stderr
    assert run.leftovers() == []


def test_run__web_cannot_live__everything_ends_with_its_log_and_exit_code_one(run: Run) -> None:
    run.start().until_welcome()
    # Quick deaths, one after the other: supervisord gives up, and half a system must not look alive.
    for _ in range(150):
        if run.process is None or run.process.poll() is not None:
            break
        with contextlib.suppress(AssertionError, psutil.Error):
            run.named("gunicorn").kill()
        time.sleep(0.5)
    assert run.process is not None
    assert run.process.wait(120) == 1
    assert "web cannot be kept alive" in run.said()
    assert run.leftovers() == []


def test_run__terminal_closed__ends_like_ctrl_c(run: Run) -> None:
    run.start().until_welcome()
    assert run.process is not None
    run.process.send_signal(signal.SIGHUP)
    assert run.process.wait(90) == 0
    assert run.leftovers() == []

"""oml/embedded/supervise.py: what counts as "cannot be kept alive"."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from oml.embedded.places import Places
from oml.embedded.supervise import Plan, Supervisor


class Standing:
    """Stands in for the supervisord process: it lives."""

    def poll(self) -> None:
        return None


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    made = Supervisor(Places(tmp_path), Plan(port=1, embedded_database=True), {})
    monkeypatch.setattr(made, "_process", Standing())
    return made


def says(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, **row: Any) -> str | None:
    rows = [{"name": "worker", "statename": "RUNNING", "start": 0, "pid": 1, **row}]
    monkeypatch.setattr(supervisor, "states", lambda: rows)
    return supervisor.failed()


def test_failed__given_up_by_supervisord__named(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert says(supervisor, monkeypatch, statename="FATAL") == "worker"


def test_failed__started_again_and_again__named(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = int(time.time())
    answers = [says(supervisor, monkeypatch, start=moment - 70 + 10 * turn) for turn in range(7)]
    assert answers == [None] * 6 + ["worker"]


def test_failed__a_few_deaths_spread_over_a_day__not_held_against_it(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = int(time.time())
    assert [says(supervisor, monkeypatch, start=moment - 3600 * turn) for turn in range(20)] == [None] * 20


def test_failed__same_process_looked_at_often__is_one_start(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = int(time.time())
    assert [says(supervisor, monkeypatch, start=moment) for _ in range(50)] == [None] * 50


def test_celery__broker_variable_is_a_postgres_url__the_validated_setting_wins(tmp_path: Path) -> None:
    script = "from oml.celery import app; print(app.conf.broker_read_url, app.conf.broker_write_url)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={
            "PATH": "/usr/bin:/bin",
            "OML_HOME": str(tmp_path),
            "CELERY_BROKER_URL": "pgmq://oml@/oml?host=/nowhere",
        },
        capture_output=True,
        text=True,
    )
    assert (done.stdout.split(), done.stderr) == (["pgmq://localhost", "pgmq://localhost"], "")

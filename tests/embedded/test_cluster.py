"""oml/embedded/cluster.py: one cluster a home, alive after every kill, nobody else's server touched."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from oml.embedded import binaries, broker
from oml.embedded.cluster import Cluster, PostgresFailed
from oml.embedded.places import LONGEST_SOCKET_FOLDER, Places
from oml.embedded.supervise import ROOT

START = """
import sys
from pathlib import Path
from oml.embedded.cluster import Cluster
from oml.embedded.places import Places
print(Cluster(Places(Path(sys.argv[1]))).ensure_started())
"""
HOLD = """
import time
from oml.embedded.throwaway import ThrowawayCluster
made = ThrowawayCluster()
print(made.cluster.postmaster().pid, made.places.home, flush=True)
time.sleep(60)
"""


def ask(cluster: Cluster, question: str) -> object:
    with psycopg.connect(cluster.places.database_url(), autocommit=True) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def test_ensure_started__empty_home__durable_server_with_pgvector_on_a_socket_only(cluster: Cluster) -> None:
    cluster.ensure_started()
    assert ask(cluster, "SHOW fsync") == "on"
    assert ask(cluster, "SHOW synchronous_commit") == "on"
    assert ask(cluster, "SHOW listen_addresses") == ""
    assert ask(cluster, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == 1
    assert ask(cluster, "SHOW data_checksums") == "on"
    server = cluster.postmaster()
    assert server is not None
    assert [c for c in server.net_connections() if c.family.name != "AF_UNIX"] == []


def test_ensure_started__nobody_else_may_enter__folders_are_private(cluster: Cluster) -> None:
    cluster.ensure_started()
    for folder in (cluster.places.data, cluster.places.sockets, cluster.places.run, cluster.places.log):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_ensure_started__twice__same_server(cluster: Cluster) -> None:
    cluster.ensure_started()
    first = cluster.postmaster()
    cluster.ensure_started()
    assert first == cluster.postmaster()


def test_ensure_started__five_processes_at_once__one_cluster(cluster: Cluster, home: Path) -> None:
    def start(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", START, str(home)], cwd=ROOT, capture_output=True, text=True, timeout=60
        )

    with ThreadPoolExecutor(5) as pool:
        done = list(pool.map(start, range(5)))
    assert [(one.returncode, one.stderr) for one in done] == [(0, "")] * 5
    assert {one.stdout.strip() for one in done} == {cluster.places.database_url()}
    named = [p for p in psutil.process_iter(["cmdline"]) if str(cluster.places.data) in (p.info["cmdline"] or [])]
    assert len(named) == 1


@pytest.mark.chaos
def test_ensure_started__server_killed_while_rows_are_written__every_acknowledged_row_is_there(
    cluster: Cluster,
) -> None:
    cluster.ensure_started()
    with psycopg.connect(cluster.places.database_url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (n int PRIMARY KEY)")
    acknowledged = 0
    for _ in range(3):
        server = cluster.postmaster()
        assert server is not None
        with psycopg.connect(cluster.places.database_url(), autocommit=True) as connection:
            for _ in range(50):
                connection.execute("INSERT INTO kept VALUES (%s)", [acknowledged])
                acknowledged += 1
            # Stopped first, so that it cannot answer the death of a child by ending the others itself.
            server.suspend()
            for child in server.children():
                child.kill()
            server.kill()
        cluster.ensure_started()
    assert ask(cluster, "SELECT count(*) FROM kept") == acknowledged


def test_ensure_started__first_start_was_killed_in_the_middle__begins_again(cluster: Cluster) -> None:
    cluster.make_folders()
    half = cluster.places.home / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    if cluster.account.uid is not None and cluster.account.gid is not None:
        for path in (half.parent, half, half / "PG_VERSION"):
            os.chown(path, cluster.account.uid, cluster.account.gid)
    cluster.ensure_started()
    assert ask(cluster, "SELECT 1") == 1
    assert not half.exists()


def test_ensure_started__lock_file_names_a_younger_process__not_fooled(cluster: Cluster) -> None:
    cluster.ensure_started()
    file = cluster.places.data / "postmaster.pid"
    lines = file.read_text().splitlines()
    cluster.stop()
    stranger = subprocess.Popen(["sleep", "60"], **cluster.account.options())
    try:
        # A reboot: the number of the dead server belongs to somebody else now.
        file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        os.utime(file, (1, 1))
        if cluster.account.uid is not None and cluster.account.gid is not None:
            os.chown(file, cluster.account.uid, cluster.account.gid)
        cluster.ensure_started()
        assert ask(cluster, "SELECT 1") == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_stop__two_homes__only_its_own(cluster: Cluster, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="oml-other-") as folder:
        Path(folder).chmod(0o711)
        other = Cluster(Places(Path(folder) / "home"))
        try:
            other.ensure_started()
            cluster.ensure_started()
            assert cluster.stop()
            assert cluster.postmaster() is None
            assert ask(other, "SELECT 1") == 1
        finally:
            other.stop()


def test_stop__nothing_runs__says_so(cluster: Cluster) -> None:
    assert cluster.stop() is False


def test_ensure_started__home_with_a_long_path__socket_lies_elsewhere(home: Path) -> None:
    deep = home.joinpath(*["a folder with a long name"] * 5)
    cluster = Cluster(Places(deep))
    deep.parent.mkdir(parents=True)
    try:
        cluster.ensure_started()
        assert len(str(cluster.places.sockets)) <= LONGEST_SOCKET_FOLDER
        assert stat.S_IMODE(cluster.places.sockets.stat().st_mode) == 0o700
        assert ask(cluster, "SELECT 1") == 1
    finally:
        cluster.stop()
        if cluster.places.sockets.is_relative_to("/tmp"):
            cluster.places.sockets.rmdir()


def test_ensure_started__quotes_and_percent_in_the_path__still_starts(home: Path) -> None:
    cluster = Cluster(Places(home.parent / "it's 100% $HOME; really"))
    try:
        cluster.ensure_started()
        assert ask(cluster, "SELECT 1") == 1
    finally:
        cluster.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")
def test_ensure_started__root_with_a_private_home__no_folder_of_the_user_is_opened(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    cluster = Cluster(Places(private / "home"))
    try:
        cluster.ensure_started()
        assert ask(cluster, "SELECT 1") == 1
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        assert not cluster.places.postgres.is_relative_to(private)
        server = cluster.postmaster()
        assert server is not None
        assert server.uids().effective != 0
    finally:
        cluster.stop()
        if not cluster.places.postgres.is_relative_to(private):
            shutil.rmtree(cluster.places.postgres)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")
def test_binaries__folder_the_server_cannot_enter__copied_whole(tmp_path: Path) -> None:
    found = binaries.find()
    assert found.package is not None
    with tempfile.TemporaryDirectory(prefix="oml-copy-") as folder:
        Path(folder).chmod(0o755)
        copy = binaries.copied_to(found, Path(folder) / "lib")
        again = binaries.copied_to(found, Path(folder) / "lib")
        assert copy.bin == again.bin
        account = Cluster(Places(tmp_path)).account
        done = subprocess.run(
            [copy["postgres"], "--version"], capture_output=True, text=True, cwd="/", **account.options()
        )
        assert done.stdout.startswith("postgres (PostgreSQL)")


def test_find__setting_points_nowhere__refused_and_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OML_POSTGRES_BIN", "/nowhere/bin")
    with pytest.raises(binaries.NoPostgres, match="OML_POSTGRES_BIN"):
        binaries.find()


def test_ensure_started__socket_folder_of_a_stranger__refused(cluster: Cluster, home: Path) -> None:
    cluster.ensure_started()
    cluster.stop()
    real = cluster.places.sockets
    real.rename(real.with_name("moved"))
    real.symlink_to("moved")
    with pytest.raises(PostgresFailed, match="belongs to somebody else"):
        cluster.ensure_started()


def test_install__twice_and_at_once__one_broker(cluster: Cluster) -> None:
    dsn = cluster.ensure_started()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: broker.install(dsn), range(4)))
    assert sorted(made) == [False, False, False, True]
    assert ask(cluster, "SELECT count(*) FROM pgmq.meta") == 0


def test_throwaway__owner_is_killed__server_ends_by_itself() -> None:
    owner = subprocess.Popen([sys.executable, "-c", HOLD], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    number, folder = owner.stdout.readline().split()
    server = psutil.Process(int(number))
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    server.wait(15)
    assert Path(folder).exists()  # its files are the next run's to remove
    shutil.rmtree(folder)

"""Folder intake in a process of its own, killed with SIGKILL again and again and run once more: as if never killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from django.db import connection

from memory.records.models import Record, RecordEntry, RecordProperty
from oml.journal.verify import verify_tenant
from tests.support.records import Records
from tests.support.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.chaos, pytest.mark.xdist_group("processes")]

ROOT = Path(__file__).resolve().parents[2]
LONG_ENOUGH = 90


def database_url() -> str:
    """Where this test's connection is, for another process."""
    here = connection.settings_dict
    login = quote(here["USER"], safe="") + (f":{quote(here['PASSWORD'], safe='')}" if here["PASSWORD"] else "")
    rest = urlencode({"host": here["HOST"]}) if here["HOST"].startswith("/") else ""
    host = "" if rest else here["HOST"]
    port = f":{here['PORT']}" if here["PORT"] else ""
    return f"postgresql://{login}@{host}{port}/{here['NAME']}" + (f"?{rest}" if rest else "")


def begin(tree: Path, key: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "intake_folder", str(tree), "--key", key, "--name", "docs"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def files_in() -> int:
    return RecordProperty.objects.filter(label="intake", value="file").count()


def killed_after(tree: Path, key: str, files: int) -> None:
    """Run the intake and kill it -9 as soon as so many files more are in."""
    wanted = files_in() + files
    process = begin(tree, key)
    deadline = time.monotonic() + LONG_ENOUGH
    while files_in() < wanted and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()


def contents(records: Records) -> dict[str, str]:
    """Every file as its parts say it; a file that has not all of its parts fails."""
    found = {}
    for record in Record.objects.filter(properties__label="intake", properties__value="file", deleted=False):
        about = json.loads(records.read(record.pk)["content"])
        parts = Record.objects.filter(properties__label="file", properties__value=about["path"])
        numbered = {
            int(part.properties.get(label="part").value): records.read(part.pk)["content"]
            for part in parts.filter(properties__label="part")
        }
        assert sorted(numbered) == list(range(1, about["parts"] + 1)), about["path"]
        found[about["path"]] = "".join(text for _, text in sorted(numbered.items()))
    return found


def test_intake_folder__killed_in_the_middle_twice_and_run_again__has_every_file_once_and_whole(
    world: World, tmp_path: Path
) -> None:
    tree = tmp_path / "docs"
    for copy in ("one", "two", "three"):
        shutil.copytree(ROOT / "docs", tree / copy, ignore=shutil.ignore_patterns("openapi.json"))
    expected = {str(path.relative_to(tree)): path.read_text() for path in tree.rglob("*") if path.is_file()}
    records, key = Records(world), world.writer.key_id

    for files in (5, 20):
        killed_after(tree, key, files)
        some = contents(records)
        assert 0 < len(some) < len(expected)
        assert some.items() <= expected.items()

    before = {record.pk for record in Record.objects.all()}
    process = begin(tree, key)
    said, errors = process.communicate(timeout=LONG_ENOUGH)
    assert process.returncode == 0, errors.decode()
    assert b" 0 updated" in said and b"created" in said
    assert contents(records) == expected
    assert before < {record.pk for record in Record.objects.all()}
    assert RecordEntry.objects.count() == Record.objects.count()
    assert verify_tenant(world.admin.tenant_id).broken is None

    process = begin(tree, key)
    said, _ = process.communicate(timeout=LONG_ENOUGH)
    assert said.startswith(f"0 created, 0 updated, {len(expected) + 1} unchanged".encode())

"""Fixtures of the launcher's tests: homes of their own, ended and removed whatever happens."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from oml.embedded.cluster import Cluster
from oml.embedded.places import Places


@pytest.fixture
def home() -> Iterator[Path]:
    """An empty folder that the server's user can enter (pytest's own tmp_path is closed to it)."""
    folder = Path(tempfile.mkdtemp(prefix="oml-launcher-"))
    if os.geteuid() == 0:
        folder.chmod(0o711)
    yield folder / "home"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def cluster(home: Path) -> Iterator[Cluster]:
    """A durable cluster, as `make run` has it; not started yet."""
    made = Cluster(Places(home))
    yield made
    made.stop()

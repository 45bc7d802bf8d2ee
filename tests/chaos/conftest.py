"""One installation for all tests of this folder: starting it is the dear part."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.installation import Installation


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """Web, worker and database up and ready. A test that stops one starts it again before it ends."""
    folder = Path(tempfile.mkdtemp(prefix="oml-chaos-"))
    if os.geteuid() == 0:
        folder.chmod(0o711)
    made = Installation(folder / "home")
    try:
        made.begin()
        for name in ("keeper", "web", "worker"):
            made.start(name)
        made.until_ready()
        made.until_worker()
        yield made
    finally:
        made.end()
        shutil.rmtree(folder, ignore_errors=True)

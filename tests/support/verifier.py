"""The offline verifier for tests: importable here, and runnable as a process that knows nothing of the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / "tools" / "oml_verify"
if str(HOME) not in sys.path:
    sys.path.insert(0, str(HOME))


def write_keys(path: Path) -> Path:
    """The deployment's public keys as a user would keep them."""
    from oml.crypto.published import published_keys

    path.write_text(json.dumps({"items": published_keys(), "next_cursor": None}))
    return path


def run(*arguments: object) -> tuple[int, str]:
    """Run ``oml-verify`` in a process of its own; its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "oml_verify", *map(str, arguments)],
        cwd="/",
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(HOME), "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr

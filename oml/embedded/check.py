"""`make check`: everything that can be said about the code without running the tests.

All steps run, also after one failed, so that one look shows all there is to mend; the exit code is 1 when any
step failed. Nothing outside a temporary folder is read or written.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from oml.embedded.throwaway import ThrowawayCluster

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Runs the steps and prints one line each; the output of a step only when it failed."""
    cluster = ThrowawayCluster()
    with tempfile.TemporaryDirectory(prefix="oml-check-") as secrets:
        plain = {**os.environ, **cluster.environment()}
        production = _production(Path(secrets))
        python = sys.executable
        tools = Path(python).parent
        # The one set of production secrets of this check; generated, and gone with the folder.
        generate = [python, "-m", "oml.crypto", "generate", "--production", secrets]
        subprocess.run(generate, cwd=ROOT, env=plain, check=True, capture_output=True)
        manage = [python, "manage.py"]
        steps: list[tuple[str, list[str], dict[str, str]]] = [
            ("lint", [str(tools / "ruff"), "check", "."], plain),
            ("format", [str(tools / "ruff"), "format", "--check", "."], plain),
            ("types", [str(tools / "mypy")], plain),
            ("import walls", [str(tools / "lint-imports")], plain),
            ("system check", [*manage, "check", "--fail-level", "WARNING"], plain),
            ("migrations", [*manage, "makemigrations", "--check", "--dry-run"], plain),
            ("deployment", [*manage, "check", "--deploy", "--fail-level", "WARNING"], production),
        ]
        failed = [name for name, command, environment in steps if not _run(name, command, environment)]
    cluster.end()
    print("check: " + (f"{', '.join(failed)} failed" if failed else "all steps passed"), flush=True)
    return 1 if failed else 0


def _run(name: str, command: list[str], environment: dict[str, str]) -> bool:
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    passed = done.returncode == 0
    print(f"{'ok  ' if passed else 'FAIL'}  {name} ({time.monotonic() - started:.1f} s)", flush=True)
    if not passed:
        print((done.stdout + done.stderr).rstrip(), flush=True)
    return passed


def _production(secrets: Path) -> dict[str, str]:
    """An environment like a deployment's: nothing is connected to, every setting is read."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("OML_")},
        "OML_ENV": "production",
        "OML_SECRETS_DIR": str(secrets),
        "DATABASE_URL": "postgresql://oml:secret@database.example:5432/oml",
        "CELERY_BROKER_URL": "rediss://broker.example:6379/0",
        "OML_ALLOWED_HOSTS": "oml.example.org",
        "OML_CSRF_TRUSTED_ORIGINS": "https://oml.example.org",
        "DJANGO_SETTINGS_MODULE": "oml.settings",
    }


if __name__ == "__main__":
    sys.exit(main())

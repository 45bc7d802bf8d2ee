"""Makes the project's virtual environment from the hashed requirement files.

Why this module exists: `make run` must work on a bare machine and, once installed, without a
network; so an installation happens only when the requirement file, the interpreter or the place of
the environment changed, which a stamp inside the environment records.

It is started by the machine's own Python, before anything is installed: standard library only, and
nothing of this project may be imported here. It must never install anything that is not in the
hashed file, and never touch an environment other than the one it is given.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
# The file is complete and hashed, so nothing may be resolved, guessed or asked.
_PIP_INSTALL = (
    "install",
    "-qq",
    "--disable-pip-version-check",
    "--no-input",
    "--no-deps",
    "--require-hashes",
)


def fingerprint(requirements: Path, venv: Path) -> str:
    """What an installation depends on: the file, the interpreter and the path (venvs do not move)."""
    parts = (requirements.read_bytes(), sys.version.encode(), str(venv.resolve()).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_installed(requirements: Path, venv: Path) -> bool:
    """True when the stamp for exactly these requirements is there and the interpreter still starts."""
    stamp = _stamp(requirements, venv)
    if not stamp.exists() or stamp.read_text().strip() != fingerprint(requirements, venv):
        return False
    return subprocess.run([_python(venv), "-c", "pass"], capture_output=True).returncode == 0


def ensure(requirements: Path, venv: Path, *, upgrade_from: tuple[Path, ...] = ()) -> bool:
    """Installs when needed; two at once wait for each other.

    Args:
        requirements: the hashed requirement file.
        venv: the folder of the virtual environment; made when missing.
        upgrade_from: larger sets that contain this one; when one of them is installed, so is this.
    Returns: True when it installed something.
    Errors: SystemExit with a readable sentence; subprocess.CalledProcessError from pip.
    """
    if sys.version_info < OLDEST:
        raise SystemExit(f"OML needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {sys.version.split()[0]}.")
    with open(venv.parent / f"{venv.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if any(is_installed(candidate, venv) for candidate in (requirements, *upgrade_from)):
            return False
        if not _starts(venv):
            _make(venv)
        print(
            f"installing {requirements.name} into {venv.name} (once; later starts need no network)",
            flush=True,
        )
        subprocess.run(
            [_python(venv), "-m", "pip", *_PIP_INSTALL, "--requirement", str(requirements)],
            check=True,
        )
        _stamp(requirements, venv).write_text(fingerprint(requirements, venv) + "\n")
        return True


def _stamp(requirements: Path, venv: Path) -> Path:
    return venv / f".installed-{requirements.stem}"


def _python(venv: Path) -> str:
    return str(venv / "bin" / "python")


def _starts(venv: Path) -> bool:
    if not os.access(_python(venv), os.X_OK):
        return False
    return subprocess.run([_python(venv), "-m", "pip", "--version"], capture_output=True).returncode == 0


def _make(venv: Path) -> None:
    if venv.exists():
        shutil.rmtree(venv)
    made = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True)
    if made.returncode != 0:
        sys.stderr.write(made.stdout + made.stderr)
        raise SystemExit("OML could not make a virtual environment; on Debian install python3-venv.")


def main(argv: list[str] | None = None) -> int:
    """Command line: `environment.py [--dev] [--venv DIR]`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="with the tools for tests and checks")
    parser.add_argument("--venv", type=Path, default=None)
    options = parser.parse_args(argv)
    root = Path(__file__).resolve().parents[2]
    venv = (options.venv or root / ".venv").absolute()
    runtime, dev = root / "requirements.txt", root / "requirements-dev.txt"
    try:
        if options.dev:
            ensure(dev, venv)
        else:
            ensure(runtime, venv, upgrade_from=(dev,))
    except subprocess.CalledProcessError as failed:
        print(f"pip failed (exit code {failed.returncode}); run it again once that is mended.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

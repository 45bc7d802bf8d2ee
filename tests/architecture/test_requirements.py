"""What is installed is what pyproject.toml says, exactly, with hashes, and from nowhere in particular."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXACT = re.compile(r"(?P<name>[a-z0-9-]+)(\[[a-z,]+\])?==(?P<version>[0-9][0-9a-z.]*)")


def compiled(name: str) -> dict[str, str]:
    """Package → version of a compiled file."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", (ROOT / name).read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("requirements.txt", PROJECT["dependencies"]),
        ("requirements-dev.txt", PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]),
    ],
)
def test_requirements__compiled_file__holds_every_pin_of_pyproject(file: str, wanted: list[str]) -> None:
    locked = compiled(file)
    for line in wanted:
        pin = EXACT.fullmatch(line)
        assert pin is not None, f"{line} is not an exact pin"
        assert locked.get(pin["name"]) == pin["version"], f"{line}: run `make lock`"


def test_requirements__development_set__contains_the_runtime_set_as_it_is() -> None:
    development = compiled("requirements-dev.txt")
    assert {name: development.get(name) for name in compiled("requirements.txt")} == compiled("requirements.txt")


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_requirements__compiled_file__hashed_throughout_and_without_an_address(file: str) -> None:
    text = (ROOT / file).read_text()
    entries = re.split(r"^(?=[a-z0-9._-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(compiled(file)) > 50
    assert [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"\w+://|--(?:extra-)?index-url|--find-links|--trusted-host", text) == []

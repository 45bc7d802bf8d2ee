"""The product's own source as syntax trees, for rules that neither the linter nor the type checker can say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("oml", "workareas", "memory", "review")


@dataclass(frozen=True)
class Module:
    """One source file, by its path from the repository's root."""

    name: str
    tree: ast.Module

    def imports(self) -> Iterator[str]:
        """Every dotted name that is imported, ``from x import y`` as ``x.y``, also inside functions."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def calls(self, method: str) -> Iterator[ast.Call]:
        """Every call of a method or function of this name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                called = node.func
                if (isinstance(called, ast.Attribute) and called.attr == method) or (
                    isinstance(called, ast.Name) and called.id == method
                ):
                    yield node


@cache
def modules() -> tuple[Module, ...]:
    """All of the product, migrations and generated files left out."""
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if "/migrations/" not in name:
                found.append(Module(name, ast.parse(path.read_text(encoding="utf-8"), filename=name)))
    return tuple(found)


@cache
def all_tests() -> str:
    """The text of every test that acts, for asking whether something is named in one; golden tables do not act."""
    tables = {"tests/rules/test_errors.py", "tests/architecture/test_coverage.py"}
    paths = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if str(path.relative_to(ROOT)) not in tables]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)

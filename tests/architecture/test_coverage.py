"""Every refusal is raised by a test and every event is journalled by one, or is named here with the reason."""

from __future__ import annotations

from collections.abc import Iterable

from oml.core.errors import OmlError
from oml.journal.registry import REGISTRY
from tests.support.source import all_tests

NOT_RAISED: dict[str, str] = {}
NOT_JOURNALLED: dict[str, str] = {}


def unnamed(words: Iterable[str]) -> set[str]:
    """Words that no test file outside this folder and the golden tables has as a string of its own."""
    return {word for word in words if f'"{word}"' not in all_tests()}


def test_error_codes__are_expected_by_tests() -> None:
    assert unnamed(OmlError.registry) == set(NOT_RAISED)


def test_events__are_expected_by_tests() -> None:
    assert unnamed(REGISTRY) == set(NOT_JOURNALLED)

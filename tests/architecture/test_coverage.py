"""Every refusal is raised by a test and every event is journalled by one, or it is named here with the reason why not."""

from __future__ import annotations

import pytest

from oml.core.errors import OmlError
from oml.journal.registry import REGISTRY
from tests.support.source import tests_text

NOT_RAISED: dict[str, str] = {}
NOT_JOURNALLED: dict[str, str] = {}


@pytest.mark.parametrize("code", sorted(OmlError.registry))
def test_error_code__is_expected_by_a_test(code: str) -> None:
    named = f'"{code}"' in tests_text()
    assert named or code in NOT_RAISED
    assert not (named and code in NOT_RAISED), "a test raises it now: take it off the list"


@pytest.mark.parametrize("event", sorted(REGISTRY))
def test_event__is_expected_by_a_test(event: str) -> None:
    named = f'"{event}"' in tests_text()
    assert named or event in NOT_JOURNALLED
    assert not (named and event in NOT_JOURNALLED), "a test journals it now: take it off the list"

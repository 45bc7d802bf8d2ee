"""Pages: every row once whatever the page size, and a size outside its range refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oml.core.errors import CeilingExceeded, Validation
from oml.core.paging import Pages, check_range

PAGES: Pages[int] = Pages(b"s" * 32, "key_a", {"view": "numbers"}, lambda number: [number])


@given(st.integers(0, 40), st.integers(1, 12))
def test_cut__a_list_read_page_by_page__shows_every_row_once_in_order(total: int, limit: int) -> None:
    seen: list[int] = []
    cursor = None
    while True:
        behind = PAGES.behind(cursor)
        start = 0 if behind is None else behind[0] + 1
        page, cursor = PAGES.cut(range(total)[start : start + limit + 1], limit)
        seen += page
        if cursor is None:
            break
        assert len(page) == limit
    assert seen == list(range(total))


def test_behind__the_cursor_of_another_list__is_refused() -> None:
    others: Pages[int] = Pages(b"s" * 32, "key_a", {"view": "letters"}, lambda number: [number])
    with pytest.raises(Validation):
        PAGES.behind(others.following([7]))


@pytest.mark.parametrize(
    ("value", "least", "error", "words"),
    [
        (0, 1, Validation, "limit is at least 1"),
        (-1, 0, Validation, "limit is at least 0"),
        (101, 1, CeilingExceeded, "limit is at most 100"),
    ],
)
def test_check_range__outside__names_parameter_and_bound(
    value: int, least: int, error: type[Validation | CeilingExceeded], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        check_range("limit", value, least=least, most=100)
    assert caught.value.param == "limit"


@pytest.mark.parametrize("value", [1, 100])
def test_check_range__the_bounds_themselves__pass(value: int) -> None:
    check_range("limit", value, most=100)

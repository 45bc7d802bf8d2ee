"""The generated reference says what the code says."""

from __future__ import annotations

import pytest

from oml.reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_reference_page__as_committed__is_what_the_code_would_write(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run `make reference` and commit the page"

"""List cursors: whoever changes one bit, the key or the filters starts again; the server never guesses."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oml.core.cursor import open_, seal
from oml.core.errors import Validation

SECRET = b"s" * 32
FILTERS = {"view": "my_work", "state": None}


def opened(cursor: str, *, secret: bytes = SECRET, filters: Any = None, key: str = "key_a") -> list[Any]:
    return open_(secret, cursor, filters=FILTERS if filters is None else filters, key_id=key)


def sealed(keyset: list[Any] | None = None) -> str:
    return seal(SECRET, keyset=keyset or ["art_1"], filters=FILTERS, key_id="key_a")


def refused(cursor: str, **changed: Any) -> None:
    with pytest.raises(Validation) as caught:
        opened(cursor, **changed)
    assert caught.value.code == "request.validation"
    assert caught.value.param == "cursor"


def test_open__own_cursor__continues_where_it_stood() -> None:
    assert opened(sealed(["2026-10-27T14:11:08Z", "art_1"])) == ["2026-10-27T14:11:08Z", "art_1"]


def test_open__another_key_another_filter_another_deployment__is_refused() -> None:
    refused(sealed(), key="key_b")
    refused(sealed(), filters={"view": "my_work", "state": "held"})
    refused(sealed(), filters={"view": "review_queue", "state": None})
    refused(sealed(), secret=b"t" * 32)


def test_open__every_single_character_changed__is_refused() -> None:
    cursor = sealed()
    for position, character in enumerate(cursor):
        refused(cursor[:position] + ("A" if character != "A" else "B") + cursor[position + 1 :])


def test_open__written_in_another_way__is_refused() -> None:
    cursor = sealed()
    refused(cursor + "=")
    refused(cursor + "!")
    refused(cursor[:5] + "\n" + cursor[5:])
    refused(" " + cursor)
    refused(cursor[:-1])
    refused(cursor * 2)


def test_open__body_taken_from_the_inside__is_refused() -> None:
    raw = base64.urlsafe_b64decode(sealed() + "==")
    refused(base64.urlsafe_b64encode(raw[:16] + b'["art_9"]').decode().rstrip("="))


@pytest.mark.parametrize("cursor", ["", "x", "é", "\ud800", "null", "[]", "A" * 4096, "../../etc", "%00"])
def test_open__rubbish__is_refused(cursor: str) -> None:
    refused(cursor)


@given(st.text(max_size=60))
def test_open__any_text_that_is_not_ours__is_refused(cursor: str) -> None:
    refused(cursor)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.integers(-1000, 1000),
        min_size=1,
        max_size=3,
    )
)
def test_seal__any_keyset__comes_back_whole_and_is_url_safe(keyset: list[Any]) -> None:
    cursor = sealed(keyset)
    assert opened(cursor) == keyset
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

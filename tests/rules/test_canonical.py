"""The bytes that are hashed and signed: one form, and nothing whose text form differs between writers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oml.core.canonical import canonical_json, sha256_hex

# RFC 8785, section 3.2.3: keys sort by UTF-16 code units, so U+FB33 comes after U+1F600.
RFC_KEYS = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\U0001f600": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
}


def test_canonical_json__keys__sort_as_the_rfc_s_example() -> None:
    values = list(json.loads(canonical_json(RFC_KEYS)).values())
    assert values == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


def test_canonical_json__space_and_escapes__are_the_shortest() -> None:
    assert (
        canonical_json({"b": [1, None, True], "a": "\u2028é\n\x0f"})
        == '{"a":"\u2028é\\n\\u000f","b":[1,null,true]}'.encode()
    )


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        [1.5],
        {"a": {"b": [0.0]}},
        float("nan"),
        float("inf"),
        2**53,
        -(2**53),
        "\ud800",
        {"\udfff": 1},
        object(),
        {1: 2},
    ],
)
def test_canonical_json__what_two_writers_could_write_differently__is_refused(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        canonical_json(value)


def test_canonical_json__largest_safe_integers__pass() -> None:
    assert canonical_json([2**53 - 1, -(2**53) + 1]) == b"[9007199254740991,-9007199254740991]"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_canonical_json__parsed_and_written_again__is_the_same_bytes(value: object) -> None:
    once = canonical_json(value)
    assert json.loads(once) == value
    assert canonical_json(json.loads(once)) == once


def test_sha256_hex__of_nothing__is_the_published_value() -> None:
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

"""Bodies of any size: what was sent comes out, however it is spelled and wherever the blocks are cut."""

from __future__ import annotations

import hashlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oml.core.errors import OmlError
from oml.core.spooled import Spooled
from oml.http import large

HARD = ["\0", "\\", '"', "😀", "é", "a", "\r\n", " ", "\ud7ff", "\\u12", "\\ud83d", "中", "/", "\u2028"]


def read(raw: bytes) -> dict[str, object]:
    return large.read_json_object(io.BytesIO(raw))


def text_of(value: object) -> str:
    return b"".join(value.pieces(3)).decode() if isinstance(value, Spooled) else str(value)


@given(
    st.lists(st.sampled_from(HARD), max_size=60).map("".join),
    st.integers(1, 30),
    st.integers(8, 30),
    st.booleans(),
)
def test_read_json_object__any_text_in_any_blocks__is_what_was_sent(text, block, long, ascii_only):
    body = {"content": text, "note": text, "records": [{"content": text + "x"}, {"content": 1}]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "BLOCK", block)
        patch.setattr(large, "LONG", long)
        value = read(json.dumps(body, ensure_ascii=ascii_only).encode())
    assert text_of(value["content"]) == text
    assert value["note"] == text
    assert text_of(value["records"][0]["content"]) == text + "x"
    assert value["records"][1] == {"content": 1}


def test_read_json_object__long_content__has_its_digest_and_is_not_a_string():
    text = "\0😀\r\n " * 20_000
    content = read(json.dumps({"content": text}).encode())["content"]
    assert isinstance(content, Spooled)
    assert (content.size, content.sha256) == (len(text.encode()), hashlib.sha256(text.encode()).hexdigest())


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content": "' + b"a" * 9000 + b'\xff"}',
        b'{"content": "' + b"a" * 9000 + b'\xe2\x82"}',
        b'{"content": "' + b"a" * 9000 + b'\\x"}',
        b'{"content": "' + b"a" * 9000 + b'\n"}',
        b'{"content": "' + b"a" * 9000 + b'\\u12"}',
        b'{"content": "' + b"a" * 9000,
        b'["' + b"a" * 9000 + b'"]',
    ],
)
def test_read_json_object__long_string_that_is_not_json_in_utf8__is_refused(raw):
    with pytest.raises(OmlError) as caught:
        read(raw)
    assert caught.value.code == "request.validation"


@pytest.mark.parametrize("half", [b"\\ud83d", b"\\ude00", b"\\ud83da", b"\\ud83d\\ud83d"])
def test_read_json_object__half_a_surrogate_pair__is_left_for_the_field_to_refuse(half):
    value = read(b'{"content": "' + b"a" * 9000 + half + b'"}')["content"]
    with pytest.raises(UnicodeEncodeError):
        str(value).encode()


def test_read_json_object__too_much_beside_the_contents__is_refused(monkeypatch):
    monkeypatch.setattr(large, "MAX_REST", 10_000)
    for raw in (b'{"a": [' + b"1," * 6000 + b"1]}", b'{"note": "' + b"a" * 20_000 + b'"}'):
        with pytest.raises(OmlError) as caught:
            read(raw)
        assert caught.value.code == "limit.size"

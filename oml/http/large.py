"""JSON bodies of any size in bounded memory: long strings go to a file as they arrive, the rest is parsed as ever.

A JSON text is strings and what is between them. While it is read in blocks, a string that grows beyond
:data:`LONG` is decoded on the fly (escapes, surrogate pairs, UTF-8) into one temporary file, and a short marker
stands in its place; what remains is small, has a stated largest size and goes to the strict parser. Then the
markers become :class:`~oml.core.spooled.Spooled`. A marker cannot be forged: it carries a random word.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from typing import IO, Any, Protocol

from rest_framework.parsers import BaseParser

from oml.core.errors import SizeExceeded, Validation
from oml.core.spooled import LargeText, Scratch, Spooled
from oml.http.parsers import parse_json_object

BLOCK = 1 << 18
#: Strings with more bytes than this are spooled.
LONG = 8 * 1024
#: What a request may have beside its contents.
MAX_REST = 16 * 1024 * 1024
#: The one field whose text may be of any size.
UNLIMITED = "content"

_INSIDE = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
#: The start of an escape, or half of a surrogate pair, that the next block completes.
_UNFINISHED = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?|u[0-9a-fA-F]{0,3})?\Z")
#: Stands for a text with a lone surrogate: itself one, so that the field says which it is.
_BROKEN = "\ud800"


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class StreamedJSONParser(BaseParser):
    """The parser of routes without a largest request."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        return read_json_object(stream)


def read_json_object(stream: Readable) -> dict[str, Any]:
    """Parse one JSON object; long texts of ``content`` fields come as :class:`Spooled`.

    Raises:
        Validation: ``request.validation``; not UTF-8, not JSON, not an object.
        SizeExceeded: ``limit.size``; more than :data:`MAX_REST` bytes beside its contents.
    """
    rest, texts = split(stream)
    value: dict[str, Any] = texts.put_back(parse_json_object(rest))
    return value


class LongTexts:
    """The texts that were taken out of a body, by their marker."""

    def __init__(self) -> None:
        self._word = secrets.token_hex(16)
        self._texts: list[LargeText] = []

    def next_marker(self) -> str:
        return f"{self._word}:{len(self._texts)}"

    def add(self, text: LargeText) -> None:
        self._texts.append(text)

    def put_back(self, value: Any, name: str = "") -> Any:
        """The parsed rest with its texts in place; what is not a content must fit into memory."""
        if isinstance(value, dict):
            return {key: self.put_back(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.put_back(inner) for inner in value]
        if not isinstance(value, str) or not value.startswith(self._word):
            return value
        text = self._texts[int(value.partition(":")[2])]
        if isinstance(text, str) or name == UNLIMITED:
            return text
        if text.size > MAX_REST // 16:
            raise SizeExceeded("a field beside the content is too long")
        return b"".join(text.pieces()).decode()


def split(stream: Readable) -> tuple[bytes, LongTexts]:
    """Read a JSON text: what is small, with markers, and the long texts.

    Raises:
        Validation: ``request.validation``; a long string that is not JSON in UTF-8.
        SizeExceeded: ``limit.size``.
    """
    splitter = _Splitter()
    try:
        while block := stream.read(BLOCK):
            splitter.feed(block)
    except UnicodeDecodeError:
        raise Validation("the body is not valid UTF-8") from None
    except ValueError:
        raise Validation("the body is not valid JSON") from None
    return bytes(splitter.kept), splitter.texts


class _Splitter:
    def __init__(self) -> None:
        self.texts = LongTexts()
        self.kept = bytearray()
        self._scratch: Scratch | None = None
        self._long: _Decoder | None = None
        self._start: int | None = None  # of the running string in ``kept``, after its quote
        self._escape = False  # the next byte belongs to a backslash

    def feed(self, block: bytes) -> None:
        at = 0
        while at < len(block):
            at = self._between(block, at) if self._start is None else self._string(block, at)
            if len(self.kept) > MAX_REST:
                raise SizeExceeded(f"a request has at most {MAX_REST} bytes beside its contents")

    def _between(self, block: bytes, at: int) -> int:
        quote = block.find(b'"', at)
        end = len(block) if quote < 0 else quote + 1
        self.kept += block[at:end]
        if quote >= 0:
            self._start = len(self.kept)
        return end

    def _string(self, block: bytes, at: int) -> int:
        if self._escape:
            self._escape = False
            self._take(block[at : at + 1])
            return at + 1
        inside = _INSIDE.match(block, at)
        assert inside is not None  # it matches the empty string too
        end = inside.end()
        if block[end : end + 1] == b"\\":  # the block's last byte
            self._escape = True
            end += 1
            self._take(block[at:end])
            return end
        self._take(block[at:end])
        if end < len(block):
            self._close()
            return end + 1
        return end

    def _take(self, part: bytes) -> None:
        if self._long is not None:
            self._long.feed(part)
            return
        assert self._start is not None
        self.kept += part
        if len(self.kept) - self._start > LONG:
            if self._scratch is None:
                self._scratch = Scratch()
            self._long = _Decoder(self._scratch)
            self._long.feed(bytes(self.kept[self._start :]))
            self.kept[self._start :] = self.texts.next_marker().encode()

    def _close(self) -> None:
        if self._long is not None:
            self._long.feed(b"", last=True)
            self.texts.add(self._long.result())
        self._long, self._start = None, None
        self.kept += b'"'


class _Decoder:
    """One long string, from its JSON spelling to UTF-8 in the file."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._offset = scratch.file.seek(0, 2)
        self._size = 0
        self._digest = hashlib.sha256()
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._rest = ""
        self._broken = False

    def feed(self, raw: bytes, *, last: bool = False) -> None:
        text = self._rest + self._utf8.decode(raw, last)
        cut = len(text) if last else _complete(text)
        self._rest = text[cut:]
        decoded = json.loads(f'"{text[:cut]}"')
        try:
            done = decoded.encode()
        except UnicodeEncodeError:
            self._broken = True
            return
        self._scratch.file.write(done)
        self._digest.update(done)
        self._size += len(done)

    def result(self) -> LargeText:
        if self._broken:
            return _BROKEN
        return Spooled(self._scratch, self._offset, self._size, self._digest.hexdigest())


def _complete(text: str) -> int:
    """How much of a string's spelling can be decoded before the next block is there."""
    at = max(len(text) - 12, 0)  # a pair of escapes is as long as that
    while (found := _UNFINISHED.search(text, at)) is not None:
        start = found.start()
        before = len(text[:start]) - len(text[:start].rstrip("\\"))
        if before % 2 == 0:
            return start
        at = start + 1  # that backslash was itself escaped
    return len(text)

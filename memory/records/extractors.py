"""What is plain to see in a content, as tags: hosts of links, dates, codes, hashtags. Deterministic, no model. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

#: Tags of one record at most, the first ones in its text.
MAX_TAGS = 200
Tag = tuple[str, str]

_HOST = re.compile(r"https?://([a-z0-9.-]{1,180}[a-z0-9])", re.IGNORECASE)
_DATE = re.compile(r"(?<![\d-])(\d{4}-\d{2}-\d{2})(?![\d-])")
_CODE = re.compile(r"(?<![\w-])([A-Z]{2,8}-\d{1,10})(?![\w-])")
_HASHTAG = re.compile(r"(?<![\w&#/])#([^\W\d]\w{1,63})")


def tags(texts: Iterable[str]) -> list[Tag]:
    """Extractor and ``label:value`` of everything found, each once, in the order of the text."""
    found: dict[Tag, None] = {}
    for text in texts:
        for tag in _found(text):
            found.setdefault(tag)
            if len(found) == MAX_TAGS:
                return list(found)
    return list(found)


def _found(text: str) -> Iterator[Tag]:
    for match in _HOST.finditer(text):
        yield "host", f"host:{match[1].lower()}"
    for match in _DATE.finditer(text):
        if _is_date(match[1]):
            yield "date", f"date:{match[1]}"
    for match in _CODE.finditer(text):
        yield "code", f"code:{match[1]}"
    for match in _HASHTAG.finditer(text):
        yield "hashtag", f"hashtag:{match[1].casefold()}"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True

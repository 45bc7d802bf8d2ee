"""JSON in, strictly: UTF-8, one object, a stated largest size, no NaN, no name twice, no bottomless nesting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from oml.core.errors import SizeExceeded, Validation

MAX_BODY_BYTES = 2 * 1024 * 1024


def parse_json_object(raw: bytes) -> dict[str, Any]:
    """Parse a request body.

    Raises:
        Validation: ``request.validation``; not UTF-8, not JSON, not an object.
    """
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=once_each)
    except UnicodeDecodeError:
        raise Validation("the body is not valid UTF-8") from None
    except (ValueError, RecursionError):
        raise Validation("the body is not valid JSON") from None
    if not isinstance(value, dict):
        raise Validation("the body is a JSON object")
    return value


class StrictJSONParser(BaseParser):
    """The only parser of ``/v1``; another content type is ``request.media_type``."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        raw = stream.read(MAX_BODY_BYTES + 1)
        if len(raw) > MAX_BODY_BYTES:
            raise SizeExceeded(f"a request body has at most {MAX_BODY_BYTES} bytes")
        return parse_json_object(raw)


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different: of two equal ones, two readers would take different values.

    Raises:
        ValueError: a name is repeated.
    """
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is repeated")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)

"""Strict shapes: a string is a string, a number is a number, an unknown field is refused (design: http-api).

DRF's fields coerce (1 to "1", "true" to True) and trim; a ledger of what agents said must do neither. ``tenant``
and ``tenant_id`` are the two fields that are ignored wherever they are sent (D6). JSON null means omitted, but where
any JSON value is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from oml.core.clock import parse_rfc3339
from oml.core.errors import SizeExceeded, Validation

IGNORED = frozenset({"tenant", "tenant_id"})


class StrictSerializer(serializers.Serializer[Any]):
    """A flat request shape; the first fault is raised as ``request.validation`` with its JSON path."""

    def run_validation(self, data: Any = empty) -> Any:
        if data is empty:
            return super().run_validation(data)
        if not isinstance(data, Mapping):
            self.fail_with("is an object")
        unknown = sorted(set(data) - set(self.fields) - IGNORED)
        if unknown:
            self.fail_with("is not a field of this request", unknown[0])
        present = {
            name: value
            for name, value in data.items()
            if name not in IGNORED and (value is not None or isinstance(self.fields[name], Json))
        }
        return super().run_validation(present)

    def fail_with(self, message: str, name: str = "") -> None:
        """Refuse the whole shape, or one of its fields."""
        raise serializers.ValidationError({_printable(name) or "non_field_errors": [message]})

    @classmethod
    def parse(cls, data: Any) -> dict[str, Any]:
        """Validate ``data`` and return its clean values.

        Raises:
            Validation: ``request.validation`` with ``param``.
            SizeExceeded: ``limit.size``.
        """
        serializer = cls(data=data)
        try:
            values: dict[str, Any] = serializer.run_validation(data)
        except serializers.ValidationError as error:
            path, message = first_fault(error.detail)
            raise Validation(f"{path or 'the request'} {message}", param=path or None) from None
        return values


class Described:
    """A field that can say its JSON schema, for OpenAPI."""

    def json_schema(self) -> dict[str, Any]:
        raise NotImplementedError


class Text(Described, serializers.Field[Any, Any, Any, Any]):
    """A JSON string exactly as sent: no trimming, no coercion, no U+0000, no lone surrogate."""

    def __init__(self, *, max_length: int, min_length: int = 1, oversize_is_limit: bool = False, **kwargs: Any) -> None:
        self.max_length, self.min_length, self.oversize_is_limit = max_length, min_length, oversize_is_limit
        super().__init__(**kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": self.min_length, "maxLength": self.max_length}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("is a string")
        if len(data) > self.max_length:
            if self.oversize_is_limit:
                path = path_of(self)
                raise SizeExceeded(f"{path} has {len(data)} characters, at most {self.max_length}", param=path)
            raise serializers.ValidationError(f"has at most {self.max_length} characters")
        if len(data) < self.min_length:
            raise serializers.ValidationError(f"has at least {self.min_length} character")
        if "\x00" in data:
            raise serializers.ValidationError("holds U+0000, which text here cannot carry")
        if any("\ud800" <= character <= "\udfff" for character in data):
            raise serializers.ValidationError("holds a lone surrogate; it is not valid Unicode")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Reference(Text):
    """An id or a path; opaque, so a malformed one goes on to be unknown like any other."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=4096, **kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


class Matching(Text):
    """A string of a stated grammar."""

    def __init__(self, *, pattern: Any, explain: str, max_length: int, **kwargs: Any) -> None:
        self.pattern, self.explain = pattern, explain
        super().__init__(max_length=max_length, **kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^{self.pattern.pattern.removesuffix(chr(92) + 'Z')}$"}

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if not self.pattern.match(value):
            raise serializers.ValidationError(self.explain)
        return value


class OneOf(Text):
    """A closed set of words."""

    def __init__(self, *, words: Any, **kwargs: Any) -> None:
        self.words = tuple(str(word) for word in words)
        super().__init__(max_length=64, **kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.words)}

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if value not in self.words:
            raise serializers.ValidationError(f"is one of {', '.join(self.words)}")
        return value


class Whole(Described, serializers.Field[Any, Any, Any, Any]):
    """A JSON integer; true, 1.0 and "1" are not one."""

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer"}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            raise serializers.ValidationError("is a whole number")
        if abs(data) > 2**53 - 1:
            raise serializers.ValidationError("is beyond ±(2^53−1)")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Flag(Described, serializers.Field[Any, Any, Any, Any]):
    """JSON true or false."""

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("is true or false")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Json(Described, serializers.Field[Any, Any, Any, Any]):
    """Any JSON value; here alone null is a value like the others."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {}

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Moment(Described, serializers.Field[Any, Any, Any, Any]):
    """An RFC 3339 time with an offset; a naive time is refused."""

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            raise serializers.ValidationError("is an RFC 3339 time with an offset")
        try:
            return parse_rfc3339(data)
        except (ValueError, OverflowError):
            raise serializers.ValidationError(
                "is an RFC 3339 time with an offset, such as 2026-10-27T14:11:08Z"
            ) from None

    def to_representation(self, value: Any) -> Any:
        return value


class Listing(serializers.ListField):
    """A JSON list with a largest length and no repeated entry."""

    def __init__(self, *, unique: bool = True, **kwargs: Any) -> None:
        self.unique = unique
        super().__init__(allow_empty=True, **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise serializers.ValidationError("is a list")
        if self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(f"has at most {self.max_length} entries")
        values: list[Any] = super().to_internal_value(data)
        if self.unique:
            for position, value in enumerate(values):
                if value in values[:position]:
                    detail: Any = {position: ["repeats an earlier entry"]}  # the stubs know no integer paths
                    raise serializers.ValidationError(detail)
        return values


def path_of(field: Any) -> str:
    """The JSON path of a field from the request's root, as far as DRF knows it."""
    names: list[str] = []
    while field is not None:
        if getattr(field, "field_name", None):
            names.append(field.field_name)
        field = getattr(field, "parent", None)
    return ".".join(reversed(names))


def first_fault(detail: Any, path: str = "") -> tuple[str, str]:
    """The first fault in DRF's nested error detail, as (JSON path, sentence)."""
    if isinstance(detail, Mapping):
        name, inner = next(iter(detail.items()))
        if isinstance(name, int):
            return first_fault(inner, f"{path}[{name}]")
        if name == "non_field_errors":
            return first_fault(inner, path)
        return first_fault(inner, f"{path}.{name}" if path else str(name))
    if isinstance(detail, list):
        for position, inner in enumerate(detail):
            if isinstance(inner, Mapping):
                if inner:
                    return first_fault(inner, f"{path}[{position}]")
                continue
            return path, _sentence(str(inner))
    return path, _sentence(str(detail))


def _sentence(message: str) -> str:
    return "is required" if message == "This field is required." else message


def _printable(name: str) -> str:
    """A field name as it may be echoed: no surrogates, no endless names."""
    return name.encode("utf-8", "replace").decode()[:100]

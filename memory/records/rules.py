"""Grammars, limits and the head rule of source records (design: records, shapes). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

MAX_BATCH = 200
MAX_PROPERTIES = 200
MAX_VALUE = 1_000
MAX_NOTE = 2_000
MAX_NAME = 64
MAX_SOURCE_SYSTEM = 256
MAX_GROUP_CHANGE = 500
MAX_FILES = 1_000

LABEL = re.compile(r"[a-z0-9_.-]{1,64}\Z")
SR_ID = re.compile(r"sr_[0-9a-f]{32}\Z")

#: Source types of a new lane, with their authority.
SEEDED: Mapping[str, int] = {
    "documentary": 80,
    "observed": 70,
    "testimonial": 60,
    "conversational": 50,
    "inferred": 30,
}
#: What a record is when its caller does not say.
DEFAULT_SOURCE_TYPE = "conversational"

#: What an erasure leaves of an entry's state: everything that a caller worded is empty. The database's trigger lets an
#: entry of an erased record become exactly this (migration 0012).
WORDLESS: Mapping[str, object] = {"properties": [], "connections": [], "source_system": ""}

Property = tuple[str, str]


def parse_property(text: str) -> Property:
    """Split ``label:value`` at the first colon.

    Raises:
        ValueError: with what is wrong, in words for the caller.
    """
    label, colon, value = text.partition(":")
    label, value = label.strip().casefold(), value.strip()
    if not colon or not value:
        raise ValueError("is label:value, split at the first colon")
    if not LABEL.match(label):
        raise ValueError("has a label of 1 to 64 of a-z 0-9 _ . -")
    if len(value) > MAX_VALUE:
        raise ValueError(f"has a value of at most {MAX_VALUE} characters")
    return label, value


def spelled(properties: Iterable[Sequence[str]]) -> list[str]:
    """Properties as callers see them, in declared order."""
    return [f"{label}:{value}" for label, value in properties]


def merged(present: Sequence[Property], named: Sequence[Property]) -> list[Property]:
    """Merge by label: each label named has its values replaced where it stood, labels not named stay.

    A label that is new comes last, in the order it was named.
    """
    values: dict[str, list[Property]] = {}
    for label, value in named:
        values.setdefault(label, []).append((label, value))
    result: dict[Property, None] = {}
    for label, value in present:
        result.update(dict.fromkeys(values.get(label, [(label, value)])))
    for mine in values.values():
        result.update(dict.fromkeys(mine))
    return list(result)


class Ranked(Protocol):
    """What the head rule compares."""

    version: int
    engine_id: str
    event_id: str


R = TypeVar("R", bound=Ranked)


def rank(entry: Ranked) -> tuple[int, bytes, bytes]:
    """The head rule's order: version, then engine identity and event id, both bytewise."""
    return entry.version, entry.engine_id.encode(), entry.event_id.encode()


def head_of(entries: Iterable[R]) -> R | None:
    """The latest of a record's entries, whatever order they arrived in."""
    return max(entries, key=rank, default=None)

"""The sentences of the review pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.claims.states import Kind, ScanState, State
from memory.graph.labels import EdgeState
from memory.scanning.report import Outcome
from review.wording import KINDS, OUTCOMES, STATES, ago, changes, exact, in_words, left, seen_fields, why_here

NOON = datetime(2026, 10, 27, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 minute"),
        (3 * 3600 + 59, "3 hours"),
        (3600 + 120, "1 hour 2 minutes"),
        (86400 * 6 + 3600 * 23 + 59 * 60, "6 days 23 hours"),
        (86400 + 61, "1 day"),
    ],
)
def test_in_words__seconds__are_at_most_two_units(seconds: int, words: str) -> None:
    assert in_words(seconds) == words


def test_ago_and_left__moments__read_as_people_say_them() -> None:
    assert ago(NOON - timedelta(hours=3), NOON) == "3 hours ago"
    assert ago(NOON + timedelta(seconds=5), NOON) == "just now"
    assert left(NOON + timedelta(days=2), NOON) == "2 days left"
    assert left(NOON, NOON) == "time is over"
    assert exact(NOON) == "27 October 2026, 12:00:00 UTC"


def test_words__every_closed_word__has_its_own() -> None:
    assert set(OUTCOMES) == set(ScanState) | set(Outcome)
    assert set(KINDS) == set(Kind)
    assert set(STATES) == set(State) | set(EdgeState)
    titles = [title for title, _ in OUTCOMES.values()]
    assert len(set(titles)) == len(titles)


def _row(**fields: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"blocked_by": None, "ratified": 0, "required": 1, "scan": "clean", "version": 1}
    row["agent_state"] = None
    return row | fields


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "New; nobody has decided yet"),
        ({"scan": "flagged"}, "A scanner flagged it; nobody has decided yet"),
        ({"ratified": 1, "required": 2}, "1 of 2 ratifications given; yours would count"),
        ({"version": 2}, "A new version of a promoted claim; nobody has decided on version 2 yet"),
        ({"blocked_by": {"code": "review.author"}}, "You wrote it, R2: another reviewer decides"),
        (
            {"blocked_by": {"code": "review.lineage_author"}},
            "You wrote one of its sources, R2: another reviewer decides",
        ),
        ({"blocked_by": {"code": "review.stale", "message": "you have judged this item"}}, "You have judged this item"),
    ],
)
def test_why_here__each_cause__has_its_sentence(fields: dict[str, Any], sentence: str) -> None:
    assert why_here(_row(**fields)) == sentence


def test_changes__nothing_and_something__are_told_apart() -> None:
    before = {
        "workarea_path": "universe.a",
        "workarea_status": "committed",
        "scans": "unicode 1: clean, 0 findings",
        "policy_version": 0,
        "state": "held",
    }
    assert changes(seen_fields(before), before) == []
    after = before | {"state": "promoted", "policy_version": 2}
    assert changes(seen_fields(before), after) == [
        "Version of the review policy: 0 before, 2 now",
        "State: held before, promoted now",
    ]
    assert changes({}, after) == []

"""oml/core/discretion.py: a failed task is seen in the log, the words of its exception are not."""

from __future__ import annotations

import logging

import pytest
from celery import shared_task

from oml.core.discretion import WITHHELD

# Put together here, so that a traceback's source lines do not hold it.
CANARY = "-".join(["canary", "in", "a", "memory"])


@shared_task(name="tests.quote_a_memory")
def quote_a_memory() -> None:
    try:
        raise KeyError(CANARY)
    except KeyError as cause:
        raise ValueError(CANARY) from cause


def test_withhold_messages__task_fails__class_and_place_are_logged_and_no_word_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        quote_a_memory.apply()
    (record,) = [record for record in caplog.records if record.name == "celery.app.trace" and record.levelno >= 40]
    text = logging.Formatter().format(record)
    assert "ValueError" in text
    assert "in quote_a_memory" in text
    assert WITHHELD in text
    assert CANARY not in text
    assert CANARY not in str(record.__dict__)
    assert CANARY not in caplog.text

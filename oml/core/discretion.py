"""Keeps the words of exceptions out of the logs of worker and web.

Celery and Django print them, and a database's complaint quotes the row it choked on: memory text would lie in a log
file. The class and the traceback stay. What must never happen here: a message, its own or that of a cause, let through.
"""

from __future__ import annotations

import logging
import traceback

WITHHELD = "(message withheld)"


class WithholdMessages(logging.Filter):
    """For the loggers ``celery.app.trace`` and ``django.request``; changes the record and always lets it pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, trace = record.exc_info
            where = "".join(traceback.format_tb(trace)).rstrip()
            record.exc_info, record.exc_text = None, f"{where}\n{kind.__name__}: {WITHHELD}"
            if isinstance(record.args, dict):
                record.args = {**record.args, "exc": kind.__name__, "traceback": WITHHELD}
            record.__dict__.pop("data", None)  # Celery's copy of the same, for structured handlers
        return True

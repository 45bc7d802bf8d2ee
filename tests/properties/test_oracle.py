"""The whole of authorization against a small independent model, over every read endpoint (quality, Reliability 4).

A seeded day of random acts is done to a tenant and to its oracle; after each act both are asked who may do what and
what every read shows. ``OML_ORACLE_DECISIONS`` says how many decisions (``make oracle``: a million).
"""

from __future__ import annotations

import os
import time

import pytest
from django.db import transaction

from tests.support.mirror import Mirror

pytestmark = pytest.mark.django_db

DECISIONS = int(os.environ.get("OML_ORACLE_DECISIONS", "100000"))
ACTS = 120
FIRST_SEED = int(os.environ.get("OML_ORACLE_SEED", "20261129"))


def a_day(seed: int) -> int:
    """One tenant's day; rolled back. Returns how many decisions were compared."""
    with transaction.atomic():
        mirror = Mirror(f"day-{seed}", seed)
        for number in range(ACTS):
            try:
                mirror.act()
                mirror.compare()
            except AssertionError as difference:
                raise AssertionError(f"seed {seed}, act {number}: {difference}") from difference
        transaction.set_rollback(True)
    return mirror.decisions


def test_oracle__random_days_of_acts_and_reads__differs_in_nothing() -> None:
    started, decisions, days = time.perf_counter(), 0, 0
    while decisions < DECISIONS:
        decisions += a_day(FIRST_SEED + days)
        days += 1
        print(f"\n{decisions:,} decisions", end="", flush=True)
    seconds = time.perf_counter() - started
    print(f"\n{decisions:,} decisions in {days} days of {ACTS} acts, {seconds:.0f} s, no difference")

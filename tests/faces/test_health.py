"""``/healthz`` and ``/readyz``: what an operator's probe learns, also while the database is going away."""

from __future__ import annotations

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from oml.core.errors import Unavailable
from oml.http import health
from oml.jobs import heartbeat


@pytest.mark.django_db
def test_readyz__all_good_and_a_worker_lives__200_with_every_check_named(client: Client) -> None:
    heartbeat.beat()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ready"
    states = {name: check["status"] for name, check in answer.json()["checks"].items()}
    assert states == {"database": "ok", "migrations": "ok", "signing_key": "ok", "workers": "ok"}


@pytest.mark.django_db
def test_readyz__no_worker_ever_lived__still_ready_and_it_says_so(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["checks"]["workers"] == {"status": "none"}


@pytest.mark.django_db
@pytest.mark.parametrize("failure", [OperationalError, InterfaceError])
def test_readyz__database_away__503_and_healthz_still_200(
    client: Client, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    def away() -> None:
        raise failure

    monkeypatch.setattr(connection, "cursor", away)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["status"] == "not ready"
    assert answer.json()["checks"]["database"] == {"status": "away"}
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_readyz__database_goes_between_two_checks__answers_all_the_same(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> dict[str, str]:
        raise OperationalError

    monkeypatch.setitem(health._extra, "workers", gone)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["checks"]["workers"] == {"status": "unknown"}


def test_unavailable__after_a_commit_whose_answer_was_lost__claims_nothing_that_may_be_untrue() -> None:
    refusal = Unavailable()
    assert "idempotency_key" in refusal.message
    assert not any(claim in refusal.message for claim in ("nothing was changed", "nothing was written"))
    assert refusal.as_dict()["error"]["retryable"] is True

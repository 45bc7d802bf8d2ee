"""What a person and a program are told when the database is away or something unexpected is raised."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection
from django.test import Client

from oml.http import health

# Put together here, so that a traceback's source lines do not hold it.
CANARY = "-".join(["canary", "in", "a", "memory"])


@pytest.fixture
def visitor() -> Client:
    """Somebody with a session cookie, whom the database would have to be asked about."""
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"] = "x" * 32
    return client


@pytest.fixture
def away(db: None) -> Iterator[None]:
    def refuse() -> None:
        raise OperationalError(CANARY)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        yield


@pytest.mark.parametrize("path", ["/", "/review/", "/admin/"])
def test_page__database_away__503_that_says_so_and_when_to_come_again(visitor: Client, away: None, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 503
    assert "The database does not answer" in answer.content.decode()
    assert answer.headers["Retry-After"] == "5"
    assert answer.headers["Cache-Control"] == "no-store"


def test_route__database_away__typed_503(visitor: Client, away: None) -> None:
    answer = visitor.get("/v1/my-work", headers={"Authorization": "Bearer oml_k_" + "0" * 26})
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "internal.unavailable"


def test_page__something_unexpected__500_without_a_word_of_it_in_page_or_log(
    visitor: Client, db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(health, "_database", broken)
    with caplog.at_level(logging.DEBUG):
        answer = visitor.get("/readyz")
    assert answer.status_code == 500
    assert "Something went wrong here" in answer.content.decode()
    assert CANARY not in answer.content.decode()
    assert "ValueError" in caplog.text
    assert CANARY not in caplog.text

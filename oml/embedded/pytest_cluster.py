"""Pytest plugin: brings the throw-away Postgres up before Django reads its settings.

So that plain ``pytest tests/…`` works like ``make test``, on a machine without any service. With
``DATABASE_URL`` set that server is used instead (a second CI leg on another major version).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator

import pytest

from oml.embedded.throwaway import ThrowawayCluster

_OWN: list[ThrowawayCluster] = []


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """A wrapper, because pytest-django sets Django up inside this hook."""
    os.environ["OML_ENV"] = "test"
    os.environ.pop("OML_SECRETS_DIR", None)
    os.environ.pop("CELERY_BROKER_URL", None)
    # Workers of pytest-xdist inherit the controller's; only the outermost process makes one.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        if "DATABASE_URL" in os.environ:
            os.environ["OML_HOME"] = tempfile.mkdtemp(prefix="oml-home-")
        else:
            cluster = ThrowawayCluster()
            _OWN.append(cluster)
            os.environ.update(cluster.environment())
    return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last thing of a run: no server and no file stays."""
    while _OWN:
        _OWN.pop().end()

"""WSGI application of the laboratory server: ``gunicorn tests.support.conformance_app:application``.

The conformance suite cannot send a key, so the keyless requests of that one client are given one here, before
the endpoint sees them. Nothing in the product knows this module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.support.conformance_settings"

from django.core.wsgi import get_wsgi_application

from tests.support.mcp_lab import KEY

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    environ.setdefault("HTTP_AUTHORIZATION", f"Bearer {KEY}")
    return _django(environ, start_response)

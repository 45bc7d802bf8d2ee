"""Where the MCP face is mounted. No redirect may ever hit these paths: it would lose the body or the key."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import re_path

from oml.http.handler import json_error, typed
from oml.mcp.catalog import AGENTS
from oml.mcp.discovery import no_oauth
from oml.mcp.endpoint import refuse, view_of
from oml.mcp.record_catalog import RECORDS
from oml.mcp.run_catalog import RUNS

MOUNTS = (AGENTS, RECORDS, RUNS)

urlpatterns = [
    *(re_path(rf"^{mount.path}/?$", view_of(mount), name=mount.path) for mount in MOUNTS),
    re_path(
        r"^(?:.+/)?\.well-known/"
        r"(?:oauth-protected-resource|oauth-authorization-server|openid-configuration)(?:/.*)?$",
        no_oauth,
    ),
    re_path(r"^register/?$", no_oauth),
]


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's ``handler400``: what a middleware refuses before any view, such as a foreign Host.

    On a mount in the protocol, elsewhere as the typed error.
    """
    refusal = typed(exception)
    if request.path.strip("/") in {mount.path for mount in MOUNTS}:
        return refuse(refusal)
    return json_error(refusal)

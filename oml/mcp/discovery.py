"""The paths where clients look for an OAuth server: there is none, said in the form that they can read.

OML takes API keys (RS-2 is open). A client that meets HTML or a JSON-RPC body here shows a parser error
instead of the reason; OAuth errors are JSON objects whose ``error`` is a string. What must never happen here:
metadata that sends a client into an OAuth flow.
"""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt
def no_oauth(request: HttpRequest, **_path: str) -> JsonResponse:
    """404 with an OAuth-shaped JSON body, for every method."""
    response = JsonResponse(
        {
            "error": "access_denied",
            "error_description": "this server has no OAuth authorization server; send an API key as "
            "Authorization: Bearer oml_k_...",
        },
        status=404,
    )
    response["Cache-Control"] = "no-store"
    return response

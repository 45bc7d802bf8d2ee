"""Bodies sent in chunks (RFC 9112, 7.1), without a length: Django would read them as empty.

The server in front decodes the chunks and ends the stream, so a length above any body lets Django read to that end;
every limit still holds, as readers count what they read. What must never happen here: a request that is answered as if
it had said nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

#: More than any body; what is read ends where the stream does.
UNKNOWN_LENGTH = 2**62

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def read_to_the_end(application: Application) -> Application:
    """A WSGI application that also takes chunked bodies.

    Args:
        application: Django's, behind a server that marks decoded streams with ``wsgi.input_terminated`` or, as
            gunicorn, ends them.
    """

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("HTTP_TRANSFER_ENCODING") and not environ.get("CONTENT_LENGTH"):
            environ["CONTENT_LENGTH"] = str(UNKNOWN_LENGTH)
        return application(environ, start_response)

    return wrapped


def said_length(value: str | None) -> int:
    """The length that a request states, 0 where it states none or comes in chunks.

    Raises:
        ValueError: it is no number.
    """
    length = int(value or 0)
    return 0 if length == UNKNOWN_LENGTH else length

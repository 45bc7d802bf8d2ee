"""One typed, fail-closed error taxonomy for every surface (seed: catalog conventions; design: errors).

A refusal is a class: its code, its HTTP status, whether a retry can help and the rule that refused. Rooms add
their own classes in their own ``errors.py``; every class enters :data:`OmlError.registry`, from which
``docs/reference/errors.md`` is generated. What must never happen here: memory text, a query, a secret or another
tenant's id in a message.
"""

from __future__ import annotations

from typing import Any, ClassVar


class OmlError(Exception):
    """Base of every refusal. Raising one is one line; one handler per face prints it.

    Args:
        message: what happened, in words an agent can act on; echoes only what the caller sent.
        rule: overrides the class's rule where one code is raised by more than one rule.
        param: JSON path of the field at fault, such as ``derives_from[1]``.
        retry_after_seconds: whole seconds after which a retry may succeed; only for retryable errors.
    """

    code: ClassVar[str] = ""
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    rule: str = ""
    registry: ClassVar[dict[str, type[OmlError]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "code" not in cls.__dict__:
            return  # a narrower message for a code that exists already
        if cls.code in OmlError.registry:
            raise TypeError(f"error code {cls.code} is declared twice")
        OmlError.registry[cls.code] = cls

    def __init__(
        self,
        message: str,
        *,
        rule: str | None = None,
        param: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.rule = rule or type(self).rule
        self.param = param
        self.retry_after_seconds = retry_after_seconds if self.retryable else None
        if self.retryable and self.retry_after_seconds is None:
            self.retry_after_seconds = 1

    def as_dict(self) -> dict[str, Any]:
        """The body every surface sends: ``{"error": {"code", "rule", "message", "retryable", …}}``."""
        error: dict[str, Any] = {
            "code": self.code,
            "rule": self.rule,
            "message": self.message,
            "retryable": self.retryable,
        }
        if self.retry_after_seconds is not None:
            error["retry_after_seconds"] = self.retry_after_seconds
        if self.param is not None:
            error["param"] = self.param
        return {"error": error}

    def headers(self) -> dict[str, str]:
        """HTTP headers that go with the refusal."""
        if self.retry_after_seconds is None:
            return {}
        return {"Retry-After": str(self.retry_after_seconds)}


class InvalidKey(OmlError):
    """One text for a missing, unknown, revoked and expired key: the caller learns nothing about which."""

    code = "auth.invalid_key"
    status = 401
    rule = "every call presents a valid API key as a bearer token (D6)"

    def __init__(self, *, presented: bool = True) -> None:
        super().__init__("missing or invalid API key")
        self.presented = presented

    def headers(self) -> dict[str, str]:
        challenge = 'Bearer realm="oml"'
        if self.presented:
            challenge += ', error="invalid_token"'
        return {"WWW-Authenticate": challenge}


class Validation(OmlError):
    code = "request.validation"
    status = 400
    rule = "a request has exactly the declared shape"


class UnknownRoute(OmlError):
    code = "request.route"
    status = 404
    rule = "only declared paths are served"


class MethodNotAllowed(OmlError):
    code = "request.method"
    status = 405
    rule = "a path answers only its declared methods"

    def __init__(self, message: str, *, allow: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.allow = allow

    def headers(self) -> dict[str, str]:
        return {"Allow": ", ".join(self.allow)} if self.allow else {}


class UnsupportedMedia(OmlError):
    code = "request.media_type"
    status = 415
    rule = "requests carry application/json unless a route says otherwise"


class Forbidden(OmlError):
    """An act that no key may do at all on this path; faces use it for origin and channel walls."""

    code = "access.forbidden"
    status = 403
    rule = "effective access: union of grants minus denies, deny wins (D7)"


class SizeExceeded(OmlError):
    code = "limit.size"
    status = 413
    rule = "text and bodies have a stated largest size"


class CeilingExceeded(OmlError):
    code = "limit.ceiling"
    status = 400
    rule = "a ceiling refuses, it never clamps"


class QuotaExceeded(OmlError):
    code = "limit.quota"
    status = 429
    retryable = True
    rule = "tenant quota (journalled grant attribute; enforced per replica at limit/N)"


class Unavailable(OmlError):
    code = "internal.unavailable"
    status = 503
    retryable = True
    rule = "a write is whole or not at all; storage or database is away"

    def __init__(self, message: str = "the service is not available at the moment") -> None:
        # A connection can break between a commit and its answer, so nobody may be told that nothing was written.
        sure = "nothing is half done, and a write sent again with its idempotency_key is never doubled"
        super().__init__(f"{message}; {sure}", retry_after_seconds=5)

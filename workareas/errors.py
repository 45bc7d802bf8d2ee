"""Refusals of who and where."""

from __future__ import annotations

from oml.core.errors import Forbidden, OmlError

# access.forbidden lives in core because faces need it too; rooms raise it from here.
AccessForbidden = Forbidden


class AccessNotFound(OmlError):
    """One body for unknown, malformed, foreign and unreadable, echoing only what the caller sent."""

    code = "access.not_found"
    status = 404
    rule = "effective access (D7); unknown and out-of-scope are indistinguishable"

    @classmethod
    def workarea(cls, reference: str, *, param: str | None = None) -> AccessNotFound:
        return cls(f"no readable workarea {reference} for this key", param=param)

    @classmethod
    def artifact(cls, reference: str) -> AccessNotFound:
        return cls(f"no readable artifact {reference} for this key")


class VerbCeiling(OmlError):
    """The role can never hold the verb, whatever is granted."""

    code = "access.verb_ceiling"
    status = 403
    rule = "a role is a ceiling: no grant lifts a key above it (R1)"


class OperatorCeiling(VerbCeiling):
    rule = "operator never writes, reads or reviews content (D9)"


class Frozen(OmlError):
    code = "workarea.frozen"
    status = 409
    rule = "status ladder: a validated workarea refuses new writes (D8)"

    def __init__(self, workarea: str) -> None:
        super().__init__(
            f"workarea {workarea} is validated; writes are refused. Demote, erasure and crew-metadata update are "
            "its only admissible mutations, none on this surface."
        )


class UniverseWrite(OmlError):
    code = "workarea.universe_write"
    status = 409
    rule = "the root workarea 'universe' holds structure, never claims"

    def __init__(self, workarea: str) -> None:
        super().__init__(f"workarea {workarea} is the root; submit to one of its descendants")


class Unreviewed(OmlError):
    code = "workarea.unreviewed"
    status = 409
    rule = "status ladder: a step is refused while unreviewed content remains (D8)"


class IdempotencyMismatch(OmlError):
    code = "request.idempotency_mismatch"
    status = 422
    rule = "an idempotency key names one request (D13)"

    def __init__(self) -> None:
        super().__init__(
            "this idempotency_key was used by this key on this workarea for a different request; use a new one",
            param="idempotency_key",
        )


class IdempotencyInFlight(OmlError):
    code = "request.idempotency_in_flight"
    status = 409
    retryable = True
    rule = "an idempotency key names one request (D13)"

    def __init__(self) -> None:
        super().__init__("the first request with this idempotency_key is still running; send it again shortly")


class Banned(OmlError):
    code = "admission.banned"
    status = 403
    rule = "a banned author or source is refused at submission and again at the verdict"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is banned in this tenant")


class SimulationNotFound(AccessNotFound):
    rule = "a simulation is open to the keys of its audience alone (D10)"

    def __init__(self, simulation: str) -> None:
        super().__init__(f"no simulation {simulation} for this key", param="simulation_id")

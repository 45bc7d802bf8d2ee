"""Refusals of claims."""

from __future__ import annotations

from oml.core.errors import OmlError
from workareas.errors import AccessNotFound


class LineageRequired(OmlError):
    code = "submission.lineage_required"
    status = 422
    rule = "learn declares the lineage that produced the conclusion (R2)"

    def __init__(self) -> None:
        super().__init__(
            "derives_from is empty or omitted; use oml_remember with kind: derived_fact for a conclusion without "
            "nameable lineage",
            param="derives_from",
        )


class ClaimKeyConflict(OmlError):
    code = "submission.claim_key_conflict"
    status = 409
    rule = "a claim_key is unique per workarea over non-erased claims"

    def __init__(self, claim_key: str) -> None:
        super().__init__(f"claim_key {claim_key} is taken in this workarea; choose another", param="claim_key")


class NewerVersion(ClaimKeyConflict):
    """The claim has gone on: no field of the request is at fault, and no other key would help."""

    rule = "a version follows the latest promoted one, and one at a time awaits review"

    def __init__(self, what_is: str) -> None:
        OmlError.__init__(self, what_is)


class UploadNotFound(OmlError):
    code = "upload.not_found"
    status = 404
    rule = "attachments name completed upload sessions of the submitting key (D3)"

    def __init__(self, position: int) -> None:
        super().__init__(
            f"attachments[{position}] names no upload session of this key",
            param=f"attachments[{position}].upload_session",
        )


class LineageNotFound(AccessNotFound):
    rule = "lineage targets must be readable by the submitting key (fail closed)"

    def __init__(self, position: int) -> None:
        super().__init__(
            f"derives_from[{position}] names no artifact readable by this key",
            param=f"derives_from[{position}]",
        )


class EvidenceNotFound(AccessNotFound):
    rule = "cited records must be readable by the submitting key (fail closed)"

    def __init__(self, position: int) -> None:
        super().__init__(f"evidence[{position}] names no record readable by this key", param=f"evidence[{position}]")


class SimulationRequired(OmlError):
    code = "simulation.required"
    status = 422
    rule = "what derives from simulated rows is simulated too (D10)"

    def __init__(self, simulation: str) -> None:
        super().__init__(
            f"a source belongs to simulation {simulation}; send simulation_id: {simulation}", param="simulation_id"
        )


class SimulationConflict(OmlError):
    code = "simulation.conflict"
    status = 422
    rule = "one row belongs to at most one simulation (D10)"

    def __init__(self) -> None:
        super().__init__("the sources and simulation_id name different simulations", param="simulation_id")


class Stale(OmlError):
    """What an act is about is no longer in the state that the act needs."""

    code = "review.stale"
    status = 409
    rule = "a verdict binds to exactly what was served (D14)"

    def __init__(
        self,
        message: str = "the item changed or is no longer held since it was served",
        *,
        rule: str | None = None,
    ) -> None:
        super().__init__(message, rule=rule)


class WrongState(Stale):
    rule = "states are closed: held → promoted → demoted, held → rejected, any → erased"

"""Refusals of source records."""

from __future__ import annotations

from oml.core.errors import OmlError
from workareas.errors import AccessNotFound


class RecordNotFound(AccessNotFound):
    """One body for unknown, malformed, foreign and another principal's."""

    def __init__(self, sr_id: str, *, param: str | None = None) -> None:
        super().__init__(f"no readable record {sr_id} for this key", param=param)


class LaneNotFound(AccessNotFound):
    rule = "a lane belongs to one principal; unknown and foreign are indistinguishable"

    def __init__(self, lane: str, *, param: str) -> None:
        super().__init__(f"no lane {lane} for this key", param=param)


class UnknownSourceType(OmlError):
    code = "record.unknown_source_type"
    status = 400
    rule = "a record's source type is one of its lane's; authority comes from it"

    def __init__(self, known: list[str], *, param: str = "source_type") -> None:
        super().__init__(f"source_type is one of this lane's: {', '.join(known)}", param=param)


class VersionConflict(OmlError):
    code = "record.version_conflict"
    status = 409
    rule = "an update that names the version it expects is refused when the record has moved on"

    def __init__(self, sr_id: str, version: int) -> None:
        super().__init__(f"record {sr_id} is at version {version}; read it again", param="expected_version")


class Tombstoned(OmlError):
    code = "record.tombstoned"
    status = 410
    rule = "a tombstone removes a record from its owner's live reads and from every change; as_of before it answers"

    def __init__(self, sr_id: str) -> None:
        super().__init__(f"record {sr_id} was removed; read it with as_of before that, or see its history")


class BatchSize(OmlError):
    code = "limit.batch_size"
    status = 400
    rule = "a batch has 1 to 200 records"

    def __init__(self, size: int) -> None:
        super().__init__(f"a batch has 1 to 200 records, this one has {size}", param="records")


class AlreadyErased(Tombstoned):
    """An erasure happens once: what is gone cannot go again, and nothing comes back."""

    def __init__(self, sr_id: str) -> None:
        super(Tombstoned, self).__init__(f"record {sr_id} is erased already; its history says when")

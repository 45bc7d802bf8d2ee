"""Refusals of the human gate."""

from __future__ import annotations

from memory.claims.errors import Stale as Stale  # its room is claims; reviewers meet it here
from oml.core.errors import OmlError


class ScanPending(OmlError):
    code = "review.scan_pending"
    status = 409
    retryable = True
    rule = "nothing is served before every scanner has answered (fail closed)"

    def __init__(self) -> None:
        super().__init__("this item is still being scanned; try again shortly", retry_after_seconds=5)


class ReviewerIsAuthor(OmlError):
    code = "review.author"
    status = 403
    rule = "the reviewer is never the author, by key and by principal (R2)"

    def __init__(self) -> None:
        super().__init__("you wrote this item, so you may not judge it")


class ReviewerIsLineageAuthor(OmlError):
    code = "review.lineage_author"
    status = 403
    rule = "the reviewer is never the author of anything the item derives from (R2)"

    def __init__(self) -> None:
        super().__init__("you wrote one of its sources, so you may not judge it")


class ServeExpired(OmlError):
    code = "review.serve_expired"
    status = 409
    rule = "a serve is valid for a stated time (D14)"

    def __init__(self) -> None:
        super().__init__("this serve has expired; open the item again")


class ServeConsumed(OmlError):
    code = "review.serve_consumed"
    status = 409
    rule = "a serve is consumed by its first verdict (D14)"

    def __init__(self) -> None:
        super().__init__("this serve has had its verdict; open the item again if it is still held")


class PartsUnserved(OmlError):
    code = "review.parts_unserved"
    status = 409
    rule = "a verdict counts only when every part of the item was sent to its reviewer (D14)"

    def __init__(self, parts: list[str]) -> None:
        super().__init__(f"not yet sent to you: {', '.join(parts)}; fetch them, then give the verdict again")


class ProposerIsRatifier(ReviewerIsAuthor):
    rule = "an edge's ratifier is never its proposer, by key and by principal (R2)"

    def __init__(self) -> None:
        OmlError.__init__(self, "you proposed this edge, so you may not ratify it")

"""The error taxonomy: each code with the status and retryability of the design page, and no text in any of them."""

from __future__ import annotations

import pytest

import review.errors
from oml.core.errors import InvalidKey, OmlError, QuotaExceeded, Validation

DESIGN = {
    "auth.invalid_key": (401, False),
    "request.validation": (400, False),
    "request.route": (404, False),
    "request.method": (405, False),
    "request.media_type": (415, False),
    "request.idempotency_mismatch": (422, False),
    "request.idempotency_in_flight": (409, True),
    "access.not_found": (404, False),
    "access.forbidden": (403, False),
    "access.verb_ceiling": (403, False),
    "workarea.frozen": (409, False),
    "workarea.universe_write": (409, False),
    "workarea.unreviewed": (409, False),
    "submission.lineage_required": (422, False),
    "submission.claim_key_conflict": (409, False),
    "relate.label": (422, False),
    "relate.duplicate": (409, False),
    "upload.not_found": (404, False),
    "upload.incomplete": (409, False),
    "upload.session_consumed": (409, False),
    "upload.expired": (410, False),
    "upload.part_size": (400, False),
    "upload.part_digest": (400, False),
    "upload.part_conflict": (409, False),
    "upload.digest_mismatch": (422, False),
    "admission.banned": (403, False),
    "review.scan_pending": (409, True),
    "review.author": (403, False),
    "review.lineage_author": (403, False),
    "review.serve_expired": (409, False),
    "review.serve_consumed": (409, False),
    "review.parts_unserved": (409, False),
    "review.stale": (409, False),
    "simulation.required": (422, False),
    "simulation.conflict": (422, False),
    "record.unknown_source_type": (400, False),
    "record.version_conflict": (409, False),
    "record.tombstoned": (410, False),
    "memory.cap": (409, False),
    "memory.too_large": (413, False),
    "limit.quota": (429, True),
    "limit.size": (413, False),
    "limit.ceiling": (400, False),
    "limit.batch_size": (400, False),
    "internal.unavailable": (503, True),
}


@pytest.mark.parametrize("code", sorted(OmlError.registry))
def test_registry__every_code__is_the_design_s(code: str) -> None:
    error = OmlError.registry[code]
    assert (error.status, error.retryable) == DESIGN[code]
    assert error.rule


def test_as_dict__has_the_seed_s_fields_and_the_two_that_may_come() -> None:
    assert Validation("no", param="text").as_dict() == {
        "error": {
            "code": "request.validation",
            "rule": "a request has exactly the declared shape",
            "message": "no",
            "retryable": False,
            "param": "text",
        }
    }


def test_retryable__always_says_when_and_a_final_refusal_never_does() -> None:
    assert QuotaExceeded("no").headers() == {"Retry-After": "1"}
    assert QuotaExceeded("no", retry_after_seconds=7).as_dict()["error"]["retry_after_seconds"] == 7
    assert Validation("no", retry_after_seconds=7).headers() == {}
    assert "retry_after_seconds" not in Validation("no", retry_after_seconds=7).as_dict()["error"]


def test_invalid_key__challenge__tells_a_missing_key_from_a_wrong_one_in_the_header_alone() -> None:
    missing, wrong = InvalidKey(presented=False), InvalidKey()
    assert missing.as_dict() == wrong.as_dict()
    assert missing.headers() == {"WWW-Authenticate": 'Bearer realm="oml"'}
    assert wrong.headers() == {"WWW-Authenticate": 'Bearer realm="oml", error="invalid_token"'}


def test_subclass__same_code_twice__is_a_programming_error() -> None:
    with pytest.raises(TypeError):
        type("Again", (OmlError,), {"code": "review.stale"})


def test_registry__keeps_one_class_for_each_code() -> None:
    assert OmlError.registry["review.stale"] is review.errors.Stale

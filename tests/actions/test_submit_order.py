"""When two refusals of a submission apply at once, the earlier one of the design's order answers.

auth → shape → idempotency → role ceiling → workarea access → universe → frozen → ban → lineage → simulation →
attachments → claim_key → quota (design: admission, "Order of checks on a submission").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest

from memory.claims.models import Artifact
from memory.claims.states import Kind, SubmitVerb
from oml.core.actor import Actor, Role
from oml.core.errors import OmlError
from tests.support.journal import length
from tests.support.world import World
from workareas import quota
from workareas.actions.keys import set_quota
from workareas.ladder import Status
from workareas.models import Grant, Workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


@dataclass
class Attempt:
    """One submission to universe.a by a key of its own, before anything is wrong with it."""

    world: World
    actor: Actor
    fields: dict[str, Any] = field(default_factory=lambda: {"claim_key": "fresh"})

    @property
    def node(self) -> Workarea:
        return self.world.nodes["a"]


def idempotency_key_of_another_request(attempt: Attempt) -> None:
    attempt.world.submitted(attempt.actor, claim_key="before", idempotency_key="run-1")
    attempt.fields["idempotency_key"] = "run-1"


def role_that_never_writes(attempt: Attempt) -> None:
    attempt.actor = attempt.world.bare_key(Role.READER)
    attempt.world.grant(attempt.actor, Capability.READER, on="a")


def node_out_of_sight(attempt: Attempt) -> None:
    Grant.objects.filter(key=attempt.actor.key_id).delete()


def writing_denied(attempt: Attempt) -> None:
    attempt.world.deny(attempt.actor, Capability.WRITER, on="a")


def the_root(attempt: Attempt) -> None:
    attempt.fields["workarea"] = "universe"


def validated_node(attempt: Attempt) -> None:
    Workarea.objects.filter(pk=attempt.node.pk).update(status=Status.VALIDATED)


def learn_without_lineage(attempt: Attempt) -> None:
    attempt.fields |= {"verb": SubmitVerb.LEARN, "kind": Kind.DERIVED_FACT}


def unreadable_source(attempt: Attempt) -> None:
    attempt.fields["derives_from"] = ("art_unknown",)


def unknown_upload(attempt: Attempt) -> None:
    attempt.fields["attachments"] = ("ups_unknown",)


def taken_claim_key(attempt: Attempt) -> None:
    attempt.world.submitted(claim_key="taken")
    attempt.fields["claim_key"] = "taken"


def exhausted_quota(attempt: Attempt) -> None:
    set_quota(attempt.world.admin, writes_per_minute=1, reads_per_minute=None)
    quota.forget()
    quota.take(attempt.actor, quota.Quota.WRITE)


Wrong = Callable[[Attempt], None]
ORDER: list[tuple[Wrong, str]] = [
    (idempotency_key_of_another_request, "request.idempotency_mismatch"),
    (role_that_never_writes, "access.verb_ceiling"),
    (node_out_of_sight, "access.not_found"),
    (the_root, "workarea.universe_write"),
    (writing_denied, "access.forbidden"),
    (validated_node, "workarea.frozen"),
    (learn_without_lineage, "submission.lineage_required"),
    (unreadable_source, "access.not_found"),
    (unknown_upload, "upload.not_found"),
    (taken_claim_key, "submission.claim_key_conflict"),
    (exhausted_quota, "limit.quota"),
]
# Pairs that cannot be at once: a key that never wrote there has stored nothing; the root is no node `a`; a learn
# without lineage has no source.
IMPOSSIBLE = {
    (idempotency_key_of_another_request, role_that_never_writes),
    (idempotency_key_of_another_request, the_root),
    (role_that_never_writes, node_out_of_sight),
    (role_that_never_writes, writing_denied),
    (learn_without_lineage, unreadable_source),
}
PAIRS = [
    (first, second, code)
    for (first, code), (second, _) in combinations(ORDER, 2)
    if (first, second) not in IMPOSSIBLE and the_root not in (first, second)
]


@pytest.fixture
def attempt(world: World) -> Attempt:
    return Attempt(world, world.key("writer", on="a"))


def refusal(attempt: Attempt) -> OmlError:
    before = length(attempt.actor.tenant_id), Artifact.objects.count()
    with pytest.raises(OmlError) as caught:
        attempt.world.submitted(attempt.actor, **attempt.fields)
    assert (length(attempt.actor.tenant_id), Artifact.objects.count()) == before
    return caught.value


@pytest.mark.parametrize(("wrong", "code"), ORDER)
def test_submit_memory__one_thing_wrong__has_its_code_and_writes_nothing(
    attempt: Attempt, wrong: Wrong, code: str
) -> None:
    if wrong is the_root:
        attempt.actor = attempt.world.writer
    wrong(attempt)
    assert refusal(attempt).code == code


@pytest.mark.parametrize(("first", "second", "code"), PAIRS)
def test_submit_memory__two_things_wrong__answers_the_earlier(
    attempt: Attempt, first: Wrong, second: Wrong, code: str
) -> None:
    for wrong in sorted((first, second), key=_preparation):
        wrong(attempt)
    assert refusal(attempt).code == code


def _preparation(wrong: Wrong) -> int:
    """What needs a submission of its own comes first, what stops submissions after that, the quota last."""
    if wrong in (idempotency_key_of_another_request, taken_claim_key):
        return 0
    return 2 if wrong is exhausted_quota else 1


def test_submit_memory__root_out_of_sight__is_not_found_like_any_other(attempt: Attempt) -> None:
    the_root(attempt)  # this key is granted on universe.a alone
    error = refusal(attempt)
    assert (error.code, error.message) == ("access.not_found", "no readable workarea universe for this key")


def test_submit_memory__root_visible_but_not_writable__is_universe_write(world: World) -> None:
    world.deny(world.writer, Capability.WRITER, on="universe")
    assert refusal(Attempt(world, world.writer, {"workarea": "universe"})).code == "workarea.universe_write"


def test_submit_memory__refused_by_quota__says_when_to_come_back(attempt: Attempt) -> None:
    exhausted_quota(attempt)
    error = refusal(attempt)
    assert error.retryable
    assert error.as_dict()["error"] == {
        "code": "limit.quota",
        "rule": "tenant quota (journalled grant attribute; enforced per replica at limit/N)",
        "message": "write quota exhausted for this key's tenant",
        "retryable": True,
        "retry_after_seconds": 60,
    }


def test_submit_memory__frozen__has_the_seed_s_words(attempt: Attempt) -> None:
    validated_node(attempt)
    attempt.fields["workarea"] = "universe.a"
    error = refusal(attempt)
    assert error.rule == "status ladder: a validated workarea refuses new writes (D8)"
    assert error.message == (
        "workarea universe.a is validated; writes are refused. Demote, erasure and crew-metadata update are its only "
        "admissible mutations, none on this surface."
    )


def test_submit_memory__unreadable_source__has_the_seed_s_words_and_its_place(attempt: Attempt) -> None:
    known = attempt.world.promoted(on="a")
    attempt.fields["derives_from"] = (known, "art_01JB2M4N6P8R1T3V5X7Z9BD2FH")
    assert refusal(attempt).as_dict()["error"] == {
        "code": "access.not_found",
        "rule": "lineage targets must be readable by the submitting key (fail closed)",
        "message": "derives_from[1] names no artifact readable by this key",
        "retryable": False,
        "param": "derives_from[1]",
    }

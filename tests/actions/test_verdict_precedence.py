"""Verdict refusals in their order: consumed, expired, stale, author, lineage (shapes); none of them consumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations

import pytest

from memory.claims.models import Artifact, Lineage, ScanReport
from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.errors import OmlError
from review.models import Serve, Verdict
from review.policy import ReasonCode, VerdictWord
from tests.support.journal import length
from tests.support.world import World
from workareas.actions.keys import revoke_key
from workareas.actions.nodes import set_policy
from workareas.ladder import Status
from workareas.models import Grant, Workarea
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


@dataclass
class Served:
    world: World
    source: str
    artifact: str
    serve: Serve

    @property
    def reviewer(self) -> Actor:
        return self.world.reviewer


@pytest.fixture
def served(world: World) -> Served:
    """A derived claim of writer2 on a source of writer, served to the reviewer."""
    source = world.promoted(world.writer, by=world.reviewer2)
    artifact = world.learn(world.writer2, sources=[source])
    world.scan()
    return Served(world, source, artifact, world.serve(artifact))


def consumed(served: Served) -> None:
    Serve.objects.filter(pk=served.serve.pk).update(consumed_at=now())


def expired(served: Served) -> None:
    Serve.objects.filter(pk=served.serve.pk).update(expires_at=now())


def stale(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(text="Another text.")


def author(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(author_principal=served.reviewer.principal_id)


def lineage_author(served: Served) -> None:
    Artifact.objects.filter(pk=served.source).update(author_key=served.reviewer.key_id)


ORDER: list[tuple[Callable[[Served], None], str]] = [
    (consumed, "review.serve_consumed"),
    (expired, "review.serve_expired"),
    (stale, "review.stale"),
    (author, "review.author"),
    (lineage_author, "review.lineage_author"),
]


def refusal(served: Served, *, by: Actor | None = None, **fields: object) -> OmlError:
    by = by or served.reviewer
    before = length(by.tenant_id), Verdict.objects.count(), served.world.row(served.artifact).state
    with pytest.raises(OmlError) as caught:
        served.world.judge(served.serve, by=by, **fields)  # type: ignore[arg-type]
    assert (length(by.tenant_id), Verdict.objects.count(), served.world.row(served.artifact).state) == before
    return caught.value


@pytest.mark.parametrize(("wrong", "code"), ORDER)
def test_verdict__one_thing_wrong__has_its_code(served: Served, wrong: Callable[[Served], None], code: str) -> None:
    wrong(served)
    assert refusal(served).code == code


@pytest.mark.parametrize(("first", "second"), list(combinations(ORDER, 2)))
def test_verdict__two_things_wrong__answers_the_earlier(
    served: Served,
    first: tuple[Callable[[Served], None], str],
    second: tuple[Callable[[Served], None], str],
) -> None:
    second[0](served)
    first[0](served)
    assert refusal(served).code == first[1]


def moved_lineage(served: Served) -> None:
    other = served.world.promoted(served.world.writer, by=served.world.reviewer2)
    Lineage.objects.create(artifact_id=served.artifact, source_id=other, position=1)


def changed_finding(served: Served) -> None:
    report = ScanReport.objects.filter(artifact=served.artifact).first()
    assert report is not None
    report.findings = [{"rule": "unicode.soft_hyphen", "severity": "low", "start": 0, "end": 1}]
    report.save()


def changed_outcome(served: Served) -> None:
    ScanReport.objects.filter(artifact=served.artifact).update(outcome="flagged")


def failed_since(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(scan_state="failed")


def pending_again(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(scan_state="pending")


def policy_of_the_node(served: Served) -> None:
    set_policy(served.world.admin, workarea="universe.a", settings={"held_expiry_s": 3600})


def policy_of_an_ancestor(served: Served) -> None:
    set_policy(served.world.admin, workarea="universe", settings={"min_verdicts": 2})


def status_moved(served: Served) -> None:
    Workarea.objects.filter(path="universe.a").update(status=Status.DEVELOPMENT)


def node_moved(served: Served) -> None:
    Workarea.objects.filter(path="universe.a").update(path="universe.elsewhere")


def claim_key_changed(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(claim_key="another")


def kind_changed(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(kind="steering")


def judged_meanwhile(served: Served) -> None:
    served.world.reject(served.artifact, by=served.world.reviewer2)


MOVES = [
    stale,
    moved_lineage,
    changed_finding,
    changed_outcome,
    failed_since,
    pending_again,
    policy_of_the_node,
    policy_of_an_ancestor,
    status_moved,
    node_moved,
    claim_key_changed,
    kind_changed,
    judged_meanwhile,
]


@pytest.mark.parametrize("move", MOVES)
def test_verdict__anything_it_rests_on_moved_after_the_serve__is_stale(
    served: Served, move: Callable[[Served], None]
) -> None:
    move(served)
    assert refusal(served).code == "review.stale"
    assert Serve.objects.get(pk=served.serve.pk).consumed_at is None


@pytest.mark.parametrize("digest", ["0" * 64, "", "x", "A" * 64])
def test_verdict__digest_of_something_else__is_stale(served: Served, digest: str) -> None:
    assert refusal(served, content_digest=digest).code == "review.stale"


def test_verdict__overdue_item__is_stale_and_the_item_ends_expired(served: Served) -> None:
    Artifact.objects.filter(pk=served.artifact).update(held_expires_at=now() - timedelta(seconds=1))
    with pytest.raises(OmlError) as caught:
        served.world.judge(served.serve)
    assert caught.value.code == "review.stale"
    row = served.world.row(served.artifact)
    assert (row.state, row.cause) == ("rejected", "expired")


def test_verdict__after_it_was_given__is_consumed_for_every_further_one(served: Served) -> None:
    assert served.world.judge(served.serve)["state"] == "promoted"
    assert refusal(served).code == "review.serve_consumed"
    assert refusal(served, word=VerdictWord.REJECT, reason="late").code == "review.serve_consumed"


def same_as_unknown(served: Served, by: Actor) -> None:
    error = refusal(served, by=by)
    with pytest.raises(OmlError) as unknown:
        served.world.judge(Serve(pk="srv_unknown", content_digest="0" * 64), by=by)
    expected = unknown.value.as_dict()
    expected["error"]["message"] = expected["error"]["message"].replace("srv_unknown", served.serve.pk)
    assert error.as_dict() == expected
    assert error.code == "access.not_found"


def test_verdict__another_reviewer_s_serve__does_not_exist(served: Served) -> None:
    same_as_unknown(served, served.world.reviewer2)


def test_verdict__serve_of_another_key_of_the_same_principal__does_not_exist(served: Served) -> None:
    same_as_unknown(served, served.world.key("reviewer", principal=served.reviewer.principal_id))


def test_verdict__another_tenant_s_serve__does_not_exist(served: Served) -> None:
    same_as_unknown(served, World.build("other", paths=("a",)).reviewer)


def test_verdict__all_grants_taken_back_since_the_serve__does_not_exist_any_more(served: Served) -> None:
    Grant.objects.filter(key=served.reviewer.key_id).delete()
    same_as_unknown(served, served.reviewer)


def test_verdict__review_denied_since_the_serve__is_refused(served: Served) -> None:
    served.world.deny(served.reviewer, Capability.REVIEW, on="a")
    assert refusal(served).code in {"access.forbidden", "access.not_found"}


def test_verdict__key_revoked_since_the_serve__is_refused(served: Served) -> None:
    revoke_key(served.world.admin, key=served.reviewer.key_id)
    assert refusal(served).code == "access.not_found"


def test_verdict__rejection_without_a_word__is_validation_and_consumes_nothing(served: Served) -> None:
    for reason in ("", "  \n"):
        assert refusal(served, word=VerdictWord.REJECT, reason=reason).param == "reason_code"
    assert served.world.judge(served.serve, word=VerdictWord.REJECT, reason="Not so.")["state"] == "rejected"
    assert Verdict.objects.get(artifact=served.artifact).reason_code == "other"


def test_verdict__reason_required__a_code_alone_is_not_enough(world: World) -> None:
    set_policy(world.admin, workarea="universe", settings={"reason_required": True})
    artifact = world.submit()
    world.scan()
    serve = world.serve(artifact)
    with pytest.raises(OmlError) as caught:
        world.judge(serve, word=VerdictWord.REJECT, reason_code=ReasonCode.WRONG)
    assert (caught.value.code, caught.value.param) == ("request.validation", "reason")
    assert world.judge(serve, word=VerdictWord.REJECT, reason_code=ReasonCode.WRONG, reason="No.")


def test_verdict__ratified_into_a_node_that_froze__is_refused(served: Served) -> None:
    Workarea.objects.filter(path="universe.a").update(status=Status.VALIDATED)
    with pytest.raises(OmlError) as caught:
        served.world.ratify(served.artifact)
    assert caught.value.code == "workarea.frozen"
    assert served.world.row(served.artifact).state == "held"

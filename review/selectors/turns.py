"""Whose turn is it? The same R2 as :func:`review.policy.standing`, as one SQL predicate over held rows.

A queue that only knew row by row could neither count nor page by turn. What must never happen here: a row that
this predicate calls the reviewer's and the ceremony then refuses; ``tests/faces/test_review_pages.py`` compares
the two for every row.
"""

from __future__ import annotations

from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from memory.claims.lineage import STEP_DOWN
from memory.claims.models import Artifact
from memory.claims.states import Kind, ScanState
from oml.core.actor import Actor
from review.hands import WROTE_SQL, reviewer_of, wrote, wrote_params
from review.models import Verdict
from workareas.models import Workarea
from workareas.selectors.policies import effective_policies


class Turn(StrEnum):
    """Which half of the queue."""

    MINE = "mine"
    OTHERS = "others"


# Everything that rests on something this reviewer wrote, the reviewer's own rows included.
_RESTS_ON_MINE = f"""
WITH RECURSIVE closure(id) AS (
    SELECT a.id FROM memory_artifact a
    WHERE a.tenant_id = %s AND {WROTE_SQL}
  UNION
    SELECT step.id FROM closure, LATERAL ({STEP_DOWN}) AS step
)
SELECT id FROM closure
"""  # noqa: S608  (constants alone)


def judgeable(actor: Actor, rows: QuerySet[Artifact]) -> Q:
    """The rows this reviewer may judge now; everything else waits for others, or for a scanner.

    Args:
        actor: the reviewer.
        rows: the queue that the predicate will be applied to; only its workareas are read (two queries).
    """
    nodes = Workarea.objects.filter(pk__in=rows.order_by().values("workarea_id")).select_related("tenant")
    policies = effective_policies(nodes)
    relaxed = [node for node, policy in policies.items() if policy.self_signed_allowed]
    strict = [node for node, policy in policies.items() if policy.lineage_exclusion]
    reviewer = reviewer_of(actor)
    own = wrote(reviewer)
    self_signable = own & Q(workarea_id__in=relaxed) & ~Q(kind=Kind.STEERING)
    rests_on_mine = RawSQL(_RESTS_ON_MINE, (actor.tenant_id, *wrote_params(reviewer)))  # noqa: S611
    foreign = ~own & ~(Q(workarea_id__in=strict) & Q(pk__in=rests_on_mine))
    judged = Exists(Verdict.objects.filter(artifact=OuterRef("pk"), reviewer_principal_id=actor.principal_id))
    return Q(scan_state__in=(ScanState.CLEAN, ScanState.FLAGGED)) & (self_signable | foreign) & ~Q(judged)

"""The review queue: what waits in the nodes this reviewer may review, and whether R2 lets them judge it.

A queue row carries no text: that comes with a serve alone (R3). The number of queries does not depend on how many
items wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Length

from memory.claims.lineage import STEP_UP
from memory.claims.models import Artifact
from memory.claims.states import Kind, ScanState, Surface
from oml.core.actor import Actor
from oml.core.clock import now, parse_rfc3339, rfc3339, rfc3339_seconds
from oml.core.errors import Validation
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from review.agent_state import JOINS, agent_state
from review.errors import ReviewerIsAuthor, ReviewerIsLineageAuthor, ScanPending, Stale
from review.hands import WROTE_SQL, author_of, reviewer_of, wrote_params
from review.models import Verdict
from review.policy import Identity, Standing, VerdictWord, standing
from review.selectors.turns import Turn, judgeable
from workareas import access
from workareas.models import Workarea
from workareas.policy import Policy
from workareas.selectors.fences import fence_of
from workareas.selectors.policies import effective_policies
from workareas.verbs import Capability, Verb

MAX_LIMIT = 100

_LINEAGE_AUTHORS = f"""
WITH RECURSIVE closure(root, id) AS (
    SELECT a.id, a.id FROM memory_artifact a WHERE a.id = ANY(%s)
  UNION
    SELECT closure.root, step.id FROM closure, LATERAL ({STEP_UP}) AS step
)
SELECT DISTINCT closure.root FROM closure JOIN memory_artifact a ON a.id = closure.id
WHERE closure.id <> closure.root AND {WROTE_SQL}
"""  # noqa: S608  (constants alone)


@dataclass(frozen=True, slots=True)
class QueueQuery:
    """Filters of the queue; all optional."""

    workarea: str | None = None
    kind: str | None = None
    scan: str | None = None
    author_key: str | None = None
    claim_key: str | None = None
    channel: str | None = None
    turn: str | None = None
    limit: int = 50
    cursor: str | None = None


def review_queue(actor: Actor, *, query: QueueQuery) -> dict[str, Any]:
    """Held items this reviewer's nodes await, least time left first.

    Args:
        actor: a key that holds review somewhere.
        query: filters, page size and cursor.

    Returns:
        ``items`` with ``may_judge`` and, where not, ``blocked_by`` (code, rule, message); ``next_cursor``;
        ``total`` of this list; ``counts`` of both turns under the same filters.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; the role can never review.
        AccessNotFound: ``access.not_found``; the workarea filter names nothing visible.
        CeilingExceeded, Validation: limit, filter or cursor.
    """
    access.require_role(actor, Verb.REVIEW_SERVE)
    check_range("limit", query.limit, most=MAX_LIMIT)
    rows, filters = _filtered(actor, query)
    mine = judgeable(actor, rows)
    counts = {Turn.MINE: rows.filter(mine).count(), Turn.OTHERS: rows.filter(~mine).count()}
    if query.turn is not None:
        rows = rows.filter(mine if query.turn == Turn.MINE else ~mine)
    pages: Pages[Artifact] = Pages(
        cursor_key(), actor.key_id, filters, lambda item: [rfc3339(item.held_expires_at), item.pk]
    )
    if (behind := pages.behind(query.cursor)) is not None:
        expires, last = behind
        moment = parse_rfc3339(expires)
        rows = rows.filter(held_expires_at__gte=moment).exclude(held_expires_at=moment, pk__lte=last)
    page, cursor = pages.cut(_shown(rows)[: query.limit + 1], query.limit)
    total = counts[Turn(query.turn)] if query.turn is not None else sum(counts.values())
    return {
        "items": _items(actor, page),
        "next_cursor": cursor,
        "total": total,
        "counts": {str(turn): count for turn, count in counts.items()},
    }


def items_for(actor: Actor) -> int:
    """How many held items this reviewer may judge now.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
    """
    access.require_role(actor, Verb.REVIEW_SERVE)
    rows, _ = _filtered(actor, QueueQuery())
    return rows.filter(judgeable(actor, rows)).count()


def next_turn(actor: Actor, *, after: str | None = None) -> dict[str, Any] | None:
    """The item that this reviewer may judge next; None when nothing is left for them.

    Args:
        actor: a key that holds review somewhere.
        after: an artifact id; what follows it in the queue comes first, and it is never the answer.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
    """
    access.require_role(actor, Verb.REVIEW_SERVE)
    rows, _ = _filtered(actor, QueueQuery())
    rows = rows.filter(judgeable(actor, rows))
    here = None
    if after is not None:
        here = Artifact.objects.filter(pk=after, tenant_id=actor.tenant_id).only("held_expires_at").first()
        rows = rows.exclude(pk=after)
    found = None
    if here is not None:
        at = here.held_expires_at
        later = Q(held_expires_at__gt=at) | Q(held_expires_at=at, pk__gt=here.pk)
        found = _shown(rows.filter(later)).first()
    found = found or _shown(rows).first()
    return _items(actor, [found])[0] if found is not None else None


def _shown(rows: QuerySet[Artifact]) -> QuerySet[Artifact]:
    """Rows in the queue's order with what a list shows of them: sizes and counts, never text (R3)."""
    ratified = Count("verdicts__reviewer_principal", filter=Q(verdicts__verdict=VerdictWord.RATIFY), distinct=True)
    return (
        rows.select_related("workarea__tenant", "author_principal", "author_key", JOINS)
        .annotate(size=Length("text"), lineage_count=Count("lineage", distinct=True), ratified=ratified)
        .defer("text", "envelope")
        .order_by("held_expires_at", "pk")
    )


def _filtered(actor: Actor, query: QueueQuery) -> tuple[QuerySet[Artifact], dict[str, Any]]:
    known = access.load(actor)
    rows = Artifact.objects.held(now()).filter(
        Q(simulation_id__isnull=True) | Q(simulation_id__in=fence_of(actor)),
        known.scope(Capability.REVIEW).predicate("workarea__path"),
        tenant_id=actor.tenant_id,
    )
    if query.workarea is not None:
        node = known.decide(Verb.REVIEW_SERVE, access.find(actor, query.workarea), query.workarea)
        path = access.require_node(node).path
        rows = rows.filter(access.Scope((path,), ()).predicate("workarea__path"))
    for name, allowed in (("kind", Kind), ("scan", ScanState), ("channel", Surface), ("turn", Turn)):
        value = getattr(query, name)
        if value is not None and value not in list(allowed):
            raise Validation(f"{name} is one of {', '.join(allowed)}", param=name)
    if query.kind is not None:
        rows = rows.filter(kind=query.kind)
    if query.scan is not None:
        rows = rows.filter(scan_state=query.scan)
    if query.channel is not None:
        rows = rows.filter(channel=query.channel)
    if query.author_key is not None:
        rows = rows.filter(author_key_id=query.author_key)
    if query.claim_key is not None:
        rows = rows.filter(claim_key__icontains=query.claim_key)
    names = ("workarea", "kind", "scan", "author_key", "claim_key", "channel", "turn")
    return rows, {"view": "review_queue", **{name: getattr(query, name) for name in names}}


def _items(actor: Actor, page: Sequence[Artifact]) -> list[dict[str, Any]]:
    policies = effective_policies([item.workarea for item in page])
    reviewer = reviewer_of(actor)
    excluded = _lineage_exclusions(reviewer, [item.pk for item in page])
    judged = set(
        Verdict.objects.filter(
            artifact__in=[item.pk for item in page], reviewer_principal_id=actor.principal_id
        ).values_list("artifact_id", flat=True)
    )
    return [
        _item(
            item,
            policies[item.workarea_id],
            _blocked_by(reviewer, item, policies[item.workarea_id], item.pk in excluded, item.pk in judged),
        )
        for item in page
    ]


def _lineage_exclusions(reviewer: Identity, artifact_ids: list[str]) -> set[str]:
    if not artifact_ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_LINEAGE_AUTHORS, [artifact_ids, *wrote_params(reviewer)])
        return {row[0] for row in cursor.fetchall()}


def _blocked_by(
    reviewer: Identity, item: Artifact, policy: Policy, wrote_a_source: bool, judged: bool
) -> dict[str, Any] | None:
    stands = standing(
        reviewer,
        author=author_of(item),
        ancestors=[reviewer] if wrote_a_source else [],
        lineage_exclusion=policy.lineage_exclusion,
        relaxed=policy.self_signed_allowed,
        steering=item.kind == Kind.STEERING,
    )
    error: Any = None
    if stands is Standing.AUTHOR:
        error = ReviewerIsAuthor()
    elif stands is Standing.LINEAGE_AUTHOR:
        error = ReviewerIsLineageAuthor()
    elif judged:
        error = Stale("you have judged this item; it waits for another reviewer")
    elif item.scan_state not in (ScanState.CLEAN, ScanState.FLAGGED):
        error = ScanPending()
    if error is None:
        return None
    return {"code": error.code, "rule": error.rule, "message": error.message}


def _item(item: Any, policy: Policy, blocked_by: dict[str, Any] | None) -> dict[str, Any]:
    workarea: Workarea = item.workarea
    return {
        "artifact_id": item.pk,
        "claim_key": item.claim_key,
        "version": item.version,
        "kind": item.kind,
        "channel": item.channel,
        "agent_state": agent_state(item),
        "state": item.state,
        "workarea": workarea.pk,
        "workarea_path": workarea.path,
        "author_key": item.author_key_id,
        "author": item.author_principal.name,
        "submitted_at": rfc3339_seconds(item.submitted_at),
        "held_expires_at": rfc3339_seconds(item.held_expires_at),
        "size_chars": item.size,
        "lineage_declared": item.lineage_count,
        "scan": item.scan_state,
        "ratified": item.ratified,
        "required": policy.min_verdicts,
        "may_judge": blocked_by is None,
        "blocked_by": blocked_by,
    }

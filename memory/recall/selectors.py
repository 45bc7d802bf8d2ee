"""Recall (seed: oml_recall; D12): authorize the scope, select, keep the read log, answer.

What must never happen here: a row that is not promoted, not readable or outside the fence, in any part of an answer
or in what orders it (R3, D10); a query anywhere but in its keyed digest; a lake.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import F, Func, IntegerField, Q, TextField, Value
from django.db.models.functions import Length
from numpy.typing import NDArray

from memory.claims.models import Artifact
from memory.claims.states import Kind
from memory.recall import cues, fusion, readlog, search
from memory.recall.answer import MAX_STEERING, compose
from memory.recall.commands import MAX_K, MAX_QUERY, RecallCommand
from memory.recall.embedders import Embedder, EmbedderUnavailable, embedder
from memory.recall.fusion import Scored
from memory.recall.lexer import query_terms
from memory.recall.reach import filtered, reach
from oml.core.actor import Actor
from oml.core.clock import now
from oml.core.errors import SizeExceeded, Validation
from oml.core.paging import check_range
from workareas import access, quota
from workareas.access import Scope
from workareas.models import Workarea
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks, resolved: where they may read and which fences they are inside of."""

    tenant_id: str
    scope: Scope
    fence: frozenset[str]


def recall(actor: Actor, *, command: RecallCommand) -> dict[str, Any]:
    """Search promoted memories of a subtree; steering first.

    Args:
        actor: a key with reader access on the scope.
        command: query, scope, k, filters, max_chars, explain.

    Returns:
        ``steering`` and ``hits`` as the seed spells them; ``steering_truncated``, ``truncated_hits``, ``degraded``
        where they apply.

    Raises:
        SizeExceeded: ``limit.size``; the query has more than 8,192 characters.
        CeilingExceeded: ``limit.ceiling``; k above 50.
        Validation: ``request.validation``; k or max_chars below 1, a NUL or a lone surrogate in the query.
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``.
        QuotaExceeded: ``limit.quota``.
    """
    _check(command)
    known = access.load(actor)
    node = access.require_node(known.decide(Verb.RECALL, access.find(actor, command.scope), command.scope))
    quota.take(actor, quota.Quota.READ)
    reader = Reader(actor.tenant_id, known.scope(Capability.READER), fence_of(actor))
    model, vector = _embed(command.query)
    with transaction.atomic():
        steering = _steering(reader, node)
        scored, degraded = _ranked(reader, node, command, model, vector)
        hits = _readable(reader, scored[: command.k])
        answer = compose(
            steering,
            hits,
            {one.artifact_id: one for one in scored},
            max_chars=command.max_chars,
            explain=command.explain,
            degraded=["vector"] if degraded else [],
        )
        returned = [row["artifact_id"] for part in ("steering", "hits") for row in answer[part]]
        readlog.record(actor, surface="recall", workarea_id=node.pk, query=command.query, returned=returned)
    return answer


def _check(command: RecallCommand) -> None:
    if len(command.query) > MAX_QUERY:
        raise SizeExceeded(f"a query has at most {MAX_QUERY} characters", param="query")
    check_range("k", command.k, most=MAX_K)
    if command.max_chars is not None and command.max_chars < 1:
        raise Validation("max_chars is at least 1", param="max_chars")
    if "\x00" in command.query or any("\ud800" <= character <= "\udfff" for character in command.query):
        raise Validation("a query is Unicode text without NUL", param="query")


def _embed(query: str) -> tuple[Embedder | None, NDArray[np.float32] | None]:
    """The query's vector; a query beyond the window is compared by the mean of its windows."""
    try:
        model = embedder(settings.OML_EMBEDDER)
        return model, _mean(model.embed(model.windows(query)))
    except EmbedderUnavailable as error:
        logger.warning("recall without vectors: %s", type(error).__name__)
        return None, None


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(vectors) == 1:
        return np.asarray(vectors[0], np.float32)
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32)


def _ranked(
    reader: Reader,
    node: Workarea,
    command: RecallCommand,
    model: Embedder | None,
    vector: NDArray[np.float32] | None,
) -> tuple[list[Scored], bool]:
    """Rows in order, and whether meaning could not take part everywhere."""
    asked = search.question(command.query, query_terms(command.query), vector, model.model_id if model else "")
    within = reach(reader.tenant_id, node.path, reader.scope, reader.fence, now())
    filters = filtered(command.filters)
    search.tune()
    found = search.find(asked, within, filters)
    labels = frozenset(label for label in found.candidates.values() if label)
    named = frozenset(label for label in labels if cues.names(label, asked.words))
    statement = vector
    if named and model is not None:
        _, statement = _embed(cues.without(command.query, named))
    rows = search.look(asked, found, within, filters, statement, named)
    scored = fusion.rank(
        rows,
        weights=[found.lexical.weights[place] for place in found.lexical.singled],
        norm=found.lexical.norm,
        trust=model.knows(command.query) if model is not None else 0.0,
        wants_time=cues.asks_when(command.query),
    )
    return scored, vector is None or any(row.whole is None for row in rows)


def _steering(reader: Reader, node: Workarea) -> list[Artifact]:
    """Guidance of the scope's ancestors, the scope and its descendants, in the contract's order, one too many."""
    steps = node.path.split(".")
    ancestors = [".".join(steps[: depth + 1]) for depth in range(len(steps))]
    moment = now()
    depth = Length("workarea__path") - Length(
        Func(F("workarea__path"), Value("."), Value(""), function="replace", output_field=TextField()),
        output_field=IntegerField(),
    )
    rows = (
        Artifact.objects.readable(reader.tenant_id, reader.scope, fence=reader.fence)
        .filter(
            Q(serving__path__in=ancestors) | Q(serving__path__startswith=node.path + "."),
            Q(valid_from=None) | Q(valid_from__lte=moment),
            Q(valid_to=None) | Q(valid_to__gte=moment),
            kind=Kind.STEERING,
            serving__kind=Kind.STEERING,
            serving__promoted=True,
            serving__tenant_id=reader.tenant_id,
        )
        .select_related("workarea")
        .order_by(depth, "promoted_at", "id")
    )
    return list(rows[: MAX_STEERING + 1])


def _readable(reader: Reader, scored: list[Scored]) -> list[Artifact]:
    """The rows of an order, read through the one definition of readable (R3)."""
    wanted = [one.artifact_id for one in scored]
    rows = Artifact.objects.readable(reader.tenant_id, reader.scope, fence=reader.fence)
    found = rows.select_related("workarea").in_bulk(wanted)
    return [found[name] for name in wanted if name in found]

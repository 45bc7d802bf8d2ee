"""Build, publish and destroy what recall finds an artifact by. Called inside the transactions of scan, promotion,
demotion, erasure and reassign; knows rows and numbers and nothing of claims.

A row is whole or absent. It is built from the artifact alone, so building it again gives the same row. An embedder
that is away costs the vectors and nothing else: the words are indexed at once, :func:`embed_missing` follows.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray
from pgvector import SparseVector

from memory.recall import cues
from memory.recall.bm25 import SPACE, lexeme_of, saturations
from memory.recall.embedders import EmbedderUnavailable, embedder
from memory.recall.lexer import LEXER_VERSION, document_terms
from memory.recall.models import Passage, ServingRow
from memory.recall.passages import dated, passages, take_apart

logger = logging.getLogger(__name__)

_AT_ONCE = 32

_COLUMNS = (
    "tenant_id workarea_id path simulation_id kind occurred_at valid_from valid_to thread position label asks "
    "tells_time lexemes lexical lexer_version embedding windowed model_id"
)
_FIELDS = _COLUMNS.split()


class Indexable(Protocol):
    """What the index needs of an artifact."""

    pk: Any
    tenant_id: str
    workarea_id: Any
    workarea: Any
    simulation_id: str | None
    kind: str
    text: str | None
    occurred_at: datetime | None
    submitted_at: datetime
    promoted_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    thread: str | None


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Texts of one artifact that become vectors."""

    windows: list[str]
    statements: list[str]


def prepare(artifacts: Sequence[Indexable]) -> None:
    """Build or rebuild the rows of artifacts, with vectors; a promoted row stays promoted.

    Args:
        artifacts: with their text and their workarea loaded.
    """
    if not artifacts:
        return
    pieces, vectors, model_id = _embedded(artifacts)
    rows = [
        _row(artifact, piece, mine, model_id) for artifact, piece, mine in zip(artifacts, pieces, vectors, strict=True)
    ]
    ServingRow.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["artifact"], update_fields=_FIELDS, batch_size=500
    )
    ids = [artifact.pk for artifact in artifacts]
    Passage.objects.filter(row__in=ids).delete()
    live = set(ServingRow.objects.filter(pk__in=ids, promoted=True).values_list("pk", flat=True))
    Passage.objects.bulk_create(
        (
            Passage(
                row_id=artifact.pk,
                window=number < len(piece.windows),
                promoted=artifact.pk in live,
                embedding=vector,
            )
            for artifact, piece, mine in zip(artifacts, pieces, vectors, strict=True)
            for number, vector in enumerate(mine)
            # The first window is the row's own vector; a text that is one statement needs no second one.
            if number > 0
        ),
        batch_size=500,
    )


def publish(artifact: Indexable) -> None:
    """Let a promoted artifact be found; in the promotion's transaction.

    Args:
        artifact: just promoted; its row is there since the scan, and is built now if it is not.
    """
    if not _publish(artifact):
        prepare([artifact])
        _publish(artifact)
    Passage.objects.filter(row=artifact.pk, window=True).update(promoted=True)


def withdraw(artifact_id: str) -> None:
    """Take an artifact out of recall for good; in the transaction that ends it."""
    erase(artifact_id)


def erase(artifact_id: str) -> int:
    """Destroy everything that recall holds of an artifact; returns how many rows went."""
    gone = Passage.objects.filter(row=artifact_id).delete()[0]
    return gone + ServingRow.objects.filter(pk=artifact_id).delete()[0]


def count(artifact_id: str) -> int:
    """How many rows :func:`erase` would destroy."""
    return Passage.objects.filter(row=artifact_id).count() + ServingRow.objects.filter(pk=artifact_id).count()


def move(tenant_id: str, old_path: str, new_path: str, waiting: bool = True) -> None:
    """Rewrite derived paths after a node with its subtree moved; in the reassign's transaction.

    Args:
        tenant_id: whose rows.
        old_path: of the node before.
        new_path: of the node now.
        waiting: whether to wait for rows that others hold, or to leave them to those.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_servingrow SET path = %s || substr(path, %s) WHERE artifact_id IN ("  # noqa: S608  (two words)
            "SELECT artifact_id FROM memory_servingrow "
            "WHERE tenant_id = %s AND (path = %s OR starts_with(path, %s)) ORDER BY artifact_id "
            f"FOR NO KEY UPDATE {'' if waiting else 'SKIP LOCKED'})",
            [new_path, len(old_path) + 1, tenant_id, old_path, old_path + "."],
        )


def embed_missing(*, limit: int = 256) -> int:
    """Give rows without a vector of the present model one; returns how many rows were built.

    For beat: what was submitted while the embedder was away becomes findable by meaning when it is back.
    """
    try:
        embedder(settings.OML_EMBEDDER)
    except EmbedderUnavailable:
        return 0
    built = 0
    while built < limit and (some := _embed_some(min(_AT_ONCE, limit - built))):
        built += some
    return built


def _embed_some(count: int) -> int:
    # Locked while their texts are embedded, the artifacts too, whose lock every end of a claim takes first: an erasure
    # of the same moment waits for this transaction and then destroys what it wrote. Few at a time, so that it waits
    # a second and not a minute.
    with transaction.atomic():
        rows = (
            ServingRow.objects.select_for_update(of=("self", "artifact"), skip_locked=True, no_key=True)
            .filter(embedding__isnull=True, artifact__text__isnull=False)
            .select_related("artifact__workarea")
            .order_by("pk")[:count]
        )
        artifacts = [row.artifact for row in rows]
        prepare(artifacts)
    return len(artifacts)


def _publish(artifact: Indexable) -> int:
    return ServingRow.objects.filter(pk=artifact.pk, lexer_version=LEXER_VERSION).update(
        promoted=True, promoted_at=artifact.promoted_at, path=artifact.workarea.path, workarea_id=artifact.workarea_id
    )


def _row(artifact: Indexable, pieces: _Pieces, vectors: NDArray[np.float32], model_id: str) -> ServingRow:
    text = artifact.text or ""
    weights = saturations(document_terms(dated(text, artifact.occurred_at)))
    return ServingRow(
        artifact_id=artifact.pk,
        tenant_id=artifact.tenant_id,
        workarea_id=artifact.workarea_id,
        path=artifact.workarea.path,
        simulation_id=artifact.simulation_id,
        kind=artifact.kind,
        occurred_at=artifact.occurred_at,
        valid_from=artifact.valid_from,
        valid_to=artifact.valid_to,
        thread=artifact.thread,
        position=artifact.occurred_at or artifact.submitted_at,
        label=take_apart(text).label,
        asks=cues.asks(text),
        tells_time=cues.tells_time(text),
        lexemes=" ".join(f"'{lexeme_of(place)}'" for place in sorted(weights)),
        # The client counts places from 0, the literal from 1.
        lexical=SparseVector({place - 1: weight for place, weight in weights.items()}, SPACE),
        lexer_version=LEXER_VERSION,
        embedding=vectors[0] if len(vectors) else None,
        windowed=len(pieces.windows) > 1,
        model_id=model_id if len(vectors) else "",
    )


def _embedded(artifacts: Sequence[Indexable]) -> tuple[list[_Pieces], list[NDArray[np.float32]], str]:
    """Vectors of every artifact's pieces, windows first; all embedded in one batch."""
    nothing = np.zeros((0, 0), np.float32)
    try:
        model = embedder(settings.OML_EMBEDDER)
        pieces = [_pieces(artifact, model.windows) for artifact in artifacts]
        texts = [text for piece in pieces for text in (*piece.windows, *piece.statements)]
        vectors = model.embed(texts)
    except EmbedderUnavailable as error:
        logger.warning("no vectors for %d artifacts: %s", len(artifacts), type(error).__name__)
        return [_Pieces([], []) for _ in artifacts], [nothing for _ in artifacts], ""
    edges = np.cumsum([0, *(len(piece.windows) + len(piece.statements) for piece in pieces)])
    return pieces, [vectors[start:end] for start, end in pairwise(edges)], model.model_id


def _pieces(artifact: Indexable, windows: Any) -> _Pieces:
    text = artifact.text or ""
    whole = dated(text, artifact.occurred_at)
    statements = [piece for part in passages(take_apart(text).body) for piece in windows(part)]
    return _Pieces(windows(whole), [] if statements == [whole] else statements)

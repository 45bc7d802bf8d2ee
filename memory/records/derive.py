"""Tags, chunks and vectors of a record's head: derived in the background or with ``sync``, built again from it alone.

An embedder that is away costs the vectors and nothing else; :func:`embed_missing` follows. What must never happen
here: a change of the record, or a word of it in a log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Count
from numpy.typing import NDArray
from pgvector import SparseVector

from memory.recall.bm25 import SPACE, lexeme_of, saturations
from memory.recall.embedders import EmbedderUnavailable, embedder
from memory.recall.lexer import document_terms
from memory.records import content, extractors
from memory.records.chunks import chunks
from memory.records.models import Record, RecordChunk, RecordTag
from memory.records.sentences import sentences
from oml.jobs.outbox import enqueue

logger = logging.getLogger(__name__)

TASK = "memory.derive_records"
_STEP = 100
#: JSON up to this many bytes is read as sentences; above it, as the text that it is.
MAX_JSON = 8 * 1024 * 1024


def later(sr_ids: Sequence[str]) -> None:
    """Have records derived after this transaction; one task however many."""
    enqueue(TASK, sr_ids=" ".join(sr_ids))


def derive(sr_ids: Sequence[str]) -> None:
    """Build tags and chunks of records anew; a removed or erased one loses them."""
    for sr_id in sr_ids:
        with transaction.atomic():
            # The lock of every change: what is derived is of the head that is the head when this commits.
            record = Record.objects.select_for_update(no_key=True).filter(pk=sr_id).first()
            if record is not None:
                _build(record)


def embed_missing(*, limit: int = 256) -> int:
    """Vectors for chunks whose embedder was away; returns how many. For beat."""
    waiting = RecordChunk.objects.filter(embedding=None, ordinal__lt=settings.EMBED_MAX_CHUNKS).order_by("pk")
    rows = list(waiting[:limit])
    if not rows or not _embed(rows):
        return 0
    RecordChunk.objects.bulk_update(rows, ["embedding", "model_id"], batch_size=100)
    return len(rows)


def coverage(sr_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Chunks of records and how many of them have a vector."""
    rows = RecordChunk.objects.filter(record__in=sr_ids).order_by().values("record")
    counted = rows.annotate(chunks=Count("id"), vectors=Count("embedding"))
    return {row["record"]: {"chunks": row["chunks"], "vectors": row["vectors"]} for row in counted}


def _build(record: Record) -> None:
    record.chunks.all().delete()
    record.tags.all().delete()
    stored = None if record.deleted else content.stored(record.pk, record.content_sha256, record.size)
    if stored is None:
        return
    _tag(record, stored)
    ordinals = 0
    for texts in _stepwise(chunks(_spoken(stored, record.size))):
        rows = [_chunk(record, ordinals + number, text) for number, text in enumerate(texts)]
        _embed([row for row in rows if row.ordinal < settings.EMBED_MAX_CHUNKS])
        RecordChunk.objects.bulk_create(rows)
        ordinals += len(rows)


def _spoken(stored: content.Stored, size: int) -> Iterator[str]:
    """The content as it is indexed: sentences of what is JSON, else itself; U+0000, which no index holds, a space."""
    if size <= MAX_JSON:
        whole = stored if isinstance(stored, str) else "".join(stored.text())
        yield (sentences(whole) or whole).replace("\0", " ")
        return
    assert not isinstance(stored, str)
    for part in stored.text():
        yield part.replace("\0", " ")


def _stepwise(texts: Iterator[str]) -> Iterator[list[str]]:
    while step := list(islice(texts, _STEP)):
        yield step


def _tag(record: Record, stored: content.Stored) -> None:
    parts = chunks(iter([stored]) if isinstance(stored, str) else stored.text())
    RecordTag.objects.bulk_create(
        RecordTag(record=record, extractor=extractor, tag=tag.replace("\0", " ")[:200])
        for extractor, tag in extractors.tags(parts)
    )


def _chunk(record: Record, ordinal: int, text: str) -> RecordChunk:
    weights = saturations(document_terms(text))
    return RecordChunk(
        record=record,
        owner_id=record.owner_id,
        ordinal=ordinal,
        text=text,
        lexemes=" ".join(f"'{lexeme_of(place)}'" for place in sorted(weights)),
        # The client counts places from 0, the literal from 1.
        lexical=SparseVector({place - 1: weight for place, weight in weights.items()}, SPACE),
    )


def _embed(rows: Sequence[RecordChunk]) -> bool:
    """Give chunks their vectors; a chunk beyond the model's window has the mean of its windows."""
    try:
        model = embedder(settings.OML_EMBEDDER)
        windows = [model.windows(row.text) for row in rows]
        vectors = model.embed([window for mine in windows for window in mine]) if rows else None
    except EmbedderUnavailable as error:
        logger.warning("no vectors for %d chunks: %s", len(rows), type(error).__name__)
        return False
    at = 0
    for row, mine in zip(rows, windows, strict=True):
        assert vectors is not None
        row.embedding = mean(vectors[at : at + len(mine)])
        row.model_id = model.model_id
        at += len(mine)
    return True


def mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """One unit vector for several."""
    middle = vectors.mean(axis=0)
    return np.asarray(middle / max(float(np.linalg.norm(middle)), 1e-12), np.float32)

"""Tags, chunks and vectors of a record's head: derived in the background or with ``sync``, built again from it alone.

An embedder that is away costs the vectors and nothing else; :func:`embed_missing` follows. What must never happen
here: a change of the record, or a word of it in a log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter

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
from memory.records.rules import MAX_BATCH
from memory.records.sentences import sentences
from oml.jobs.outbox import enqueue

logger = logging.getLogger(__name__)

TASK = "memory.derive_records"
_STEP = 100
#: Records that are built in one transaction, and so locked together.
TOGETHER = 32
#: Characters of content after which a task leaves the rest to others, so that none takes longer than one record does.
ENOUGH = 200_000
#: JSON up to this many bytes is read as sentences; above it, as the text that it is.
MAX_JSON = 8 * 1024 * 1024


def later(sr_ids: Sequence[str]) -> None:
    """Have records derived after this transaction; one task however many."""
    enqueue(TASK, sr_ids=" ".join(sr_ids))


def derive(sr_ids: Sequence[str]) -> None:
    """Build tags and chunks of records anew; a removed or erased one loses them.

    Vectors are made before any lock is taken, since they take their time and an owner may be waiting to write.
    """
    wanted = sorted(set(sr_ids))  # in one order, so that two workers cannot wait for each other
    for at in range(0, len(wanted), TOGETHER):
        names = wanted[at : at + TOGETHER]
        ready = {record.pk: _prepare(record) for record in Record.objects.filter(pk__in=names)}
        with transaction.atomic():
            # The lock of every change: what is derived is of the head that is the head when this commits.
            rows = Record.objects.select_for_update(no_key=True).filter(pk__in=names).order_by("pk")
            for record in rows:
                prepared = ready.get(record.pk)
                if prepared is None or prepared.head_id != record.head_id:
                    prepared = _prepare(record)
                _build(record, prepared)


def derive_tasks(tasks: Sequence[str]) -> None:
    """As :func:`derive`, for the outbox: a few records in its transaction, so that their owners do not wait for long.

    The others become tasks of their own. So do all records of a task that fails alone, because one that cannot be
    derived must not keep the others of its batch out of every search.

    Args:
        tasks: the records of each, as :func:`later` wrote them.

    Raises:
        Exception: whatever failed, when there are several tasks, which the outbox then tries one by one, or when one
            record failed alone, which it tries again ever later.
    """
    names = [name for task in tasks for name in task.split()]
    names, rest = _first_few(names)
    for at in range(0, len(rest), MAX_BATCH):
        later(rest[at : at + MAX_BATCH])
    try:
        with transaction.atomic():
            derive(names)
    except Exception as error:
        if len(tasks) > 1 or len(names) == 1:
            raise
        logger.warning("records were not derived together: %s; each is tried alone", type(error).__name__)
        for name in names:
            later([name])


def _first_few(names: list[str]) -> tuple[list[str], list[str]]:
    """What one task does at once, at least one record, and what it leaves."""
    sizes = dict(Record.objects.filter(pk__in=names[:TOGETHER]).values_list("pk", "size"))
    total = 0
    for number, name in enumerate(names[:TOGETHER]):
        total += sizes.get(name, 0)
        if number and total > ENOUGH:
            return names[:number], names[number:]
    return names[:TOGETHER], names[TOGETHER:]


def embed_missing(*, limit: int = 256) -> int:
    """Vectors for chunks whose embedder was away; returns how many. For beat."""
    waiting = RecordChunk.objects.filter(embedding=None, ordinal__lt=settings.EMBED_MAX_CHUNKS).order_by("pk")
    rows = list(waiting[:limit])
    done: list[RecordChunk] = []
    # Record by record, as derive does: a vector depends a little on what it is made together with.
    for _, mine in groupby(rows, key=attrgetter("record_id")):
        chunks_of_one = list(mine)
        vectors = _vectors([row.text for row in chunks_of_one])
        if vectors is None:
            break
        for row, vector in zip(chunks_of_one, vectors.rows, strict=True):
            row.embedding, row.model_id = vector, vectors.model_id
        done += chunks_of_one
    RecordChunk.objects.bulk_update(done, ["embedding", "model_id"], batch_size=100)
    return len(done)


def coverage(sr_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Chunks of records and how many of them have a vector."""
    rows = RecordChunk.objects.filter(record__in=sr_ids).order_by().values("record")
    counted = rows.annotate(chunks=Count("id"), vectors=Count("embedding"))
    return {row["record"]: {"chunks": row["chunks"], "vectors": row["vectors"]} for row in counted}


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Vectors of the first chunks of a record, and whose they are."""

    rows: list[NDArray[np.float32]]
    model_id: str


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What can be made of a record's head without holding it."""

    head_id: int
    vectors: _Vectors | None


def _prepare(record: Record) -> _Prepared:
    stored = _stored(record)
    if stored is None:
        return _Prepared(record.head_id, None)
    first = list(islice(chunks(_spoken(stored, record.size)), settings.EMBED_MAX_CHUNKS))
    return _Prepared(record.head_id, _vectors(first))


def _stored(record: Record) -> content.Stored | None:
    return None if record.deleted else content.stored(record.pk, record.content_sha256, record.size)


def _build(record: Record, prepared: _Prepared) -> None:
    record.chunks.all().delete()
    record.tags.all().delete()
    stored = _stored(record)
    if stored is None:
        return
    _tag(record, stored)
    vectors = prepared.vectors.rows if prepared.vectors is not None else []
    ordinals = 0
    for texts in _stepwise(chunks(_spoken(stored, record.size))):
        rows = [_chunk(record, ordinals + number, text) for number, text in enumerate(texts)]
        for row in rows[: max(len(vectors) - ordinals, 0)]:
            assert prepared.vectors is not None
            row.embedding, row.model_id = vectors[row.ordinal], prepared.vectors.model_id
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


def _vectors(texts: Sequence[str]) -> _Vectors | None:
    """A vector each, None while the embedder is away; a text beyond the model's window has the mean of its windows."""
    try:
        model = embedder(settings.OML_EMBEDDER)
        windows = [model.windows(text) for text in texts]
        made = model.embed([window for mine in windows for window in mine]) if texts else np.zeros((0, 0), np.float32)
    except EmbedderUnavailable as error:
        logger.warning("no vectors for %d chunks: %s", len(texts), type(error).__name__)
        return None
    rows = []
    at = 0
    for mine in windows:
        rows.append(mean(made[at : at + len(mine)]))
        at += len(mine)
    return _Vectors(rows, model.model_id)


def mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """One unit vector for several."""
    middle = vectors.mean(axis=0)
    return np.asarray(middle / max(float(np.linalg.norm(middle)), 1e-12), np.float32)

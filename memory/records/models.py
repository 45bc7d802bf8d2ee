"""The ledger of source records, its cache, and what is derived from it (design: records, Model).

``RecordEntry`` is the truth: append-only, held by a trigger, and it refers to no row of the cache, so that all of
``Record``, ``RecordProperty``, ``RecordTag`` and ``RecordChunk`` can be dropped and built again from it. Content lives
beside the ledger, per record, so that an erasure never reaches another record.
"""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from pgvector.django import HalfVectorField, HnswIndex, SparseVectorField

from memory.recall.bm25 import SPACE
from memory.recall.embedders import DIMENSIONS
from memory.records import rules
from oml.core.ids import new_id
from workareas.models import Key, Principal, Workarea


def engine_identity() -> str:
    return new_id("eng")


class Engine(models.Model):
    """Who this installation is among engines that exchange records; one row, made on first use."""

    only = models.BooleanField(primary_key=True, default=True)
    engine_id = models.CharField(max_length=64, default=engine_identity)

    class Meta:
        constraints = [models.CheckConstraint(name="engine_is_one", condition=Q(only=True))]


class Lane(models.Model):
    """A principal's own namespace of records; never shared. A workarea, where there is one, gates writing."""

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4)
    tenant_id = models.CharField(max_length=40)
    owner = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="lanes")
    home_of = models.OneToOneField(Key, on_delete=models.PROTECT, null=True, related_name="home_lane")
    label = models.CharField(max_length=100)
    workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, null=True, related_name="+")
    default_source_type = models.CharField(max_length=rules.MAX_NAME, default=rules.DEFAULT_SOURCE_TYPE)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant_id", "owner", "label"], name="lane_label_unique")]

    def __str__(self) -> str:
        return self.label


class SourceType(models.Model):
    """A declared kind of record within a lane, and the authority that it gives."""

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="source_types")
    name = models.CharField(max_length=rules.MAX_NAME)
    authority = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lane", "name"], name="source_type_unique"),
            models.CheckConstraint(name="source_type_authority", condition=Q(authority__lte=100)),
        ]

    def __str__(self) -> str:
        return self.name


class RecordEntry(models.Model):
    """One whole state of a record. Two engines may write one version, so (record, version) is not unique."""

    tenant_id = models.CharField(max_length=40)
    owner = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    sr_id = models.CharField(max_length=35)
    version = models.PositiveIntegerField()
    engine_id = models.CharField(max_length=64, db_collation="C")
    event_id = models.CharField(max_length=40, db_collation="C")
    written_at = models.DateTimeField()
    author_key_id = models.CharField(max_length=40)
    state = models.JSONField()
    content_sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField(help_text="bytes of the content")
    deleted = models.BooleanField(default=False)
    change = ArrayField(models.CharField(max_length=40), default=list)
    note = models.TextField(null=True)

    class Meta:
        verbose_name_plural = "record entries"
        constraints = [
            models.UniqueConstraint(fields=["sr_id", "version", "engine_id", "event_id"], name="record_entry_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.sr_id} v{self.version}"


class RecordErasure(models.Model):
    """That a record was erased: kept for ever, so that no import brings its words back."""

    sr_id = models.CharField(primary_key=True, max_length=35)
    tenant_id = models.CharField(max_length=40)
    erased_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.sr_id


class ContentBlob(models.Model):
    """The bytes of one content of one record, in pieces; an erasure deletes it and with it the salt."""

    tenant_id = models.CharField(max_length=40)
    sr_id = models.CharField(max_length=35)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    salt = models.BinaryField(help_text="of the journal's commitments to the content")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sr_id", "sha256"], name="content_blob_unique")]


class ContentPiece(models.Model):
    """A stretch of a content: UTF-8 exactly as sent, U+0000 included."""

    blob = models.ForeignKey(ContentBlob, on_delete=models.CASCADE, related_name="pieces")
    ordinal = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["blob", "ordinal"], name="content_piece_unique")]


class RecordQuerySet(models.QuerySet["Record"]):
    def own(self, tenant_id: str, principal_id: str) -> RecordQuerySet:
        """A principal's own records: the one definition of who may see a record as such."""
        return self.filter(tenant_id=tenant_id, owner_id=principal_id)


class Record(models.Model):
    """Cache of a record's latest entry, written in the entry's transaction."""

    sr_id = models.CharField(primary_key=True, max_length=35)
    tenant_id = models.CharField(max_length=40)
    owner = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    lane = models.ForeignKey(Lane, on_delete=models.PROTECT, related_name="records")
    source_type = models.CharField(max_length=rules.MAX_NAME)
    authority = models.PositiveSmallIntegerField()
    source_system = models.CharField(max_length=rules.MAX_SOURCE_SYSTEM)
    first_engine = models.CharField(max_length=64)
    ingested_at = models.DateTimeField()
    version = models.PositiveIntegerField()
    written_at = models.DateTimeField()
    head_id = models.BigIntegerField(help_text="the entry this row repeats")
    content_sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    deleted = models.BooleanField(default=False)

    objects = RecordQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["owner", "ingested_at", "sr_id"], name="record_timeline", condition=Q(deleted=False)),
        ]

    def __str__(self) -> str:
        return self.sr_id


class RecordProperty(models.Model):
    """Cache of the head's declared properties, in declared order."""

    record = models.ForeignKey(Record, on_delete=models.CASCADE, related_name="properties")
    ordinal = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=rules.MAX_NAME)
    value = models.CharField(max_length=rules.MAX_VALUE)

    class Meta:
        verbose_name_plural = "record properties"
        constraints = [models.UniqueConstraint(fields=["record", "label", "value"], name="record_property_unique")]
        indexes = [models.Index(fields=["label", "value"], name="record_property_value")]


class RecordTag(models.Model):
    """What an extractor found in the head's content: derived, never declared, never in the ledger."""

    record = models.ForeignKey(Record, on_delete=models.CASCADE, related_name="tags")
    extractor = models.CharField(max_length=20)
    tag = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["record", "extractor", "tag"], name="record_tag_unique")]
        indexes = [models.Index(fields=["tag"], name="record_tag_tag")]


class RecordChunk(models.Model):
    """A stretch of the head's content as it is searched: words of every chunk, vectors of the first ones."""

    record = models.ForeignKey(Record, on_delete=models.CASCADE, related_name="chunks")
    owner = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    ordinal = models.PositiveIntegerField()
    text = models.TextField()
    lexemes = SearchVectorField(help_text="places of the terms, in hexadecimal")
    lexical = SparseVectorField(dimensions=SPACE, help_text="BM25 saturations by place")
    embedding = HalfVectorField(dimensions=DIMENSIONS, null=True)
    model_id = models.CharField(max_length=80, default="", help_text="whose vector; empty while there is none")

    class Meta:
        # Growth: one row for 1,200 characters of every live head, about 3.2 kB with its words, its index of words and
        # its vector. The vectors' index takes 1.4 kB and about 1.5 ms of a worker for each, and at most
        # EMBED_MAX_CHUNKS (64) of a record have one: 100,000 records of one chunk are 140 MB of it. Nothing of what a
        # record was before is here; an update replaces its rows, a tombstone or an erasure deletes them.
        constraints = [models.UniqueConstraint(fields=["record", "ordinal"], name="record_chunk_unique")]
        indexes = [
            GinIndex(fields=["lexemes"], name="record_chunk_lexemes", fastupdate=False),
            models.Index(fields=["ordinal"], name="record_chunk_no_vector", condition=Q(embedding__isnull=True)),
            HnswIndex(
                name="record_chunk_embedding",
                fields=["embedding"],
                m=32,
                ef_construction=200,
                opclasses=["halfvec_cosine_ops"],
            ),
        ]


class RecordLink(models.Model):
    """A correction or an adjustment: a new record pinned to its target. Appends nothing to the target."""

    tenant_id = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=[("correction", "correction"), ("adjustment", "adjustment")])
    from_sr = models.CharField(max_length=35, unique=True)
    to_sr = models.CharField(max_length=35)
    linked_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["to_sr", "id"], name="record_link_target")]


class RecordGroup(models.Model):
    """A named set of a principal's records; membership is no part of the ledger."""

    tenant_id = models.CharField(max_length=40)
    owner = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant_id", "owner", "name"], name="record_group_unique")]

    def __str__(self) -> str:
        return self.name


class RecordGroupMember(models.Model):
    group = models.ForeignKey(RecordGroup, on_delete=models.CASCADE, related_name="members")
    sr_id = models.CharField(max_length=35)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "sr_id"], name="record_group_member_unique")]

"""The index of recall, the statistics it weighs with, and the read log.

A serving row is derived from its artifact and can be built again; it holds no text, only numbers made of it. It
exists from the scan on, so that a promotion is searchable at once, and ``promoted`` lets it be found. What must never
happen here: a row that outlives its artifact's readability; demotion and erasure delete it in their transaction.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from pgvector.django import HalfVectorField, HnswIndex, SparseVectorField

from memory.recall.bm25 import SPACE
from memory.recall.embedders import DIMENSIONS
from workareas.models import Workarea


class PlainHalfVectorField(HalfVectorField):
    """A halfvec kept inside its row: out-of-line storage makes exact scans twice as slow."""

    def db_type(self, connection: object) -> str:
        return f"{super().db_type(connection)} STORAGE PLAIN"

    def cast_db_type(self, connection: object) -> str:
        return str(super().db_type(connection))


class ServingRow(models.Model):
    """One artifact as recall sees it."""

    artifact = models.OneToOneField(
        "memory.Artifact", on_delete=models.CASCADE, primary_key=True, related_name="serving"
    )
    tenant_id = models.CharField(max_length=40)
    workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="+")
    path = models.TextField()
    simulation_id = models.CharField(max_length=40, null=True)
    kind = models.CharField(max_length=16)
    promoted = models.BooleanField(default=False)
    promoted_at = models.DateTimeField(null=True)
    occurred_at = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    thread = models.CharField(max_length=256, null=True)
    position = models.DateTimeField(help_text="order within the thread: occurred_at, or when it was submitted")

    label = models.CharField(max_length=64, default="", help_text="who speaks in the text, casefolded")
    asks = models.BooleanField(default=False)
    tells_time = models.BooleanField(default=False)
    lexemes = SearchVectorField(help_text="places of the terms, in hexadecimal")
    lexical = SparseVectorField(dimensions=SPACE, help_text="BM25 saturations by place")
    lexer_version = models.PositiveSmallIntegerField()
    embedding = PlainHalfVectorField(dimensions=DIMENSIONS, null=True)
    windowed = models.BooleanField(default=False, help_text="too long for one vector: further windows are passages")
    model_id = models.CharField(max_length=80, default="", help_text="whose vectors; empty while there are none")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="serving_promoted_has_time", condition=Q(promoted=False) | Q(promoted_at__isnull=False)
            ),
        ]
        indexes = [
            models.Index(
                F("tenant_id"),
                OpClass(F("path"), name="text_pattern_ops"),
                name="serving_path",
                condition=Q(promoted=True),
            ),
            models.Index(
                fields=["tenant_id", "path"], name="serving_steering", condition=Q(promoted=True, kind="steering")
            ),
            models.Index(
                fields=["workarea", "thread", "position", "artifact"],
                name="serving_thread",
                condition=Q(promoted=True, thread__isnull=False),
            ),
            models.Index(fields=["artifact"], name="serving_no_vector", condition=Q(embedding__isnull=True)),
            GinIndex(fields=["lexemes"], name="serving_lexemes", fastupdate=False, condition=Q(promoted=True)),
            HnswIndex(
                name="serving_embedding",
                fields=["embedding"],
                m=32,
                ef_construction=200,
                opclasses=["halfvec_cosine_ops"],
                condition=Q(promoted=True),
            ),
        ]

    def __str__(self) -> str:
        return self.artifact_id


class Passage(models.Model):
    """A vector of a part of a text: one statement, or a further window of a text too long for the model."""

    row = models.ForeignKey(ServingRow, on_delete=models.CASCADE, related_name="passages")
    window = models.BooleanField(help_text="searched for its own sake; statements only refine what was found")
    promoted = models.BooleanField(default=False)
    embedding = PlainHalfVectorField(dimensions=DIMENSIONS)

    class Meta:
        indexes = [
            HnswIndex(
                name="passage_window_embedding",
                fields=["embedding"],
                m=32,
                ef_construction=200,
                opclasses=["halfvec_cosine_ops"],
                condition=Q(promoted=True, window=True),
            ),
        ]


class TermStatistics(models.Model):
    """In how many promoted rows of a tenant a term stands; place 0 counts the rows. Refreshed in the background."""

    tenant_id = models.CharField(max_length=40)
    place = models.IntegerField()
    documents = models.IntegerField()

    class Meta:
        verbose_name_plural = "term statistics"
        constraints = [models.UniqueConstraint(fields=["tenant_id", "place"], name="term_statistics_unique")]


class ReadLog(models.Model):
    """Who read what; append-only. The query stands here as a keyed digest alone."""

    tenant_id = models.CharField(max_length=40)
    key_id = models.CharField(max_length=40)
    principal_id = models.CharField(max_length=40)
    channel = models.CharField(max_length=8)
    surface = models.CharField(max_length=16)
    workarea_id = models.CharField(max_length=40, null=True)
    query_digest = models.CharField(max_length=64, null=True)
    returned = ArrayField(models.CharField(max_length=80), default=list)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "read log"
        indexes = [
            models.Index(fields=["tenant_id", "-at"], name="read_log_newest"),
            models.Index(fields=["tenant_id", "id"], name="read_log_sealing"),
        ]

    def __str__(self) -> str:
        return f"{self.surface} by {self.key_id}"

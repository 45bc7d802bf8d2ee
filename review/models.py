"""Serves and verdicts."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from memory.claims.models import Artifact
from memory.graph.models import Edge
from oml.core.ids import new_id
from review.policy import ReasonCode, VerdictWord
from workareas.models import Key, Principal


def serve_id() -> str:
    return new_id("srv")


def verdict_id() -> str:
    return new_id("ver")


class AnyServe(models.Model):
    """A reviewer's single-use, expiring view of one item, bound to exactly what was shown (D14)."""

    id = models.CharField(primary_key=True, max_length=40, default=serve_id)
    tenant_id = models.CharField(max_length=40)
    reviewer_key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    reviewer_principal = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    content_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    consumed_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.id


class Serve(AnyServe):
    """A serve of a held artifact."""

    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="serves")

    class Meta:
        indexes = [models.Index(fields=["artifact", "reviewer_key"], name="serve_by_item")]


class ServedPart(models.Model):
    """A part of a served item whose bytes were sent to its reviewer; a verdict counts only after all of them."""

    serve = models.ForeignKey(Serve, on_delete=models.PROTECT, related_name="served_parts")
    part = models.CharField(max_length=64)
    served_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["serve", "part"], name="served_part_unique")]


class EdgeServe(AnyServe):
    """A serve of a pending edge."""

    edge = models.ForeignKey(Edge, on_delete=models.PROTECT, related_name="serves")


class AnyVerdict(models.Model):
    """One reviewer's decision on one item; its words never reach the author."""

    id = models.CharField(primary_key=True, max_length=40, default=verdict_id)
    reviewer_key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    reviewer_principal = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=8, choices=[(w.value, w.value) for w in VerdictWord])
    reason_code = models.CharField(max_length=20, choices=[(c.value, c.value) for c in ReasonCode], null=True)
    reason = models.TextField(blank=True, default="")
    reason_salt = models.BinaryField(null=True, help_text="of the journal's commitment to the reason")
    envelope = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.id


class Verdict(AnyVerdict):
    """A verdict on an artifact."""

    serve = models.OneToOneField(Serve, on_delete=models.PROTECT, related_name="verdict")
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="verdicts")
    self_signed = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["artifact", "reviewer_principal"], name="verdict_one_per_principal"),
            models.CheckConstraint(
                name="verdict_reject_has_reason",
                condition=~Q(verdict=VerdictWord.REJECT) | Q(reason_code__isnull=False),
            ),
        ]


class EdgeVerdict(AnyVerdict):
    """A verdict on an edge; one decides it."""

    serve = models.OneToOneField(EdgeServe, on_delete=models.PROTECT, related_name="verdict")
    edge = models.OneToOneField(Edge, on_delete=models.PROTECT, related_name="verdict")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="edge_verdict_reject_has_reason",
                condition=~Q(verdict=VerdictWord.REJECT) | Q(reason_code__isnull=False),
            ),
        ]

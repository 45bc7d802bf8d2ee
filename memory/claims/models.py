"""Artifacts, their declared lineage and what the scanners said."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from memory.claims.states import Cause, Kind, ScanState, State, SubmitVerb, Surface
from memory.records.models import RecordEntry
from oml.core.ids import new_id
from workareas.access import Scope
from workareas.models import Key, Principal, Workarea


def artifact_id() -> str:
    return new_id("art")


class ArtifactQuerySet(models.QuerySet["Artifact"]):
    """Who may see which rows, in one place (R3, D10)."""

    def readable(self, tenant_id: str, scope: Scope, *, fence: frozenset[str] = frozenset()) -> ArtifactQuerySet:
        """Claims a reader may see: promoted, inside the readable paths, inside the simulation fence.

        What agents share with their later runs is not among them, promoted or not.

        Args:
            tenant_id: the reader's tenant.
            scope: from ``workareas.access``.
            fence: simulations whose audience the reader's key is in.
        """
        return self.filter(
            _inside(fence),
            scope.predicate("workarea__path"),
            tenant_id=tenant_id,
            state=State.PROMOTED,
            channel=Surface.CLAIM,
        )

    def own(self, key_id: str, *, fence: frozenset[str]) -> ArtifactQuerySet:
        """Rows this key submitted, whatever their state: my_work alone, and never their text.

        The fence holds for the author too: out of the audience, or closed, what is inside is served to nobody (D10).
        """
        return self.filter(_inside(fence), author_key_id=key_id).defer("text", "envelope")

    def held(self, moment: datetime) -> ArtifactQuerySet:
        """Rows still awaiting review at a moment; expired ones are over, swept or not."""
        return self.filter(state=State.HELD, held_expires_at__gt=moment)


def _inside(fence: frozenset[str]) -> Q:
    return Q(simulation_id__isnull=True) | Q(simulation_id__in=fence)


class Artifact(models.Model):
    """One immutable version of a claim: after submission only its state and what follows from it change."""

    id = models.CharField(primary_key=True, max_length=40, default=artifact_id)
    tenant_id = models.CharField(max_length=40)
    workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="artifacts")
    simulation_id = models.CharField(max_length=40, null=True, default=None)
    claim_key = models.CharField(max_length=128)
    version = models.PositiveIntegerField(default=1)
    previous = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="next_versions")
    channel = models.CharField(
        max_length=10, choices=[(s.value, s.value) for s in Surface], default=Surface.CLAIM, help_text="for whom it is"
    )
    kind = models.CharField(max_length=16, choices=[(k.value, k.value) for k in Kind])
    verb = models.CharField(max_length=10, choices=[(v.value, v.value) for v in SubmitVerb])

    state = models.CharField(max_length=10, choices=[(s.value, s.value) for s in State], default=State.HELD)
    cause = models.CharField(max_length=12, choices=[(c.value, c.value) for c in Cause], null=True, default=None)
    self_signed = models.BooleanField(default=False)

    text = models.TextField(null=True, help_text="exactly as sent; null once erased")
    text_sha256 = models.CharField(max_length=64)
    commitment_salt = models.BinaryField(null=True, help_text="destroyed by erasure, and with it the commitment")
    envelope = models.TextField(help_text="DSSE envelope signed by the deployment key")
    envelope_keyid = models.CharField(max_length=64)

    author_key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    author_principal = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    policy_version = models.PositiveIntegerField(default=0)
    scan_state = models.CharField(
        max_length=8, choices=[(s.value, s.value) for s in ScanState], default=ScanState.PENDING
    )

    occurred_at = models.DateTimeField(null=True)
    thread = models.CharField(max_length=256, null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)

    submitted_at = models.DateTimeField(default=timezone.now)
    held_expires_at = models.DateTimeField()
    promoted_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True, help_text="when it was rejected, demoted or erased")
    closure = ArrayField(
        models.CharField(max_length=40), null=True, help_text="lineage closure as it stood at promotion"
    )

    objects = ArtifactQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "workarea",
                Coalesce("simulation_id", models.Value("")),
                "claim_key",
                "channel",
                "version",
                condition=~Q(state=State.ERASED),
                name="artifact_claim_key_unique",
            ),
            models.CheckConstraint(
                name="artifact_text_until_erased",
                condition=Q(state=State.ERASED, text__isnull=True) | (~Q(state=State.ERASED) & Q(text__isnull=False)),
            ),
            models.CheckConstraint(
                name="artifact_promoted_has_time",
                condition=~Q(state=State.PROMOTED) | Q(promoted_at__isnull=False),
            ),
            models.CheckConstraint(
                name="artifact_steering_never_self_signed", condition=~Q(kind=Kind.STEERING, self_signed=True)
            ),
        ]
        indexes = [
            models.Index(fields=["author_key", "-id"], name="artifact_my_work"),
            models.Index(
                fields=["tenant_id", "held_expires_at", "id"],
                name="artifact_queue",
                condition=Q(state=State.HELD),
            ),
            models.Index(fields=["workarea", "state"], name="artifact_by_node"),
            models.Index(
                fields=["tenant_id", "text_sha256"], name="artifact_rejected_text", condition=Q(state=State.REJECTED)
            ),
        ]

    def __str__(self) -> str:
        return self.id

    def about(self) -> dict[str, Any]:
        """The fields that every event of a claim takes from its artifact (:class:`memory.claims.events.ClaimEvent`)."""
        return {
            "workarea_id": self.workarea_id,
            "simulation_id": self.simulation_id,
            "artifact_id": self.pk,
            "claim_key": self.claim_key,
            "version": self.version,
            "channel": str(self.channel),
        }


class Lineage(models.Model):
    """One declared ``derives_from``: the graph is as honest as its writers (seed: oml_remember)."""

    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="lineage")
    source = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="derived")
    position = models.PositiveSmallIntegerField()

    class Meta:
        verbose_name_plural = "lineage"
        constraints = [models.UniqueConstraint(fields=["artifact", "source"], name="lineage_unique")]

    def __str__(self) -> str:
        return f"{self.artifact_id} derives from {self.source_id}"


class Evidence(models.Model):
    """One source-record entry that a claim cites: exactly this version, whatever the record becomes."""

    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="evidence")
    entry = models.ForeignKey(RecordEntry, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        verbose_name_plural = "evidence"
        constraints = [models.UniqueConstraint(fields=["artifact", "entry"], name="evidence_unique")]


class ScanReport(models.Model):
    """What one scanner said about one artifact: findings carry rule, severity and span, never an excerpt."""

    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="scan_reports")
    scanner = models.CharField(max_length=40)
    scanner_version = models.CharField(max_length=40)
    outcome = models.CharField(max_length=8)
    findings = models.JSONField(default=list)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["artifact", "scanner"], name="scan_report_latest")]

    def __str__(self) -> str:
        return f"{self.scanner} on {self.artifact_id}: {self.outcome}"

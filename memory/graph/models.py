"""Edges: labelled links between two workareas or two claims, pending until somebody else ratifies them (R2)."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from memory.claims.models import Artifact
from memory.claims.states import State
from memory.graph.labels import EdgeKind, EdgeState
from workareas.models import Key, Principal, Workarea
from workareas.selectors.fences import still_open


class EdgeQuerySet(models.QuerySet["Edge"]):
    def awaiting(self) -> EdgeQuerySet:
        """Edges that somebody can still decide: pending, with what they join still there, in no closed simulation.

        The others were left behind by a demotion, a newer version or the end of a simulation, and hold nothing up.
        """
        return self.filter(
            still_open(),
            Q(from_artifact=None) | Q(from_artifact__state=State.PROMOTED),
            Q(to_artifact=None) | Q(to_artifact__state=State.PROMOTED),
            state=EdgeState.PENDING,
        )


class Edge(models.Model):
    """One proposed or ratified link. It lives on its *from* node, so an edge to a validated node is allowed."""

    id = models.CharField(primary_key=True, max_length=40)
    tenant_id = models.CharField(max_length=40)
    kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in EdgeKind])
    label = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=[(s.value, s.value) for s in EdgeState], default=EdgeState.PENDING)
    from_workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="edges_out")
    to_workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="edges_in")
    from_artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, null=True, related_name="edges_out")
    to_artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, null=True, related_name="edges_in")
    simulation_id = models.CharField(max_length=40, null=True, default=None)
    note = models.TextField(blank=True, default="")
    note_salt = models.BinaryField(null=True)
    proposer_key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    proposer_principal = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True)

    objects = EdgeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="edge_ends_are_of_its_kind",
                condition=Q(kind=EdgeKind.CLAIM, from_artifact__isnull=False, to_artifact__isnull=False)
                | Q(kind=EdgeKind.WORKAREA, from_artifact__isnull=True, to_artifact__isnull=True),
            ),
            models.CheckConstraint(
                name="edge_no_self_edge",
                condition=(Q(kind=EdgeKind.CLAIM) & ~Q(from_artifact=F("to_artifact")))
                | (Q(kind=EdgeKind.WORKAREA) & ~Q(from_workarea=F("to_workarea"))),
            ),
            models.UniqueConstraint(
                fields=["label", "from_artifact", "to_artifact"],
                condition=Q(kind=EdgeKind.CLAIM) & ~Q(state=EdgeState.REJECTED),
                name="edge_claim_unique",
            ),
            models.UniqueConstraint(
                fields=["label", "from_workarea", "to_workarea"],
                condition=Q(kind=EdgeKind.WORKAREA) & ~Q(state=EdgeState.REJECTED),
                name="edge_workarea_unique",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant_id", "proposed_at"], name="edge_pending", condition=Q(state=EdgeState.PENDING))
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def from_id(self) -> str:
        """The endpoint's id as callers know it: an artifact's or a workarea's."""
        return self.from_artifact_id or self.from_workarea_id

    @property
    def to_id(self) -> str:
        return self.to_artifact_id or self.to_workarea_id

    def about(self) -> dict[str, Any]:
        """The fields that every event of an edge takes from it (:class:`memory.graph.events.EdgeEvent`)."""
        return {
            "workarea_id": self.from_workarea_id,
            "far_workarea_id": self.to_workarea_id,
            "simulation_id": self.simulation_id,
            "edge_id": self.pk,
            "label": self.label,
            "from_id": self.from_id,
            "to_id": self.to_id,
        }

    @property
    def claim_ids(self) -> list[str]:
        """Both ends of a claim edge; none of a workarea edge."""
        return [end for end in (self.from_artifact_id, self.to_artifact_id) if end is not None]

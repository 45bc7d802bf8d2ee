"""The outbox and the workers' heartbeat."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class OutboxTask(models.Model):
    """One piece of work, written by the transaction that needs it and deleted by the one that did it."""

    name = models.CharField(max_length=80)
    args = models.JSONField(default=dict, help_text="ids only")
    created_at = models.DateTimeField(default=timezone.now)
    available_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=120, blank=True, default="", help_text="class name, never a message")

    class Meta:
        verbose_name = "outbox task"
        indexes = [models.Index(fields=["available_at", "id"], name="outbox_due")]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"


class WorkerHeartbeat(models.Model):
    """When a worker last said that it lives; ``celery inspect`` does not work over every broker."""

    name = models.CharField(max_length=120, primary_key=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name = "worker heartbeat"

    def __str__(self) -> str:
        return self.name

"""The journal's tables. Only this package touches them (import contract ``one door: journal``)."""

from __future__ import annotations

from django.db import models


class JournalHead(models.Model):
    """One row per tenant; its lock orders commits, so commit order equals ``seq`` order (D1)."""

    tenant_id = models.CharField(max_length=40, primary_key=True)
    seq = models.BigIntegerField(default=0)
    chain_hash = models.BinaryField(default=bytes(32))
    permission_epoch = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = "journal head"

    def __str__(self) -> str:
        return f"{self.tenant_id} at {self.seq}"


class JournalEntry(models.Model):
    """One event as it was hashed. A database trigger refuses UPDATE, DELETE and TRUNCATE (migration 0002)."""

    tenant_id = models.CharField(max_length=40)
    seq = models.BigIntegerField()
    event_type = models.CharField(max_length=64)
    canonical = models.TextField(help_text="RFC 8785 text; the bytes that were hashed")
    leaf_hash = models.BinaryField()
    chain_hash = models.BinaryField()
    at = models.DateTimeField()
    # Columns the tail and the timeline filter on; each is derived from the canonical text.
    workarea_id = models.CharField(max_length=40, null=True, default=None)
    far_workarea_id = models.CharField(max_length=40, null=True, default=None)
    simulation_id = models.CharField(max_length=40, null=True, default=None)
    subject_id = models.CharField(max_length=80, null=True, default=None)
    tail = models.BooleanField(default=False, help_text="whether a reader's tail may carry it at all (R3)")
    owner_id = models.CharField(max_length=40, null=True, default=None, help_text="whose tail alone carries it")

    class Meta:
        verbose_name = "journal entry"
        verbose_name_plural = "journal entries"
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "seq"], name="journal_entry_seq"),
        ]
        indexes = [
            models.Index(fields=["tenant_id", "seq"], name="journal_tail", condition=models.Q(tail=True)),
            models.Index(fields=["tenant_id", "subject_id", "seq"], name="journal_subject"),
            models.Index(
                fields=["tenant_id", "owner_id", "seq"],
                name="journal_owner",
                condition=models.Q(owner_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.event_type}"


class JournalSubtree(models.Model):
    """The hash of a complete block of ``256**level`` leaves: kept, so that no root is ever computed from the start.

    Derived from the entries and worth nothing as evidence; verification never reads it.
    """

    tenant_id = models.CharField(max_length=40)
    level = models.PositiveSmallIntegerField()
    index = models.BigIntegerField()
    digest = models.BinaryField()

    class Meta:
        verbose_name = "journal subtree"
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "level", "index"], name="journal_subtree_place"),
        ]


class Checkpoint(models.Model):
    """A signed note over the tree of the first ``size`` entries; append-only like the entries (migration 0003)."""

    tenant_id = models.CharField(max_length=40)
    size = models.BigIntegerField()
    root = models.BinaryField()
    note = models.TextField(help_text="C2SP signed note: origin, size, root, signature")
    keyid = models.CharField(max_length=8)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "size"], name="journal_checkpoint_size"),
        ]

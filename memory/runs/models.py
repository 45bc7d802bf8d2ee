"""Agents, their runs, and the one store of what runs keep."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from memory.claims.models import Artifact
from memory.runs.rules import Scope, Status, agent_reference
from oml.core.ids import new_id
from workareas.models import Key, Principal, Tenant, Workarea


def agent_id() -> str:
    return new_id("agt")


def run_id() -> str:
    return new_id("run")


class Agent(models.Model):
    """Something that runs again and again; ``@scope/name`` in its tenant."""

    id = models.CharField(primary_key=True, max_length=40, default=agent_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="agents")
    scope = models.CharField(max_length=63)
    name = models.CharField(max_length=63)
    manifest = models.JSONField(default=dict, help_text="runtime_tools: which of note and pin its runs get")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "scope", "name"], name="agent_name_unique")]

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        return agent_reference(self.scope, self.name)

    @property
    def runtime_tools(self) -> frozenset[str]:
        tools = self.manifest.get("runtime_tools", [])
        return frozenset(tool for tool in tools if isinstance(tool, str))


class Run(models.Model):
    """One execution of an agent in a space. Who it executes as never changes and is never nobody."""

    id = models.CharField(primary_key=True, max_length=40, default=run_id)
    tenant_id = models.CharField(max_length=40)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="runs")
    space = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="runs")
    actor = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="runs")
    key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+", help_text="the key that started it")
    tools = models.JSONField(help_text="the manifest's runtime tools as the run started")
    status = models.CharField(max_length=10, choices=[(s.value, s.value) for s in Status], default=Status.RUNNING)
    token_digest = models.BinaryField(unique=True)
    checkpoint = models.TextField(null=True, default=None, help_text="JSON text of the checkpoint it pinned last")
    result = models.TextField(null=True, default=None, help_text="JSON text")
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["agent", "space", "actor", "-id"], name="run_history"),
            models.Index(fields=["tenant_id", "-id"], name="run_newest"),
        ]

    def __str__(self) -> str:
        return self.id


class AgentMemory(models.Model):
    """One slot, note or memo. Its key and ``pinned`` say which: a slot has both, a note neither, a memo no key.

    Private content lies here and dies with the row. Of shared state only the place lies here: its content is that of
    the one promoted artifact among :class:`SharedWrite`, so it has passed admission or is not there.
    """

    id = models.BigAutoField(primary_key=True)
    tenant_id = models.CharField(max_length=40)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="memories")
    space = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="agent_memories")
    scope = models.CharField(max_length=6, choices=[(s.value, s.value) for s in Scope])
    actor = models.ForeignKey(Principal, on_delete=models.PROTECT, null=True, related_name="agent_memories")
    key = models.CharField(max_length=64, null=True)
    pinned = models.BooleanField()
    content = models.TextField(null=True, help_text="JSON text as the run sent it; null where the row is shared")
    salt = models.BinaryField(null=True, help_text="of the commitment in the journal; goes with the content")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="memories")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "agent memories"
        constraints = [
            models.CheckConstraint(
                name="agent_memory_key_grammar", condition=Q(key=None) | Q(key__regex=r"^[a-z0-9_]{1,64}$")
            ),
            models.CheckConstraint(name="agent_memory_key_is_pinned", condition=Q(key=None) | Q(pinned=True)),
            models.CheckConstraint(
                name="agent_memory_shared_has_no_actor",
                condition=Q(scope=Scope.SHARED, actor=None, content=None)
                | Q(scope=Scope.ACTOR, actor__isnull=False, content__isnull=False, salt__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["agent", "space", "actor", "key"],
                condition=Q(scope=Scope.ACTOR, key__isnull=False),
                name="agent_memory_own_slot",
            ),
            models.UniqueConstraint(
                fields=["agent", "space", "key"],
                condition=Q(scope=Scope.SHARED, key__isnull=False),
                name="agent_memory_shared_slot",
            ),
        ]
        indexes = [
            models.Index(fields=["agent", "space", "actor", "-id"], name="agent_memory_of_actor"),
            models.Index(fields=["actor"], name="agent_memory_by_actor", condition=Q(scope=Scope.ACTOR)),
        ]

    def __str__(self) -> str:
        # Never the key: it is the run's own word, and a row's name stands in pages and logs.
        kind = "slot" if self.key is not None else "memo" if self.pinned else "note"
        return f"{self.scope} {kind} {self.pk}"


class SharedWrite(models.Model):
    """One write of shared state: the artifact that carries its content through admission, and where it belongs."""

    artifact = models.OneToOneField(Artifact, on_delete=models.PROTECT, primary_key=True, related_name="shared_write")
    memory = models.ForeignKey(AgentMemory, on_delete=models.PROTECT, related_name="writes")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="shared_writes")
    is_json = models.BooleanField(help_text="whether the artifact's text is JSON rather than the string itself")

    def __str__(self) -> str:
        return f"{self.artifact_id} for {self.memory_id}"

    def about(self) -> dict[str, Any]:
        """Where it belongs, for whoever reviews it."""
        return {"agent": self.memory.agent.reference, "key": self.memory.key, "run_id": self.run_id}

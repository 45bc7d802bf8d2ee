"""Agents, their runs and what is kept, in the console: that they are there, never what they say.

What an actor keeps is private to it, an administrator's console included: no content, no key of a slot, no checkpoint,
no result. Who may read them does so on the agents' pages, by a role in the space, and is logged there.
"""

from __future__ import annotations

from django.contrib import admin

from memory.runs.models import Agent, AgentMemory, Run
from memory.runs.rules import CHECKPOINT
from oml.console.readonly import ReadOnlyAdmin


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    list_display = ("reference", "id", "tools", "created_at", "updated_at")
    search_fields = ("=id", "scope", "name")
    ordering = ("scope", "name")
    shown = ("id", "reference", "tools", "created_at", "updated_at")

    @admin.display(description="agent", ordering="name")
    def reference(self, agent: Agent) -> str:
        return agent.reference

    @admin.display(description="writes memory with")
    def tools(self, agent: Agent) -> str:
        return ", ".join(sorted(agent.runtime_tools & {"note", "pin"})) or "nothing"


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    places = ("space__path",)
    list_display = ("id", "agent", "space", "actor", "status", "started_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("agent", "space", "actor")
    search_fields = ("=id", "=actor__id", "=agent__id", "=space__id")
    ordering = ("-id",)
    shown = ("id", "agent", "space", "actor", "key", "status", "started_at", "finished_at")


@admin.register(AgentMemory)
class AgentMemoryAdmin(ReadOnlyAdmin):
    places = ("space__path",)
    list_display = ("id", "agent", "space", "scope", "actor", "what", "created_at", "updated_at")
    list_filter = ("scope", "pinned")
    list_select_related = ("agent", "space", "actor")
    search_fields = ("=id", "=actor__id", "=agent__id", "=space__id", "=run__id")
    ordering = ("-id",)
    shown = ("id", "agent", "space", "scope", "actor", "what", "run", "created_at", "updated_at")

    @admin.display(description="what")
    def what(self, row: AgentMemory) -> str:
        if row.key == CHECKPOINT:
            return "checkpoint"
        return "slot" if row.key is not None else "memo" if row.pinned else "note"

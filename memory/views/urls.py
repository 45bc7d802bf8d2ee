"""Routes of the agents' pages."""

from __future__ import annotations

from django.urls import path

from memory.views import agents

_MEMORY = "<str:scope>/<str:name>/<slug:space>/memory"

urlpatterns = [
    path("", agents.agents, name="agents"),
    path("<str:scope>/<str:name>/<slug:space>", agents.about, name="agent"),
    path(_MEMORY, agents.memory, name="agent-memory"),
    path(f"{_MEMORY}/delete", agents.delete_all, name="agent-delete-all"),
    path(f"{_MEMORY}/pinned/<str:row>/delete", agents.delete, {"kind": "pinned"}, name="agent-delete-pinned"),
    path(f"{_MEMORY}/memory/<str:row>/delete", agents.delete, {"kind": "memory"}, name="agent-delete-memory"),
]

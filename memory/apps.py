from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_save

#: Imported for what they register: errors, events, outbox handlers, ladder checks, what an erasure destroys.
REGISTERING = (
    "memory.tasks",
    "memory.claims.ban_subjects",
    "memory.claims.errors",
    "memory.claims.events",
    "memory.claims.ladder_checks",
    "memory.graph.errors",
    "memory.graph.events",
    "memory.graph.ladder_checks",
    "memory.graph.words",
    "memory.recall.events",
    "memory.records.errors",
    "memory.records.events",
    "memory.runs.errors",
    "memory.runs.events",
    "memory.runs.words",
)


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = "Memory"

    def ready(self) -> None:
        for module in REGISTERING:
            import_module(module)
        from memory.recall import index
        from memory.runs.actions.purge import purge_actor
        from workareas.actions.reassign import on_move
        from workareas.actions.removal import on_removal

        on_move(index.move)
        on_removal(purge_actor)
        post_save.connect(_home_lane, sender="workareas.Key", dispatch_uid="memory.home_lane")


def _home_lane(instance: Any, created: bool, raw: bool = False, **_: Any) -> None:
    """Every key has a home lane, made with it, whichever door issues it (design: records, Model)."""
    if created and not raw:
        from memory.records import lanes

        lanes.make_home(tenant_id=instance.tenant_id, owner_id=instance.principal_id, key_id=instance.pk)

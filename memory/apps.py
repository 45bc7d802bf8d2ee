from importlib import import_module

from django.apps import AppConfig

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
)


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = "Memory"

    def ready(self) -> None:
        for module in REGISTERING:
            import_module(module)
        from memory.recall import index
        from workareas.actions.reassign import on_move

        on_move(index.move)

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = "Memory"

    def ready(self) -> None:
        # Registration: errors, events, outbox handlers and the ladder's checks exist once the app is up.
        from memory import tasks  # noqa: F401
        from memory.claims import errors, events, ladder_checks  # noqa: F401
        from memory.graph import errors as edge_errors  # noqa: F401
        from memory.recall import index
        from workareas.actions.reassign import on_move

        on_move(index.move)

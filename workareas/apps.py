from django.apps import AppConfig


class WorkareasConfig(AppConfig):
    name = "workareas"
    verbose_name = "Who and where"

    def ready(self) -> None:
        from workareas import errors, events  # noqa: F401  (registration)

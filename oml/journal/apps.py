from django.apps import AppConfig


class JournalConfig(AppConfig):
    name = "oml.journal"
    label = "journal"
    verbose_name = "Journal"

    def ready(self) -> None:
        from oml.journal import errors, events  # noqa: F401  (registration)

from django.apps import AppConfig


class JournalConfig(AppConfig):
    name = "oml.journal"
    label = "journal"
    verbose_name = "Journal"

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "oml.jobs"
    label = "jobs"
    verbose_name = "Background work"

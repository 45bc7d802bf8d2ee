"""The console as Django apps: this one carries static files, the other replaces Django's default admin site."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin


class ConsoleConfig(AppConfig):
    """Style sheets and shared words of the pages that people see."""

    default = True
    name = "oml.console"
    label = "console"
    verbose_name = "Console"


class ConsoleAdminConfig(django_admin.AdminConfig):
    """``django.contrib.admin`` with our site as the default one."""

    default = False  # of this module; the settings name this class
    default_site = "oml.console.site.ConsoleSite"

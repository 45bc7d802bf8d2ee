"""The embedded default and a developer's machine: generated secrets, plain HTTP on the loopback address."""

from __future__ import annotations

from oml.crypto.secrets import django_secret_key, ensure_generated
from oml.settings.base import *

ensure_generated()
SECRET_KEY = django_secret_key()
DEBUG = ENVIRONMENT.debug

# Static files straight from the apps' folders: nothing to collect before the first page.
WHITENOISE_USE_FINDERS = True
STATIC_ROOT = None
STORAGES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
MEDIA_ROOT = OML_HOME / "objects"

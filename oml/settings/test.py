"""For the test suite: a throw-away cluster and secrets (oml/embedded/pytest_cluster.py), fast passwords.

Nothing here may change what the product decides; only how long it takes.
"""

from __future__ import annotations

import tempfile

from oml.crypto.secrets import django_secret_key, ensure_generated
from oml.settings.base import *

ensure_generated()
SECRET_KEY = django_secret_key()

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# A live server thread and the test share one database; persistent connections would outlive it.
DATABASES["default"] |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False}

WHITENOISE_USE_FINDERS = True
# Nothing is collected for a test run; files are found where they lie.
WHITENOISE_AUTOREFRESH = True
STORAGES: dict[str, dict[str, object]] = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": tempfile.gettempdir() + "/oml-test-objects"},
    },
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

"""Behind TLS, with secrets laid down by whoever deploys; ``check --deploy`` passes without a warning."""

from __future__ import annotations

from oml.crypto.secrets import check_all, django_secret_key
from oml.settings.base import *

check_all()
SECRET_KEY = django_secret_key()
DEBUG = False

SECURE_SSL_REDIRECT = True
# Probes come over plain HTTP from inside the cluster.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
if ENVIRONMENT.trusted_proxy:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# The prefix makes browsers refuse the cookie without TLS, with a Domain, or from a subdomain.
SESSION_COOKIE_NAME = "__Host-oml-session"
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_NAME = "__Host-oml-csrf"
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_HTTPONLY = True

STORAGES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
MEDIA_ROOT = OML_HOME / "objects"

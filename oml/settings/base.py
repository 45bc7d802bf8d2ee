"""What is the same in every stage. Stages only tighten or speed up; they never add a feature."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from oml.startup import env

BASE_DIR = Path(__file__).resolve().parents[2]
ENVIRONMENT = env.read(os.environ, root=BASE_DIR)
# Modules that need no Django (the secrets) read the same folder, whatever the working directory is.
os.environ["OML_HOME"] = str(ENVIRONMENT.home)

OML_HOME = ENVIRONMENT.home
OML_PORT = ENVIRONMENT.port
OML_REPLICAS = ENVIRONMENT.replicas
EMBED_MAX_CHUNKS = ENVIRONMENT.embed_max_chunks
OML_EMBEDDER = ENVIRONMENT.embedder
OML_CHECKPOINT_DIR = ENVIRONMENT.checkpoint_dir
OML_JOURNAL_ORIGIN = ENVIRONMENT.journal_origin

DEBUG = False
ALLOWED_HOSTS = ENVIRONMENT.allowed_hosts
CSRF_TRUSTED_ORIGINS = ENVIRONMENT.csrf_trusted_origins

INSTALLED_APPS = [
    "oml.apps.HouseConfig",
    "oml.console",
    "oml.console.apps.ConsoleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "guardian",
    "csp",
    "oml.journal",
    "oml.jobs",
    "workareas",
    "memory",
    "review",
]

MIDDLEWARE = [
    "oml.http.request_id.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "oml.urls"
WSGI_APPLICATION = "oml.wsgi.application"
# Paths are exact: a redirect would turn a POST of /v1 or /mcp into a GET, and answer before authentication.
APPEND_SLASH = False

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": ENVIRONMENT.database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "workareas.Principal"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/accounts/login/"
# No stand-in for "nobody": an unauthenticated request has no principal at all (fail closed).
GUARDIAN_USER_OBJ_PERMS_MODEL = "guardian.UserObjectPermission"
ANONYMOUS_USER_NAME = None
GUARDIAN_MONKEY_PATCH_USER = False
# Its backend would answer `user.has_perm(…, workarea)` beside the one authorizer (D7); it stays out on purpose.
SILENCED_SYSTEM_CHECKS = ["guardian.W001"]

LANGUAGE_CODE = "en-gb"
FORMAT_MODULE_PATH = "oml.console.formats"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT: Path | None = BASE_DIR / "staticfiles"

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# Nothing inline and nothing from elsewhere; data: only for the admin's and the form controls' small images.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Above the largest legal request body; parts of attachments are streamed and have their own limit.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    # Every view names its own: a face without an authentication must be seen in the face.
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "EXCEPTION_HANDLER": "oml.http.handler.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "URL_FORMAT_OVERRIDE": None,
    "STRICT_JSON": True,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "OML",
    "DESCRIPTION": "Organisational memory: held until somebody else ratifies it.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
}

CELERY_BROKER_URL = ENVIRONMENT.broker_url
# Celery prefers the variable CELERY_BROKER_URL to the setting of that name, and would read it as it stands.
CELERY_BROKER_READ_URL = CELERY_BROKER_WRITE_URL = CELERY_BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = ENVIRONMENT.broker_options
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_DEFAULT_QUEUE = "oml"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# A nudge that cannot be sent is dropped at once: the sweep finds the outbox row, the request does not wait.
CELERY_TASK_PUBLISH_RETRY = False
# An exception that the outbox takes for a failure like any other. There is no hard limit beside it: a pool whose
# process was killed in mid-message takes no further one over pgmq, and a row's own lock keeps it from being done twice.
CELERY_TASK_SOFT_TIME_LIMIT = 300
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # its reply queues do not work over pgmq; heartbeats are rows
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    name: {"task": name, "schedule": seconds, "options": {"expires": max(seconds, 10.0)}}
    for name, seconds in {
        "oml.jobs.sweep": 5.0,
        "oml.jobs.heartbeat": 10.0,
        "memory.expire_held": 60.0,
        "memory.seal_read_log": 60.0,
        "journal.checkpoint": 60.0,
        "memory.refresh_statistics": 300.0,
    }.items()
}

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"discretion": {"()": "oml.core.discretion.WithholdMessages"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        # Its messages quote SQL parameters and paths of requests; a refusal is not a log line.
        "django.request": {"level": "ERROR", "filters": ["discretion"]},
        "django.db.backends": {"level": "WARNING"},
        "celery.app.trace": {"filters": ["discretion"]},
    },
}

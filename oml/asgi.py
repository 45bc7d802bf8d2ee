"""The same application for an ASGI server; the project itself runs WSGI (docs/adr/0003)."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

application = get_asgi_application()
